"""Judge the calls of a chat message: their ids, types, names and arguments."""

from __future__ import annotations

from legato.model import Capabilities, IdScheme, Json
from legato.wire.findings import Severity
from legato.wire.judging import Findings, brief, holds_object, is_list, is_object
from legato.wire.judging_pairs import Pairing
from legato.wire.openai_chat.rules.checks import HostCheck, HostChecks, ReportedRule
from legato.wire.openai_chat.rules.sources import API, EMPTY_ARRAY, STRICT
from legato.wire.rules import refused, risky

# Newer models were seen to take 51 and 64 characters (vercel/ai#17233); 40 is safe for all of them.
ID_FORM = HostCheck(
    "id-form",
    refused(
        "openai-chat/id-form",
        "The id of a call is a string that is not empty; for OpenAI itself and Azure at most 40 characters.",
        source=("microsoft/autogen#6377", "vercel/ai#17233"),
        error="Invalid '{path}': string too long. Expected a string with maximum length 40",
    ),
)
ID_HABIT = HostCheck(
    "id-habit",
    risky(
        "openai-chat/id-habit",
        "An id that begins with `call_` and has at most 40 characters is taken by every server.",
        source="octos-org/octos#32",
    ),
)
CALL_TYPE = refused(
    "openai-chat/call-type",
    "The `type` of a call is `function`.",
    source=API,
)
FLAT_CALL = refused(
    "openai-chat/flat-call",
    "Name and arguments of a call stand in its `function`, not beside its id.",
    source=API,
)
NAME_FORM = HostCheck(
    "name-form",
    refused(
        "openai-chat/name-form",
        "A tool's name has 1 to 64 characters of `[a-zA-Z0-9_-]`, in calls and in `tools`.",
        source="brekkylab/ailoy#109",
        error=(
            "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'"
        ),
    ),
)
ARGUMENTS_FORM = refused(
    "openai-chat/arguments-form",
    "The arguments of a call are a string.",
    source="aaif-goose/goose-mobile#20",
    error="Invalid type for '{path}': expected a string, but got an object instead",
)
ARGUMENTS = risky(
    "openai-chat/arguments",
    "The arguments hold a JSON object, `{}` where there are none; OpenAI and Mistral do not look, others do.",
    source="vllm-project/vllm#43995",
)
CALLS_FORM = refused(
    "openai-chat/calls-form",
    "`tool_calls` is an array with at least one call; without calls the key is left out.",
    source="openai/openai-node#1341",
    error=EMPTY_ARRAY,
)
TOO_MANY_CALLS = refused(
    "openai-chat/too-many-calls",
    "A message holds at most 128 calls, or as many as the model makes at a time.",
    source=("gptscript-ai/gptscript#547", "openai/openai-dotnet#317"),
    error="Invalid '{path}': array too long. Expected an array with maximum length 128",
)
STRICT_ARGUMENTS = HostCheck(
    "arguments",
    refused(
        "strict/arguments",
        "The arguments of a call hold a JSON object, because the server parses them; `{}` where there are"
        " none. vLLM, llama.cpp, DashScope and the servers of Kimi and DeepSeek are judged so.",
        source=("QwenLM/qwen-code#606", "HKUDS/nanobot#1487", "vllm-project/vllm#43995"),
        error='The "function.arguments" parameter of the code model must be in JSON format',
        route=STRICT,
    ),
)
FIRST_MESSAGE_CALLS = HostCheck("first-message-calls", ReportedRule("mistral/first-message-calls", Severity.REFUSED))
INDEX_REPEATS = HostCheck("index-repeats", ReportedRule("kimi/index-repeats", Severity.RISKY))

_OWN_FORMS = (IdScheme.NINE, IdScheme.KIMI)
"""ids of models that were trained on a form of their own, wherever they are served"""


