"""The rules of generateContent, each declared once."""

from __future__ import annotations

from functools import partial

from legato.wire.rule_texts import json_rules
from legato.wire.rules import OBSERVED, WireRule, by_id, refused, risky

_OLD = "gemini/gemini-2.5-flash"
_NEW = "gemini/gemini-3-flash-preview"

_API = "https://ai.google.dev/api/caching#Content"
_CLIENT = "https://github.com/google-gemini/generative-ai-js/blob/main/src/methods/chat-session-helpers.ts"
_CALLING = "https://ai.google.dev/gemini-api/docs/function-calling"
_CLIENT_REQUESTS = "https://github.com/google-gemini/generative-ai-js/blob/main/src/requests/request-helpers.ts"
_THINKING_PAGE = "https://ai.google.dev/gemini-api/docs/thinking"
_SIGNATURES_PAGE = "https://ai.google.dev/gemini-api/docs/thought-signatures"

_UNEQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call"
    " parts of the function call turn"
)
_NO_DATA = "required oneof field 'data' must have one initialized field"

_refused = partial(refused, route=_OLD)
_risky = partial(risky, route=_OLD)

_SHAPE = (
    _refused(
        "gemini/no-contents",
        "`contents` is not empty.",
        source="vercel/ai#3775",
        error="contents is not specified",
    ),
    _refused(
        "gemini/content-form",
        "Each content is an object with `role` and `parts`.",
        source=_API,
    ),
    _refused(
        "gemini/unknown-role",
        "A content's role is `user` or `model`; instructions go to `systemInstruction`.",
        source="the-open-agent/openagent#1666",
        error="Please use a valid role: user, model",
    ),
    _risky(
        "gemini/role-missing",
        "Each content has a role; Vertex asks for it.",
        source=(_API, "gethnet/litellm-connector-copilot#64"),
    ),
    _refused(
        "gemini/no-parts",
        "Each content has at least one part.",
        source="vercel/ai#3775",
        error="contents.parts must not be empty",
    ),
    _refused(
        "gemini/part-data",
        "Each part has exactly one kind of data.",
        source="router-for-me/CLIProxyAPI#1292",
        error=_NO_DATA,
    ),
    _refused(
        "gemini/empty-text",
        "The user's text is not the empty string; empty parts are dropped, then contents that became empty. The "
        "model's may be: its streams end with such a part, and Google's client sends it back.",
        source=("router-for-me/CLIProxyAPI#1292", OBSERVED),
        error=_NO_DATA,
    ),
    _risky(
        "gemini/empty-prompt",
        "The user says something; an empty text that is all of a content was refused and was also seen accepted.",
        source=("router-for-me/CLIProxyAPI#1292", OBSERVED),
    ),
    _refused(
        "gemini/unknown-field",
        "Contents, parts, calls and responses have no fields that the API does not know.",
        source="gera2ld/ai.nvim#13",
        error="Invalid JSON payload received. Unknown name \"{field}\" at '{parent}': Cannot find field",
    ),
)

