"""Skim Codex rollouts: see that every call has its output, without reading what anyone says.

Texts, calls of functions and their outputs, which are most of a rollout, are looked at where they are. All other lines
are read as `reading` reads them, into a draft that keeps only their gist; so every note on the file is the same.
"""

from __future__ import annotations

from legato.formats.codex.reading import CodexReader
from legato.formats.content import Content, Item
from legato.formats.document import Document
from legato.formats.fields import as_list, as_object
from legato.formats.skimming import Gist, SkimmingDraft
from legato.model import JsonObject
from legato.model.closures import recognise_closure
from legato.wire.phrases import ERROR_MARK
from legato.wire.readback import RESULT_OPENINGS


def skim(content: Content) -> Document | None:
    """The session without its entries, if nothing is wrong with its calls; None where that is not certain."""
    draft = SkimmingDraft(content.format, content.name)
    skimmer = _Skimmer(draft)
    for item in content.lines():
        skimmer.take(item)
    return content.finish(draft)[0] if draft.keep_no_entries() else None


class _Skimmer(CodexReader):
    """Tells a draft the gist of what it reads."""

    def __init__(self, draft: SkimmingDraft) -> None:
        super().__init__(draft)
        self._tell = draft.tell

    def take(self, item: Item) -> None:
        """Look at one line."""
        record = item.value
        if record.get("type") != "response_item" or not self._is_told(as_object(record.get("payload"))):
            super().take(item)

    def _is_told(self, payload: JsonObject) -> bool:
        """Tell the gist of an item of a usual form; false, with nothing done, for anything else."""
        match payload.get("type"):
            case "message":
                gist = _said(payload)
            case "function_call":
                gist = _called(payload)
            case "function_call_output":
                gist = _returned(payload)
            case _:
                gist = None
        if gist is None:
            return False
        if gist.is_answer:
            gist.answer = self.answer_key
        else:
            self.answers += 1
        self._tell(gist)
        return True


def _said(payload: JsonObject) -> Gist | None:
    """What a person or the model says: texts that can be seen."""
    content = as_list(payload.get("content"))
    for part in map(as_object, content):
        text = part.get("text")
        if part.get("type") not in ("input_text", "output_text") or not isinstance(text, str) or not text.strip():
            return None
    if not content:
        return None
    return Gist(is_answer=True, is_visible=True) if payload.get("role") == "assistant" else Gist(has_words=True)


def _called(payload: JsonObject) -> Gist | None:
    """A call of the model itself, with its arguments as text."""
    wire_id = payload.get("call_id")
    if not isinstance(wire_id, str) or not isinstance(payload.get("arguments"), str) or "name" not in payload:
        return None
    return Gist(is_answer=True, calls=(wire_id,), is_visible=True) if "caller" not in payload else None


def _returned(payload: JsonObject) -> Gist | None:
    """A text that a tool returned, and none of ours."""
    wire_id, output = payload.get("call_id"), payload.get("output")
    if not isinstance(wire_id, str) or not isinstance(output, str):
        return None
    if output[:1] in RESULT_OPENINGS and (output.startswith(ERROR_MARK) or recognise_closure(output) is not None):
        return None
    return Gist(results=(wire_id,))