class CallJudge:
    """Judges calls for one server; tells `pairing` about them."""

    def __init__(self, checks: HostChecks, capabilities: Capabilities, pairing: Pairing, found: Findings) -> None:
        self._checks = checks
        self._acceptance, self._forms = checks.acceptance, checks.forms
        self._capabilities = capabilities
        self._pairing = pairing
        self._found = found
        self.highest = -1
        """the highest number in an id so far, where ids number the calls"""

    def examine(self, index: int, calls: Json) -> None:
        """Judge the `tool_calls` of the message at `index`."""
        if not is_list(calls):
            self._found.report(CALLS_FORM, f"messages[{index}].tool_calls", "`tool_calls` is an array")
            return
        if not calls:
            if not self._acceptance.takes_empty_calls:
                self._found.report(
                    CALLS_FORM,
                    f"messages[{index}].tool_calls",
                    "leave it out if there are no calls",
                )
            return
        if len(calls) > self._capabilities.max_calls:
            self._found.report(
                TOO_MANY_CALLS,
                f"messages[{index}].tool_calls",
                f"{len(calls)} calls in one message; {self._capabilities.max_calls} are taken",
            )
        if index == 0 and (self._acceptance.follows is not None or self._capabilities.named_results):
            self._report(FIRST_MESSAGE_CALLS, "messages[0]", "the first message may not hold calls")
        for call_index, call in enumerate(calls):
            self._examine_call(f"messages[{index}].tool_calls[{call_index}]", call)

    def _examine_call(self, path: str, call: Json) -> None:
        found, accepted = self._found, self._acceptance
        if not is_object(call):
            found.report(FLAT_CALL, path, "a call is an object")
            return
        call_id, kind = call.get("id"), call.get("type")
        if not isinstance(call_id, str) or not self._forms.id.fullmatch(call_id):
            self._report(ID_FORM, f"{path}.id", f"the id {brief(call_id)} has not the form that is taken here")
        elif not self._forms.id_habit.fullmatch(call_id) and (
            self._checks.has_own_habit or self._capabilities.id_scheme not in _OWN_FORMS
        ):
            self._report(ID_HABIT, f"{path}.id", f"the id {brief(call_id)} has not the form that is safe here")
        elif self._forms.id_index is not None and (match := self._forms.id_index.fullmatch(call_id)):
            self._examine_index(int(match[1]), call_id, path)
        if isinstance(call_id, str) and call_id:
            self._pairing.call(call_id, path)
        if not isinstance(kind, str | None) or kind not in accepted.call_types:
            found.report(CALL_TYPE, f"{path}.type", "the type of a call is `function`")
        if kind == "custom":
            return
        function = call.get("function")
        if not is_object(function):
            found.report(FLAT_CALL, path, "name and arguments of a call stand in its `function`")
            return
        name = function.get("name")
        if not isinstance(name, str) or not self._forms.name.fullmatch(name):
            self._report(NAME_FORM, f"{path}.function.name", f"{brief(name)} is no name for a tool here")
        self._examine_arguments(path, function.get("arguments"))

    def _examine_index(self, index: int, call_id: str, path: str) -> None:
        if index <= self.highest and not self._pairing.knows(call_id):  # else the whole id repeats
            self._report(INDEX_REPEATS, f"{path}.id", f"{index} is not higher than in the calls before it")
        self.highest = max(self.highest, index)

    def _examine_arguments(self, path: str, arguments: Json) -> None:
        accepted = self._acceptance
        if not isinstance(arguments, str):
            if not (accepted.takes_argument_objects and is_object(arguments)):
                self._found.report(ARGUMENTS_FORM, f"{path}.function.arguments", "arguments are JSON in a string")
        elif not holds_object(arguments):
            if accepted.parses_arguments:
                self._report(STRICT_ARGUMENTS, f"{path}.function.arguments", "the arguments do not hold a JSON object")
            else:
                self._found.report(ARGUMENTS, f"{path}.function.arguments", "the arguments do not hold a JSON object")

    def _report(self, check: HostCheck, path: str, message: str) -> None:
        self._checks.report(self._found, check, path, message)