_PAIRS = (
    # Neighbouring contents of the model were also seen accepted, so they are judged as one.
    _refused(
        "gemini/call-place",
        "A content with calls follows one of the user, be it text or responses; it is never first.",
        source="google-gemini/gemini-cli#11814",
        error=(
            "Please ensure that function call turn comes immediately after a user turn or after a function "
            "response turn"
        ),
    ),
    # What Google's own client refuses to take into a chat.
    _refused(
        "gemini/part-place",
        "Calls stand in contents of the model, responses in contents of the user.",
        source=_CLIENT,
    ),
    _refused(
        "gemini/unanswered-call",
        "The very next content holds the responses to all calls.",
        source="google-gemini/gemini-cli#16415",
        error=_UNEQUAL,
    ),
    _refused(
        "gemini/response-count",
        "There are as many responses as calls, all in one content.",
        source="google-gemini/gemini-cli#16415",
        error=_UNEQUAL,
    ),
    _refused(
        "gemini/orphan-response",
        "Responses follow a content with calls directly.",
        source="langchain-ai/langchain#27799",
        error="Please ensure that function response turn comes immediately after a function call turn",
    ),
    _refused(
        "gemini/response-id",
        "Where calls and responses have ids, each response has that of its call.",
        source=_CALLING,
    ),
    _risky(
        "gemini/id-one-sided",
        "Ids stand on calls and responses, or on neither.",
        source=_CALLING,
    ),
    _refused(
        "gemini/name-missing",
        "Calls and responses name their function.",
        source="ollama/ollama#14214",
    ),
    _risky(
        "gemini/response-name",
        "A response has the name that was called.",
        source=_API,
    ),
    _refused(
        "gemini/response-form",
        "A `response` is an object; text is wrapped, for instance as `result`.",
        source=("vercel/ai#3589", "AstrBotDevs/AstrBot#7216"),
    ),
    _refused(
        "gemini/args-form",
        "The `args` of a call are an object.",
        source=_API,
    ),
    # What Google's own client refuses to send.
    _risky(
        "gemini/text-beside-responses",
        "Responses stand in a content of their own.",
        source=_CLIENT_REQUESTS,
    ),
    _refused(
        "gemini/declared-name",
        "A declared name begins with a letter or `_`, then up to 63 of `[a-zA-Z0-9_.:-]`.",
        source="Finerestaurant/kicad-mcp-python#2",
        error="Invalid function name. Must start with a letter or an underscore",
    ),
    _refused(
        "gemini/duplicate-declaration",
        "No name is declared twice.",
        source="rikkahub/rikkahub#1311",
        error="Duplicate function declaration found: {value}",
    ),
    # Vertex and Gemini 3 let it pass (pydantic/pydantic-ai#5791).
    _refused(
        "gemini/config-without-functions",
        "A function calling config is sent with declarations only.",
        source="pydantic/pydantic-ai#5791",
        error="Function calling config is set without function_declarations",
    ),
)

_SIGNATURES = (
    # The placeholder is `skip_thought_signature_validator`, on the same page.
    _refused(
        "gemini/signature-missing",
        "From Gemini 3 on, the first call of each answer in the current turn carries its "
        "`thoughtSignature`; for calls that Gemini did not make there is a placeholder. The other "
        "parallel calls need none.",
        source=_SIGNATURES_PAGE,
        error="Function call is missing a thought_signature in functionCall parts",
        route=_NEW,
    ),
    _refused(
        "gemini/signature-form",
        "A signature is base64, unchanged, in the part it came with.",
        source="crmne/ruby_llm#521",
        error="Base64 decoding failed for thought_signature",
    ),
)

_LEVELS = (
    _refused(
        "gemini/thinking-level",
        "`thinkingLevel` is minimal, low, medium or high, in small or capital letters.",
        source=_THINKING_PAGE,
        route=_NEW,
    ),
    _risky(
        "gemini/thinking-level-of-model",
        "`thinkingLevel` is one that the model knows: the first Gemini 3 Pro has low and high only.",
        source=(_THINKING_PAGE, "enricoros/big-AGI#893"),
        route="gemini/gemini-3-pro-preview",
    ),
)

_ENDING = (
    _risky(
        "gemini/first-content",
        "The first content is from the user.",
        source=_CLIENT,
    ),
    _refused(
        "gemini/ends-on-answer",
        "The last content is from the user; models up to 3.1 take a final one of the model as a prefix.",
        source="pipecat-ai/pipecat#5821",
        error="Requests ending with a model turn are not supported",
        route="gemini/gemini-3.6-flash",
    ),
    _refused(
        "gemini/lone-answer",
        "A content of the model does not stand alone.",
        source="pipecat-ai/pipecat#5821",
    ),
)

RULES: dict[str, WireRule] = by_id(*json_rules(_OLD), *_SHAPE, *_PAIRS, *_SIGNATURES, *_LEVELS, *_ENDING)
