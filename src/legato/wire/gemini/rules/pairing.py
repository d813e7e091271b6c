"""Judge the order of contents: calls, their responses right after, signatures in the current turn, the end.

Neighbouring contents of the model count as one. Responses have to be all in the one content after the calls.
"""

from __future__ import annotations

from typing import Any

from legato.model import Capabilities, Json, JsonObject
from legato.wire.gemini.rules.parts import JudgedCall, JudgedContent, PartJudge
from legato.wire.gemini.rules.sources import API, CLIENT, GEMINI_3
from legato.wire.judging import Findings, brief
from legato.wire.rules import refused, risky

_CALLING = "https://ai.google.dev/gemini-api/docs/function-calling"
_CLIENT_REQUESTS = "https://github.com/google-gemini/generative-ai-js/blob/main/src/requests/request-helpers.ts"
_SIGNATURES_PAGE = "https://ai.google.dev/gemini-api/docs/thought-signatures"
_UNEQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call"
    " parts of the function call turn"
)

# Neighbouring contents of the model were also seen accepted, so they are judged as one.
CALL_PLACE = refused(
    "gemini/call-place",
    "A content with calls follows one of the user, be it text or responses; it is never first.",
    source="google-gemini/gemini-cli#11814",
    error=(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn"
    ),
)
UNANSWERED_CALL = refused(
    "gemini/unanswered-call",
    "The very next content holds the responses to all calls.",
    source="google-gemini/gemini-cli#16415",
    error=_UNEQUAL,
)
RESPONSE_COUNT = refused(
    "gemini/response-count",
    "There are as many responses as calls, all in one content.",
    source="google-gemini/gemini-cli#16415",
    error=_UNEQUAL,
)
ORPHAN_RESPONSE = refused(
    "gemini/orphan-response",
    "Responses follow a content with calls directly.",
    source="langchain-ai/langchain#27799",
    error="Please ensure that function response turn comes immediately after a function call turn",
)
RESPONSE_ID = refused(
    "gemini/response-id",
    "Where calls and responses have ids, each response has that of its call.",
    source=_CALLING,
)
ID_ONE_SIDED = risky(
    "gemini/id-one-sided",
    "Ids stand on calls and responses, or on neither.",
    source=_CALLING,
)
RESPONSE_NAME = risky(
    "gemini/response-name",
    "A response has the name that was called.",
    source=API,
)
# What Google's own client refuses to send.
TEXT_BESIDE_RESPONSES = risky(
    "gemini/text-beside-responses",
    "Responses stand in a content of their own.",
    source=_CLIENT_REQUESTS,
)
# The placeholder is `skip_thought_signature_validator`, on the same page.
SIGNATURE_MISSING = refused(
    "gemini/signature-missing",
    "From Gemini 3 on, the first call of each answer in the current turn carries its "
    "`thoughtSignature`; for calls that Gemini did not make there is a placeholder. The other "
    "parallel calls need none.",
    source=_SIGNATURES_PAGE,
    error="Function call is missing a thought_signature in functionCall parts",
    route=GEMINI_3,
)
FIRST_CONTENT = risky(
    "gemini/first-content",
    "The first content is from the user.",
    source=CLIENT,
)
ENDS_ON_ANSWER = refused(
    "gemini/ends-on-answer",
    "The last content is from the user; models up to 3.1 take a final one of the model as a prefix.",
    source="pipecat-ai/pipecat#5821",
    error="Requests ending with a model turn are not supported",
    route="gemini/gemini-3.6-flash",
)
LONE_ANSWER = refused(
    "gemini/lone-answer",
    "A content of the model does not stand alone.",
    source="pipecat-ai/pipecat#5821",
)


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
                self._found.report(
                    SIGNATURE_MISSING, path, "the first call of an answer in this turn carries its signature"
                )
        last = self._before
        if last is None or last.role != "model":
            return
        if self._count == 1:
            self._found.report(LONE_ANSWER, last.path, "a content of the model cannot stand alone")
        elif not self._capabilities.prefill:
            self._found.report(ENDS_ON_ANSWER, last.path, "the last content is from the user")

    def _take_answer(self, content: JudgedContent) -> None:
        if self._before is None:
            self._found.report(FIRST_CONTENT, content.path, "the first content should be from the user")
        if not content.calls:
            return
        if self._is_first_turn:
            self._found.report(CALL_PLACE, content.path, "a call follows a content of the user")
        if not self._open and not content.calls[0].is_signed:
            self._unsigned.append(content.calls[0].path)
        self._open += content.calls

    def _take_human(self, content: JudgedContent) -> None:
        self._is_first_turn = False
        if content.has_others:
            self._unsigned = []
            if content.responses:
                self._found.report(
                    TEXT_BESIDE_RESPONSES, content.path, "responses should stand in a content of their own"
                )
        if not content.responses:
            self._refuse_open()
        elif not self._open:
            self._found.report(ORPHAN_RESPONSE, content.path, "there are no calls right before the responses")
        else:
            if len(content.responses) != len(self._open):
                self._found.report(
                    RESPONSE_COUNT,
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
                found.report(ID_ONE_SIDED, response.path, "ids stand on calls and responses, or on neither")
            elif uses_ids:
                call = by_id.pop(response.id, None)
                if call is None:
                    found.report(RESPONSE_ID, response.path, f"{brief(response.id)} is the id of no open call")
                    continue
                expected = {call.name}
            if response.name not in expected:
                found.report(RESPONSE_NAME, response.path, f"{brief(response.name)} is not what was called")

    def _refuse_open(self) -> None:
        for call in self._open:
            self._found.report(UNANSWERED_CALL, call.path, f"the next content holds no response to {brief(call.name)}")
        self._open = []
