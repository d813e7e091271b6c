"""Judge the blocks of a Converse body one by one: what each must hold, and in whose messages it may stand."""

from __future__ import annotations

import re
from typing import Any

from legato.model import Json, JsonObject
from legato.wire.judging import Findings, Grown, Pairing, brief, is_list, is_object, shrink

_OF_ASSISTANT = frozenset({"toolUse", "reasoningContent", "citationsContent"})
_OF_USER = frozenset({"toolResult", "image", "document", "video", "guardContent", "searchResult"})
_RESULT_PARTS = frozenset({"text", "json", "image", "document", "video", "searchResult"})
_MEDIA = frozenset({"image", "document", "video"})
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_HABIT = re.compile(r"tooluse_[a-zA-Z0-9_-]{1,56}")
_DOCUMENT_NAME = re.compile(r"(?!.*\s\s)[a-zA-Z0-9\s()\[\]-]{1,200}")


class BlockJudge:
    """Judges blocks; tells `pairing` about calls and results, and counts cache marks."""

    def __init__(self, pairing: Pairing, found: Findings, *, videos: bool) -> None:
        self._pairing = pairing
        self._found = found
        self._videos = videos
        self._documents: Grown = {}
        """the names of documents so far"""
        self.marks = 0
        self.uses_tools = False

    def save(self) -> Any:
        """The state, for `restore`."""
        return len(self._documents), self.marks, self.uses_tools

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        documents, self.marks, self.uses_tools = saved
        shrink(self._documents, documents)

    def block(self, path: str, role: str, block: Json) -> str:
        """Judge the block at `path`; its kind, or an empty string if it has none."""
        if not is_object(block) or len(block) != 1:
            self._found.refuse("bedrock/block-form", path, "a block is an object with one member")
            return ""
        [(kind, held)] = block.items()
        if (kind in _OF_ASSISTANT and role != "assistant") or (kind in _OF_USER and role == "assistant"):
            if not _is_hosted(kind, held):
                self._found.refuse("bedrock/block-place", path, f"a {kind} block cannot be in a message of the {role}")
            return kind
        match kind:
            case "text":
                self._text(path, held)
            case "toolUse":
                self._call(f"{path}.toolUse", held)
            case "toolResult":
                self._result(f"{path}.toolResult", held)
            case "reasoningContent":
                self._thought(path, held)
            case "cachePoint":
                self.marks += 1
            case "image" | "document" | "video":
                self._media(f"{path}.{kind}", kind, held)
            case _:
                pass
        return kind

    def _text(self, path: str, text: Json) -> None:
        if not isinstance(text, str) or not text or text.isspace():
            self._found.refuse("bedrock/blank-text", path, "a text holds something other than whitespace")

    def _call(self, path: str, call: Json) -> None:
        if not is_object(call):
            self._found.refuse("bedrock/block-form", path, "a call is an object")
            return
        if call.get("type") == "server_tool_use":
            return
        self.uses_tools = True
        call_id, name = call.get("toolUseId"), call.get("name")
        self._examine_id(path, call_id)
        if isinstance(call_id, str):
            self._pairing.call(call_id, path)
            if not _HABIT.fullmatch(call_id):
                told = f"{brief(call_id)} is not `tooluse_` and letters, digits, `_` or `-`"
                self._found.risk("bedrock/id-habit", f"{path}.toolUseId", told)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            self._found.refuse("bedrock/name-form", f"{path}.name", f"{brief(name)} is no name for a tool")
        if not is_object(call.get("input")):
            self._found.refuse("bedrock/input-form", f"{path}.input", "the input of a call is an object")

    def _result(self, path: str, result: Json) -> None:
        if not is_object(result):
            self._found.refuse("bedrock/block-form", path, "a result is an object")
            return
        self.uses_tools = True
        call_id, content = result.get("toolUseId"), result.get("content")
        self._examine_id(path, call_id)
        if isinstance(call_id, str):
            self._pairing.result(call_id, path)
        if not is_list(content) or not content:
            self._found.refuse("bedrock/result-content", f"{path}.content", "it is an array with at least one block")
            return
        for index, part in enumerate(content):
            self._result_part(f"{path}.content[{index}]", part)

    def _result_part(self, path: str, part: Json) -> None:
        kind = next(iter(part), "") if is_object(part) and len(part) == 1 else ""
        if not is_object(part) or kind not in _RESULT_PARTS:
            self._found.refuse("bedrock/result-content", path, f"{brief(kind)} is no block for a result")
        elif kind == "text":
            self._text(path, part["text"])
        elif kind == "json" and not is_object(part["json"]):
            self._found.refuse("bedrock/result-json", path, "`json` is an object; lists and scalars are sent as text")
        elif kind == "video":
            self._found.refuse("bedrock/result-video", path, "a video does not stand inside a result")
        elif kind in _MEDIA:
            self._media(f"{path}.{kind}", kind, part[kind])

    def _examine_id(self, path: str, call_id: Json) -> None:
        if not isinstance(call_id, str) or not _ID.fullmatch(call_id):
            self._found.refuse(
                "bedrock/id-form", f"{path}.toolUseId", f"{brief(call_id)} is not 1 to 64 of `[a-zA-Z0-9_.:-]`"
            )

    def _thought(self, path: str, thought: Json) -> None:
        said = thought.get("reasoningText") if is_object(thought) else None
        hidden = thought.get("redactedContent") if is_object(thought) else None
        is_signed = is_object(said) and isinstance(said.get("text"), str) and bool(said.get("signature"))
        if not is_signed and not (isinstance(hidden, str) and hidden):
            self._found.refuse("bedrock/reasoning-unsigned", path, "reasoning keeps its text and its signature")

    def _media(self, path: str, kind: str, media: Json) -> None:
        source = media.get("source") if is_object(media) else None
        if not is_object(media) or not is_object(source) or len(source) != 1:
            self._found.refuse("bedrock/media-form", path, "it holds a `format` and a `source` with one member")
            return
        if "s3Location" in source and kind != "document" and not self._videos:
            self._found.refuse(
                "bedrock/s3-location", f"{path}.source.s3Location", "this model takes images as data only"
            )
        if kind == "document":
            self._document(path, media)

    def _document(self, path: str, document: JsonObject) -> None:
        name = document.get("name")
        if not isinstance(name, str) or not _DOCUMENT_NAME.fullmatch(name):
            self._found.refuse("bedrock/document-name", f"{path}.name", f"{brief(name)} is no name for a document")
        elif name in self._documents:
            self._found.refuse("bedrock/duplicate-document", f"{path}.name", f"two documents are named {brief(name)}")
        else:
            self._documents[name] = None


def _is_hosted(kind: str, held: Json) -> bool:
    """Whether it is what a tool of the service gave, which stands in the answer."""
    return kind == "toolResult" and is_object(held) and isinstance(held.get("type"), str)
