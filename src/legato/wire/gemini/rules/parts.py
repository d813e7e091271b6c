"""Judge the contents of a Gemini body one by one, and gather what pairing needs to know about them.

In:  one element of `contents`, in camelCase or in snake_case: the API takes both, even mixed.
Out: findings about the content and its parts, and a `JudgedContent` with its calls and responses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from legato.model import Json, JsonObject
from legato.wire.gemini.rules.sources import API, CLIENT
from legato.wire.judging import Findings, brief, is_list, is_object
from legato.wire.rules import OBSERVED, refused, risky

_NO_DATA = "required oneof field 'data' must have one initialized field"

CONTENT_FORM = refused(
    "gemini/content-form",
    "Each content is an object with `role` and `parts`.",
    source=API,
)
UNKNOWN_ROLE = refused(
    "gemini/unknown-role",
    "A content's role is `user` or `model`; instructions go to `systemInstruction`.",
    source="the-open-agent/openagent#1666",
    error="Please use a valid role: user, model",
)
ROLE_MISSING = risky(
    "gemini/role-missing",
    "Each content has a role; Vertex asks for it.",
    source=(API, "gethnet/litellm-connector-copilot#64"),
)
NO_PARTS = refused(
    "gemini/no-parts",
    "Each content has at least one part.",
    source="vercel/ai#3775",
    error="contents.parts must not be empty",
)
PART_DATA = refused(
    "gemini/part-data",
    "Each part has exactly one kind of data.",
    source="router-for-me/CLIProxyAPI#1292",
    error=_NO_DATA,
)
EMPTY_TEXT = refused(
    "gemini/empty-text",
    "The user's text is not the empty string; empty parts are dropped, then contents that became empty. The "
    "model's may be: its streams end with such a part, and Google's client sends it back.",
    source=("router-for-me/CLIProxyAPI#1292", OBSERVED),
    error=_NO_DATA,
)
EMPTY_PROMPT = risky(
    "gemini/empty-prompt",
    "The user says something; an empty text that is all of a content was refused and was also seen accepted.",
    source=("router-for-me/CLIProxyAPI#1292", OBSERVED),
)
UNKNOWN_FIELD = refused(
    "gemini/unknown-field",
    "Contents, parts, calls and responses have no fields that the API does not know.",
    source="gera2ld/ai.nvim#13",
    error="Invalid JSON payload received. Unknown name \"{field}\" at '{parent}': Cannot find field",
)
# What Google's own client refuses to take into a chat.
PART_PLACE = refused(
    "gemini/part-place",
    "Calls stand in contents of the model, responses in contents of the user.",
    source=CLIENT,
)
NAME_MISSING = refused(
    "gemini/name-missing",
    "Calls and responses name their function.",
    source="ollama/ollama#14214",
)
RESPONSE_FORM = refused(
    "gemini/response-form",
    "A `response` is an object; text is wrapped, for instance as `result`.",
    source=("vercel/ai#3589", "AstrBotDevs/AstrBot#7216"),
)
ARGS_FORM = refused(
    "gemini/args-form",
    "The `args` of a call are an object.",
    source=API,
)
SIGNATURE_FORM = refused(
    "gemini/signature-form",
    "A signature is base64, unchanged, in the part it came with.",
    source="crmne/ruby_llm#521",
    error="Base64 decoding failed for thought_signature",
)


@dataclass(slots=True)
class JudgedCall:
    """A function call, or the response to one."""

    path: str
    id: str
    name: str
    is_signed: bool = False


class JudgedContent:
    """One content as pairing sees it. A missing role counts as the user's."""

    __slots__ = ("calls", "has_others", "path", "responses", "role")

    def __init__(self, path: str, role: str) -> None:
        self.path = path
        self.role = role
        self.calls: list[JudgedCall] = []
        self.responses: list[JudgedCall] = []
        self.has_others = False


def _both(*names: str) -> dict[str, str]:
    """Each name in both spellings, to its camelCase one."""
    return {spelling: name for name in names for spelling in (name, snake(name))}


def snake(name: str) -> str:
    """The snake_case spelling of a camelCase name."""
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def pick(value: JsonObject, name: str) -> Json:
    """The field `name` in either spelling."""
    found = value.get(name)
    return value.get(snake(name)) if found is None else found


