"""Judge the order of contents: calls, their responses right after, signatures in the current turn, the end.

Neighbouring contents of the model count as one. Responses have to stand all in the one content after the calls.
"""

from __future__ import annotations

from typing import Any

from legato.model import Capabilities, Json, JsonObject
from legato.wire.gemini.rules.parts import JudgedCall, JudgedContent, PartJudge
from legato.wire.judging import Findings, brief


class OrderJudge:
    """Reads the contents in order; `end` comes after the last one."""

    def __init__(self, capabilities: Capabilities, found: Findings) -> None:
        self._capabilities = capabilities
        self._found = found
        self._parts = PartJudge(found)
        self._count = 0
        self._open: list[JudgedCall] = []
        self._before: JudgedContent | None = None
        self._is_first_turn = True
        """whether nothing of the user came before"""
        self._unsigned: list[str] = []
        """first calls without a signature in what may be the current turn; it only grows, and a new one begins"""

    def save(self) -> Any:
        """The state, for `restore`."""
        return (
            (self._count, self._before, self._is_first_turn),
            self._open[:],
            (self._unsigned, len(self._unsigned)),
        )

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        (self._count, self._before, self._is_first_turn), waiting, (self._unsigned, unsigned) = saved
        self._open = waiting[:]
        del self._unsigned[unsigned:]

    def message(self, index: int, message: Json) -> None:
        """Judge the content at `index`."""
        self._count = index + 1
        content = self._parts.content(f"contents[{index}]", message)
        if content is None:
            return
        if content.role == "model":
            self._take_answer(content)
        else:
            self._take_human(content)
        self._before = content

    def end(self, fields: JsonObject) -> None:
        """Judge what is left open, and the last content."""
        self._refuse_open()
        if self._capabilities.call_signatures:
            for path in self._unsigned:
                self._found.refuse(
                    "gemini/signature-missing", path, "the first call of an answer in this turn carries its signature"
                )
        last = self._before
        if last is None or last.role != "model":
            return
        if self._count == 1:
            self._found.refuse("gemini/lone-answer", last.path, "a content of the model cannot stand alone")
        elif not self._capabilities.prefill:
            self._found.refuse("gemini/ends-on-answer", last.path, "the last content is from the user")

    def _take_answer(self, content: JudgedContent) -> None:
        if self._before is None:
            self._found.risk("gemini/first-content", content.path, "the first content should be from the user")
        if not content.calls:
            return
        if self._is_first_turn:
            self._found.refuse("gemini/call-place", content.path, "a call follows a content of the user")
        if not self._open and not content.calls[0].is_signed:
            self._unsigned.append(content.calls[0].path)
        self._open += content.calls

    def _take_human(self, content: JudgedContent) -> None:
        self._is_first_turn = False
        if content.has_others:
            self._unsigned = []
            if content.responses:
                self._found.risk(
                    "gemini/text-beside-responses", content.path, "responses should stand in a content of their own"
                )
        if not content.responses:
            self._refuse_open()
        elif not self._open:
            self._found.refuse("gemini/orphan-response", content.path, "there are no calls right before the responses")
        else:
            if len(content.responses) != len(self._open):
                self._found.refuse(
                    "gemini/response-count",
                    content.path,
                    f"{len(content.responses)} responses to {len(self._open)} calls",
                )
            self._match(content.responses)
        self._open = []

    def _match(self, responses: list[JudgedCall]) -> None:
        """Whether each response is that of a call, by id where ids are used."""
        found = self._found
        by_id = {call.id: call for call in self._open if call.id}
        called = {call.name for call in self._open}
        uses_ids = bool(by_id)
        for response in responses:
            expected = called
            if bool(response.id) != uses_ids:
                found.risk("gemini/id-one-sided", response.path, "ids stand on calls and responses, or on neither")
            elif uses_ids:
                call = by_id.pop(response.id, None)
                if call is None:
                    found.refuse("gemini/response-id", response.path, f"{brief(response.id)} is the id of no open call")
                    continue
                expected = {call.name}
            if response.name not in expected:
                found.risk("gemini/response-name", response.path, f"{brief(response.name)} is not what was called")

    def _refuse_open(self) -> None:
        for call in self._open:
            self._found.refuse(
                "gemini/unanswered-call", call.path, f"the next content holds no response to {brief(call.name)}"
            )
        self._open = []
