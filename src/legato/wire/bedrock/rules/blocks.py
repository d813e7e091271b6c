"""Judge the blocks of a Converse body one by one: what each must hold, and in whose messages it may be."""

from __future__ import annotations

import re
from typing import Any

from legato.model import Json, JsonObject
from legato.wire.bedrock.rules.sources import BLOCK, DOCUMENT, RESULT, SPEC, TOOL_USE, invalid
from legato.wire.judging import Findings, Grown, brief, is_list, is_object, shrink
from legato.wire.judging_pairs import Pairing
from legato.wire.rules import OBSERVED, risky

BLOCK_FORM = invalid("bedrock/block-form", "A block is an object with exactly one member.", source=BLOCK)
BLOCK_PLACE = invalid(
    "bedrock/block-place",
    "Calls and reasoning are the model's; results and attachments are the user's.",
    source=BLOCK,
)
BLANK_TEXT = invalid(
    "bedrock/blank-text",
    "A text holds something other than whitespace.",
    source="OpenHands/OpenHands#5339",
    error=("The text field in the ContentBlock object at {path} is blank. Add text to the text field, and try again."),
)
ID_FORM = invalid(
    "bedrock/id-form",
    "A `toolUseId` is 1 to 64 of `[a-zA-Z0-9_.:-]`.",
    source=(TOOL_USE, OBSERVED),
    error=(
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must satisfy regular "
        "expression pattern: [a-zA-Z0-9_-]+"
    ),
)
ID_HABIT = risky(
    "bedrock/id-habit",
    "A `toolUseId` begins with `tooluse_`, and holds neither `.` nor `:`, which older models do not take.",
    source=(TOOL_USE, OBSERVED),
)
NAME_FORM = invalid("bedrock/name-form", "The name of a tool is 1 to 64 of `[a-zA-Z0-9_-]`.", source=SPEC)
INPUT_FORM = invalid(
    "bedrock/input-form",
    "The input of a call is an object.",
    source=TOOL_USE,
    error="The format of the value at {path} is invalid. Provide a json object for the field and try again.",
)
RESULT_CONTENT = invalid(
    "bedrock/result-content",
    "The content of a result is an array with at least one block of text, JSON, an image or a document.",
    source=RESULT,
)
RESULT_JSON = invalid(
    "bedrock/result-json",
    "`json` in a result is an object; lists and scalars are sent as text.",
    source="sigoden/aichat#1542",
    error="The format of the value at {path} is invalid. Provide a json object for the field and try again.",
)
RESULT_VIDEO = invalid(
    "bedrock/result-video",
    "A video does not come inside a result.",
    source=OBSERVED,
    error="Malformed input request: #/messages/{index}/content/0: extraneous key [toolResult] is not permitted",
    route="bedrock/us.amazon.nova-2-lite-v1:0",
)
REASONING_UNSIGNED = invalid(
    "bedrock/reasoning-unsigned",
    "Reasoning goes back with its signature, or as the provider hid it.",
    source="anomalyco/opencode#3077",
)
MEDIA_FORM = invalid("bedrock/media-form", "An attachment has a `format` and a `source` with one member.", source=BLOCK)
S3_LOCATION = invalid(
    "bedrock/s3-location",
    "Only some models (Nova) read images from S3; documents are read from there by more of them.",
    source=OBSERVED,
    error="This model doesn't support the s3Uri field. Remove s3Uri and try again.",
)
DOCUMENT_NAME = invalid(
    "bedrock/document-name",
    "The name of a document is made of letters, digits, single spaces, hyphens and brackets.",
    source=DOCUMENT,
    error=(
        "The provided document name is invalid. The document name can only contain alphanumeric characters, "
        "whitespace characters, hyphens, parentheses, and square brackets."
    ),
)
DUPLICATE_DOCUMENT = invalid(
    "bedrock/duplicate-document",
    "No two documents of a request share a name.",
    source="maximhq/bifrost#7003",
    error="Messages can't contain duplicate document names. Rename the document and retry your request.",
)

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
            self._found.report(BLOCK_FORM, path, "a block is an object with one member")
            return ""
        [(kind, held)] = block.items()
        if (kind in _OF_ASSISTANT and role != "assistant") or (kind in _OF_USER and role == "assistant"):
            if not _is_hosted(kind, held):
                self._found.report(BLOCK_PLACE, path, f"a {kind} block cannot be in a message of the {role}")
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
            self._found.report(BLANK_TEXT, path, "a text holds something other than whitespace")

    def _call(self, path: str, call: Json) -> None:
        if not is_object(call):
            self._found.report(BLOCK_FORM, path, "a call is an object")
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
                self._found.report(ID_HABIT, f"{path}.toolUseId", told)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            self._found.report(NAME_FORM, f"{path}.name", f"{brief(name)} is no name for a tool")
        if not is_object(call.get("input")):
            self._found.report(INPUT_FORM, f"{path}.input", "the input of a call is an object")

    def _result(self, path: str, result: Json) -> None:
        if not is_object(result):
            self._found.report(BLOCK_FORM, path, "a result is an object")
            return
        self.uses_tools = True
        call_id, content = result.get("toolUseId"), result.get("content")
        self._examine_id(path, call_id)
        if isinstance(call_id, str):
            self._pairing.result(call_id, path)
        if not is_list(content) or not content:
            self._found.report(RESULT_CONTENT, f"{path}.content", "it is an array with at least one block")
            return
        for index, part in enumerate(content):
            self._result_part(f"{path}.content[{index}]", part)

    def _result_part(self, path: str, part: Json) -> None:
        kind = next(iter(part), "") if is_object(part) and len(part) == 1 else ""
        if not is_object(part) or kind not in _RESULT_PARTS:
            self._found.report(RESULT_CONTENT, path, f"{brief(kind)} is no block for a result")
        elif kind == "text":
            self._text(path, part["text"])
        elif kind == "json" and not is_object(part["json"]):
            self._found.report(RESULT_JSON, path, "`json` is an object; lists and scalars are sent as text")
        elif kind == "video":
            self._found.report(RESULT_VIDEO, path, "a video does not stand inside a result")
        elif kind in _MEDIA:
            self._media(f"{path}.{kind}", kind, part[kind])

    def _examine_id(self, path: str, call_id: Json) -> None:
        if not isinstance(call_id, str) or not _ID.fullmatch(call_id):
            self._found.report(ID_FORM, f"{path}.toolUseId", f"{brief(call_id)} is not 1 to 64 of `[a-zA-Z0-9_.:-]`")

    def _thought(self, path: str, thought: Json) -> None:
        said = thought.get("reasoningText") if is_object(thought) else None
        hidden = thought.get("redactedContent") if is_object(thought) else None
        is_signed = is_object(said) and isinstance(said.get("text"), str) and bool(said.get("signature"))
        if not is_signed and not (isinstance(hidden, str) and hidden):
            self._found.report(REASONING_UNSIGNED, path, "reasoning keeps its text and its signature")

    def _media(self, path: str, kind: str, media: Json) -> None:
        source = media.get("source") if is_object(media) else None
        if not is_object(media) or not is_object(source) or len(source) != 1:
            self._found.report(MEDIA_FORM, path, "it holds a `format` and a `source` with one member")
            return
        if "s3Location" in source and kind != "document" and not self._videos:
            self._found.report(S3_LOCATION, f"{path}.source.s3Location", "this model takes images as data only")
        if kind == "document":
            self._document(path, media)

    def _document(self, path: str, document: JsonObject) -> None:
        name = document.get("name")
        if not isinstance(name, str) or not _DOCUMENT_NAME.fullmatch(name):
            self._found.report(DOCUMENT_NAME, f"{path}.name", f"{brief(name)} is no name for a document")
        elif name in self._documents:
            self._found.report(DUPLICATE_DOCUMENT, f"{path}.name", f"two documents are named {brief(name)}")
        else:
            self._documents[name] = None


def _is_hosted(kind: str, held: Json) -> bool:
    """Whether it is what a tool of the service gave, which is in the answer."""
    return kind == "toolResult" and is_object(held) and isinstance(held.get("type"), str)