_DATA = _both(
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
_SIGNATURES = _both("thoughtSignature")
_BESIDE = _both(
    "thought",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "audioTranscription",
    "mediaProcessing",
    "speechMetadata",
)
_CONTENT_FIELDS = frozenset({"role", "parts"})
_CALL_FIELDS = frozenset(_both("id", "name", "args", "partialArgs", "willContinue"))
_RESPONSE_FIELDS = frozenset(_both("id", "name", "response", "parts", "willContinue", "scheduling"))
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


class PartJudge:
    """Judges contents and their parts."""

    def __init__(self, found: Findings) -> None:
        self._found = found

    def content(self, path: str, content: Json) -> JudgedContent | None:
        """Judge the content at `path`; None if it is none."""
        found = self._found
        if not is_object(content):
            found.report(CONTENT_FORM, path, "a content is an object with `role` and `parts`")
            return None
        for name in content:
            if name not in _CONTENT_FIELDS:
                self._refuse_field(path, name)
        role, parts = content.get("role"), content.get("parts")
        if role is None:
            found.report(ROLE_MISSING, path, "not every endpoint takes a content without a role")
            role = "user"
        elif not isinstance(role, str) or role not in ("user", "model"):
            found.report(UNKNOWN_ROLE, f"{path}.role", f"there is no role {brief(role)}, only user and model")
            role = "user"
        read = JudgedContent(path, role)
        if is_object(parts):
            parts = [parts]  # one object is read as an array of one
        if not is_list(parts) or not parts:
            found.report(NO_PARTS, path, "a content has at least one part")
            return read
        is_alone = len(parts) == 1
        for index, part in enumerate(parts):
            self._part(f"{path}.parts[{index}]", part, read, is_alone=is_alone)
        return read

    def _part(self, path: str, part: Json, into: JudgedContent, *, is_alone: bool) -> None:
        found = self._found
        if not is_object(part):
            found.report(PART_DATA, path, "a part is an object")
            return
        kinds: list[str] = []
        value: Json = None
        signature: Json = None
        for name, item in part.items():
            if (kind := _DATA.get(name)) is not None:
                if item is not None:
                    kinds.append(kind)
                    value = item
            elif name in _SIGNATURES:
                signature = item
            elif name not in _BESIDE:
                self._refuse_field(path, name)
        if signature:
            self._signature(path, signature)
        if len(kinds) != 1:
            found.report(PART_DATA, path, f"a part holds one kind of data, not {len(kinds)}")
        elif kinds[0] == "functionCall":
            self._call(path, value, into, is_signed=bool(signature))
        elif kinds[0] == "functionResponse":
            self._response(path, value, into)
        else:
            into.has_others = True
            # The model's own streams end with an empty text, which Google's client sends back like any other part.
            if value == "" and kinds[0] == "text" and not signature and into.role != "model":
                self._empty_text(path, is_alone=is_alone)

    def _empty_text(self, path: str, *, is_alone: bool) -> None:
        if is_alone:
            # Seen accepted where it was all that the user said.
            self._found.report(EMPTY_PROMPT, path, "the user says nothing")
        else:
            self._found.report(EMPTY_TEXT, path, "text may not be empty; drop the part")

    def _call(self, path: str, value: Json, into: JudgedContent, *, is_signed: bool) -> None:
        if into.role != "model":
            self._found.report(PART_PLACE, path, "calls stand in contents of the model")
        if not is_object(value):
            self._found.report(ARGS_FORM, path, "a function call is an object")
            return
        for name in value:
            if name not in _CALL_FIELDS:
                self._refuse_field(f"{path}.functionCall", name)
        args = value.get("args")
        if args is not None and not is_object(args):
            self._found.report(ARGS_FORM, f"{path}.functionCall.args", "args are an object")
        into.calls.append(JudgedCall(path, _text(value.get("id")), self._name(path, value), is_signed))

    def _response(self, path: str, value: Json, into: JudgedContent) -> None:
        if into.role != "user":
            self._found.report(PART_PLACE, path, "responses stand in contents of the user")
        if not is_object(value):
            self._found.report(RESPONSE_FORM, path, "a function response is an object")
            return
        for name in value:
            if name not in _RESPONSE_FIELDS:
                self._refuse_field(f"{path}.functionResponse", name)
        if not is_object(value.get("response")):
            self._found.report(
                RESPONSE_FORM, f"{path}.functionResponse.response", "wrap what is no object: {'result': …}"
            )
        into.responses.append(JudgedCall(path, _text(value.get("id")), self._name(path, value)))

    def _name(self, path: str, value: JsonObject) -> str:
        name = value.get("name")
        if not isinstance(name, str) or not name:
            self._found.report(NAME_MISSING, path, "calls and responses name their function")
            return ""
        return name

    def _signature(self, path: str, signature: Json) -> None:
        if (
            not isinstance(signature, str)
            or not _BASE64.fullmatch(signature)
            or len(signature.rstrip("=")) % 4 == 1  # no number of bytes has such a length
        ):
            self._found.report(SIGNATURE_FORM, f"{path}.thoughtSignature", "a signature is base64, unchanged")

    def _refuse_field(self, path: str, name: str) -> None:
        self._found.report(UNKNOWN_FIELD, f"{path}.{name}", f"there is no field {brief(name)} here")


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
