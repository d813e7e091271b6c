"""The rules of Chat Completions, each declared once; those of a particular host are in its file in `wire.hosts`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from legato.wire.hosts.mistral import VALIDATOR
from legato.wire.openai_chat.rule_texts_of_hosts import STRICT_RULES, RulesWithHosts, WordsOfHosts
from legato.wire.rule_texts import json_rules
from legato.wire.rules import RESULT_OF_NO_CALL, RESULT_WITHOUT_CALLS, SECOND_RESULT, WireRule, by_id, refused, risky

_GPT = "openai/gpt-4o"
_THINKING_GPT = "openai/gpt-5.1"
_STRICT = "strict/some-model"

_API = "https://platform.openai.com/docs/api-reference/chat/create"

_NO_RESULT = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
)
_UNANSWERED = _NO_RESULT + ". The following tool_call_ids did not have response messages: {id}"
_EMPTY_ARRAY = "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead"

_refused = partial(refused, route=_GPT)
_risky = partial(risky, route=_GPT)

_SHAPE = (
    _refused(
        "openai-chat/no-messages",
        "`messages` is an array with at least one message.",
        source="CopilotKit/CopilotKit#529",
        error=_EMPTY_ARRAY,
    ),
    _refused(
        "openai-chat/message-form",
        "Each message is an object.",
        source=_API,
    ),
    _refused(
        "openai-chat/unknown-role",
        "A message's role is `developer`, `system`, `user`, `assistant`, `tool`, or the old `function`.",
        source=_API,
    ),
)

_PAIRS = (
    _refused(
        "openai-chat/unanswered-call",
        "After an assistant message with calls stands one tool message for each of them, before anything "
        "else; at the end of the history too.",
        source="BerriAI/litellm#10083",
        error=_UNANSWERED,
    ),
    _refused(
        "openai-chat/result-too-late",
        "Nothing stands between an assistant message with calls and their results.",
        source="BerriAI/litellm#10083",
        error=_UNANSWERED,
    ),
    _refused(
        "openai-chat/orphan-result",
        "A tool message follows an assistant message with calls, or another result of that message.",
        source=("miurla/morphic#136", "langgenius/dify#32222"),
        error=RESULT_WITHOUT_CALLS,
    ),
    _refused(
        "openai-chat/unknown-result",
        "The id of a tool message is the id of one of the calls before it.",
        source=("dapr/dapr-agents#145", "MoonshotAI/kimi-cli#2405"),
        error=RESULT_OF_NO_CALL,
    ),
    _refused(
        "openai-chat/duplicate-result",
        "A call is answered once.",
        source="agno-agi/agno#5116",
        error=SECOND_RESULT,
    ),
    _refused(
        "openai-chat/duplicate-call-id",
        "The calls of one message have different ids, because each has to be answered once.",
        source="can1357/oh-my-pi#2055",
    ),
    # Some models number their calls anew in every answer, so the same ids come back in the next turn.
    _risky(
        "openai-chat/repeated-id",
        "No id is used twice in a request, not even in different turns.",
        source="can1357/oh-my-pi#2055",
    ),
)

_CALLS = (
    # Newer models were seen to take 51 and 64 characters (vercel/ai#17233); 40 is safe for all of them.
    _refused(
        "openai-chat/id-form",
        "The id of a call is a string that is not empty; for OpenAI itself and Azure at most 40 characters.",
        source=("microsoft/autogen#6377", "vercel/ai#17233"),
        error="Invalid '{path}': string too long. Expected a string with maximum length 40",
    ),
    _risky(
        "openai-chat/id-habit",
        "An id that begins with `call_` and has at most 40 characters is taken by every server.",
        source="octos-org/octos#32",
    ),
    _refused(
        "openai-chat/call-type",
        "The `type` of a call is `function`.",
        source=_API,
    ),
    _refused(
        "openai-chat/flat-call",
        "Name and arguments of a call stand in its `function`, not beside its id.",
        source=_API,
    ),
    _refused(
        "openai-chat/name-form",
        "A tool's name has 1 to 64 characters of `[a-zA-Z0-9_-]`, in calls and in `tools`.",
        source="brekkylab/ailoy#109",
        error=(
            "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'"
        ),
    ),
    _refused(
        "openai-chat/arguments-form",
        "The arguments of a call are a string.",
        source="aaif-goose/goose-mobile#20",
        error="Invalid type for '{path}': expected a string, but got an object instead",
    ),
    _risky(
        "openai-chat/arguments",
        "The arguments hold a JSON object, `{}` where there are none; OpenAI and Mistral do not look, others do.",
        source="vllm-project/vllm#43995",
    ),
    _refused(
        "openai-chat/calls-form",
        "`tool_calls` is an array with at least one call; without calls the key is left out.",
        source="openai/openai-node#1341",
        error=_EMPTY_ARRAY,
    ),
    _refused(
        "openai-chat/too-many-calls",
        "A message holds at most 128 calls, or as many as the model makes at a time.",
        source=("gptscript-ai/gptscript#547", "openai/openai-dotnet#317"),
        error="Invalid '{path}': array too long. Expected an array with maximum length 128",
    ),
    _refused(
        "openai-chat/text-beside-calls",
        "Where a model takes text or calls, a message does not hold both.",
        source=(VALIDATOR, "langchain-ai/langchain#21196"),
        error="Assistant message must have either content or tool_calls, but not both",
        code="3240",
        route="mistral/open-mistral-7b",
    ),
)

_TOOLS = (
    _refused(
        "openai-chat/tool-form",
        "`tools` is an array; a function tool has its name in `function`.",
        source=_API,
    ),
    # DeepSeek refuses it as well (runebookai/tome#87).
    _refused(
        "openai-chat/empty-tools",
        "`tools` is left out where there are none.",
        source=("baptisteArno/typebot.io#1205", "runebookai/tome#87"),
        error="[] is too short - 'tools'",
    ),
    _refused(
        "openai-chat/too-many-tools",
        "A request has at most 128 tools.",
        source="vishalmysore/Tools4AI#16",
        error="Invalid 'tools': array too long. Expected an array with maximum length 128",
    ),
    _refused(
        "openai-chat/choice-without-tools",
        "`tool_choice` is sent with `tools` only.",
        source="writer/writer-framework#1013",
        error="Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified",
    ),
)

_EFFORTS = (
    _refused(
        "openai-chat/effort-word",
        "`reasoning_effort` is a word of the server's scale, in lower case.",
        source=_API,
        error="Invalid value: '{value}'",
        route=_THINKING_GPT,
    ),
    _risky(
        "openai-chat/effort-level",
        "`reasoning_effort` is one of the words that the model knows, which differ from model to model.",
        source=("anomalyco/opencode#4451", "openai/openai-agents-python#2089"),
        error="Unsupported value: '{value}' is not supported",
        code="unsupported_value",
        route=_THINKING_GPT,
    ),
)

_CONTENT = (
    _refused(
        "openai-chat/null-content",
        "Content is not null, except in an assistant message with calls.",
        source=("docker/docker-agent#63", "openai/openai-cookbook#503"),
        error="Invalid value for 'content': expected a string, got null",
    ),
    _refused(
        "openai-chat/empty-parts",
        "Content that is an array has at least one part.",
        source=_API,
    ),
    _risky(
        "openai-chat/empty-content",
        "No message has an empty text: OpenAI, DeepSeek and Mistral take it, other servers may not.",
        source=("earendil-works/pi#3311", "lmstudio-ai/lmstudio-bug-tracker#2"),
        route=_STRICT,
    ),
    _refused(
        "openai-chat/content-form",
        "Content is a string or an array of parts, never a single part.",
        source=(_API, "ggml-org/llama.cpp#13471"),
    ),
    _refused(
        "openai-chat/part-form",
        "A content part is an object with a type.",
        source=_API,
    ),
    _refused(
        "openai-chat/part-type",
        "Parts of user messages are `text`, `image_url`, `input_audio` or `file`, of assistant messages "
        "`text` or `refusal`, of all others `text`.",
        source=_API,
    ),
    # The newest models take an image in a tool message and do not see it (openai/openai-openapi#523).
    _refused(
        "openai-chat/image-place",
        "Images stand in user messages; that of a result follows the results in a user message of its own.",
        source=("openai/openai-node#1030", "openai/openai-openapi#523"),
        error="Image URLs are only allowed for messages with role 'user'",
    ),
    _risky(
        "openai-chat/reasoning-field",
        "Reasoning is left out: the dialect has no field for it, and some servers refuse unknown ones.",
        source="janhq/jan#8136",
    ),
    _risky(
        "openai-chat/developer-role",
        "Only models that know the developer role get developer messages.",
        source="agno-agi/agno#1770",
        error="Unsupported value: 'messages[{index}].role' does not support 'developer' with this model",
        route=_STRICT,
    ),
    _risky(
        "openai-chat/ends-on-answer",
        "The last message is from the user or a tool.",
        source="olimorris/codecompanion.nvim#760",
    ),
)

_FAMILY = by_id(*json_rules(_GPT), *_SHAPE, *_PAIRS, *_CALLS, *_TOOLS, *_EFFORTS, *_CONTENT, *STRICT_RULES)

RULES: Mapping[str, WireRule] = RulesWithHosts(
    {name: replace(rule, errors=WordsOfHosts(name)) for name, rule in _FAMILY.items()}
)
