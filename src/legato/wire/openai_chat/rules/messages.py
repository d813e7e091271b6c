"""Judge the messages of a chat body, one after the other.

In:  messages, the host and capabilities of the target, whether the model will think.
Out: findings about roles and their order, reasoning, and the pairing of calls with results. What is said is judged in
     `contents`, calls in `calls`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from legato.model import Capabilities, Json, JsonObject
from legato.wire.findings import Severity
from legato.wire.judging import Findings, brief, is_list, is_object
from legato.wire.judging_pairs import Pairing
from legato.wire.openai_chat.rules.calls import ID_FORM, CallJudge
from legato.wire.openai_chat.rules.checks import HostCheck, ReportedRule, checks_for
from legato.wire.openai_chat.rules.contents import ContentJudge
from legato.wire.openai_chat.rules.pairs import PAIRS
from legato.wire.openai_chat.rules.sources import API, STRICT
from legato.wire.rules import refused, risky

MESSAGE_FORM = refused(
    "openai-chat/message-form",
    "Each message is an object.",
    source=API,
)
UNKNOWN_ROLE = HostCheck(
    "unknown-role",
    refused(
        "openai-chat/unknown-role",
        "A message's role is `developer`, `system`, `user`, `assistant`, `tool`, or the old `function`.",
        source=API,
    ),
)
REASONING_FIELD = risky(
    "openai-chat/reasoning-field",
    "Reasoning is left out: the dialect has no field for it, and some servers refuse unknown ones.",
    source="janhq/jan#8136",
)
DEVELOPER_ROLE = risky(
    "openai-chat/developer-role",
    "Only models that know the developer role get developer messages.",
    source="agno-agi/agno#1770",
    error="Unsupported value: 'messages[{index}].role' does not support 'developer' with this model",
    route=STRICT,
)
ENDS_ON_ANSWER = HostCheck(
    "ends-on-answer",
    risky(
        "openai-chat/ends-on-answer",
        "The last message is from the user or a tool.",
        source="olimorris/codecompanion.nvim#760",
    ),
)
# Not the server's doing but that of the model's template, which looks at neither calls nor results.
STRICT_ROLES_ALTERNATE = refused(
    "strict/roles-alternate",
    "Models with a strict template (Mistral's, Gemma, Llama 2) want user and assistant to take turns, calls and "
    "results aside, after at most one system message.",
    source=("vllm-project/vllm#6862", "suitenumerique/conversations#197", "microsoft/autogen#3597"),
    error="After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
    route="strict/mistral-7b",
)
EXTRA_FIELD = HostCheck("extra-field", ReportedRule("groq/unknown-field", Severity.REFUSED))
ROLE_ORDER = HostCheck("role-order", ReportedRule("mistral/role-order", Severity.REFUSED))
USER_AFTER_TOOL = HostCheck("user-after-tool", ReportedRule("mistral/user-after-tool", Severity.REFUSED))
LONE_MESSAGE = HostCheck("lone-message", ReportedRule("mistral/lone-message", Severity.REFUSED))
PREFIX_PLACE = HostCheck("prefix-place", ReportedRule("mistral/prefix-place", Severity.REFUSED))
RESULT_NAME = HostCheck("result-name", ReportedRule("mistral/result-name", Severity.RISKY))
REASONING_MISSING = HostCheck("reasoning-missing", ReportedRule("kimi/reasoning-missing", Severity.REFUSED))
REASONING_EVERYWHERE = HostCheck("reasoning-everywhere", ReportedRule("deepseek/reasoning-everywhere", Severity.RISKY))
REASONING_EMPTY = HostCheck("reasoning-empty", ReportedRule("deepseek/reasoning-empty", Severity.RISKY))

_REASONING_FIELDS = ("reasoning_content", "reasoning")


class JudgingMode(NamedTuple):
    """What messages are judged by: who is to take them, and whether the model will think in its answer."""

    host: str
    """by its name, so that modes are quick to compare"""
    capabilities: Capabilities
    thinks: bool


class ChatJudge:
    """Reads the messages in order; `end` comes after the last one."""

    def __init__(self, mode: JudgingMode, found: Findings) -> None:
        self._checks = checks = checks_for(mode.host)
        self._acceptance, self._forms = checks.acceptance, checks.forms
        self._capabilities, self._thinks = mode.capabilities, mode.thinks
        self._found = found
        self._contents = ContentJudge(checks, self._capabilities, found)
        self._pairing = Pairing(PAIRS, found)
        self._calls = CallJudge(checks, self._capabilities, self._pairing, found)
        self._role = ""
        """the role before; empty at the start, and after what was no message"""
        self._has_mark = False
        """whether the message before claims to be the prefix of the answer"""
        self._side = ""
        """whose turn it was last, calls and results aside"""
        self._has_called = False
        """whether an answer since the last message of the user made calls"""
        self._last: tuple[int, Json] = (0, None)
        """the message before, and its number"""

    def save(self) -> Any:
        """The state, for `restore`."""
        turn = self._role, self._has_mark, self._side, self._has_called
        return turn, self._last, self._calls.highest, self._pairing.save()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        (self._role, self._has_mark, self._side, self._has_called), self._last, self._calls.highest, pairing = saved
        self._pairing.restore(pairing)

    def message(self, index: int, message: Json) -> None:
        """Judge the message at `index`."""
        self._last = (index, message)
        if not is_object(message):
            self._found.report(MESSAGE_FORM, f"messages[{index}]", "a message is an object")
            self._forget()
            return
        role = message.get("role")
        if not isinstance(role, str) or role not in self._acceptance.roles:
            self._report(UNKNOWN_ROLE, f"messages[{index}].role", f"there is no role {brief(role)} for this server")
            self._forget()
            return
        if self._acceptance.fields is not None:
            self._examine_fields(index, role, message)
        if self._acceptance.follows is not None:
            self._examine_order(index, role, message)
        if role == "tool":
            self._examine_result(index, message)
        else:
            self._pairing.close()
            if role == "developer" and not self._capabilities.developer_role:
                self._found.report(
                    DEVELOPER_ROLE, f"messages[{index}].role", "not every model takes the developer role"
                )
        calls = message.get("tool_calls") if role == "assistant" else None
        has_calls = is_list(calls) and bool(calls)
        if self._capabilities.alternates and role != "tool" and not has_calls:
            self._examine_sides(index, role)
        self._contents.examine(index, role, message, has_calls=has_calls)
        if self._checks.in_messages:
            self._checks.examine_message(self._found, f"messages[{index}]", message)
        if role == "assistant":
            if calls is not None:
                self._calls.examine(index, calls)
            self._has_called = self._has_called or has_calls
            self._examine_reasoning(index, message, has_calls=has_calls)
        elif role == "user":
            self._has_called = False
        self._role = role

    def end(self, fields: JsonObject) -> None:
        """Judge how the request ends, and what never was answered."""
        self._pairing.end()
        (index, last), accepted = self._last, self._acceptance
        if accepted.follows is not None and index == 0 and self._role not in ("user", "system"):
            self._report(LONE_MESSAGE, "messages[0]", "a single message is from the user or the system")
        if not is_object(last) or last.get("role") != "assistant":
            return
        if accepted.final_mark and last.get(accepted.final_mark) is True:
            return
        path = f"messages[{index}]"
        if accepted.demands_mark:
            self._report(ENDS_ON_ANSWER, path, f"a final answer is only taken with `{accepted.final_mark}: true`")
        elif not self._capabilities.prefill:
            self._report(ENDS_ON_ANSWER, path, "the last message should be from the user or a tool")

    def _report(self, check: HostCheck, path: str, message: str) -> None:
        self._checks.report(self._found, check, path, message)

    # --- the message as a whole ---

    def _forget(self) -> None:
        self._pairing.close()
        self._role = ""
        self._has_mark = False

    def _examine_fields(self, index: int, role: str, message: JsonObject) -> None:
        accepted = self._acceptance
        known = accepted.fields[role] if accepted.fields is not None else frozenset[str]()
        for field in message:
            if field not in known:
                self._report(
                    EXTRA_FIELD,
                    f"messages[{index}].{field}",
                    f"a message of the {role} has no field {brief(field)} here",
                )

    def _examine_order(self, index: int, role: str, message: JsonObject) -> None:
        before = self._role
        if self._has_mark:
            self._report(PREFIX_PLACE, f"messages[{index - 1}].prefix", "only the last may be a prefix")
        self._has_mark = message.get("prefix") is True
        if not before:
            return
        if self._acceptance.follows is not None and role not in self._acceptance.follows[before]:
            self._report(
                ROLE_ORDER,
                f"messages[{index}]",
                f"a message of the {role} may not follow one of the {before}",
            )
        elif role == "user" and before == "tool" and not self._capabilities.user_after_tool:
            self._report(
                USER_AFTER_TOOL,
                f"messages[{index}]",
                "between tool and user messages this server wants an assistant message",
            )

    def _examine_sides(self, index: int, role: str) -> None:
        """Judge as the templates do: calls and results aside, the user is first and each side speaks once."""
        if role in ("system", "developer"):
            is_fine = index == 0
        else:
            is_fine = role == ("assistant" if self._side == "user" else "user")
            self._side = role
        if not is_fine:
            self._found.report(
                STRICT_ROLES_ALTERNATE,
                f"messages[{index}]",
                "after the instructions, messages of the user and the assistant take turns",
            )

    def _examine_result(self, index: int, message: JsonObject) -> None:
        call_id = message.get("tool_call_id")
        path = f"messages[{index}]"
        if not isinstance(call_id, str) or not call_id:
            self._found.report(PAIRS.unknown_result, path, "a tool message has no `tool_call_id`")
        else:
            if not self._forms.id.fullmatch(call_id):
                self._report(
                    ID_FORM,
                    f"{path}.tool_call_id",
                    f"the id {brief(call_id)} has not the form that is taken here",
                )
            self._pairing.result(call_id, path)
        if (self._acceptance.names_results or self._capabilities.named_results) and not message.get("name"):
            self._report(RESULT_NAME, path, "a tool message should carry the tool's name")

    def _examine_reasoning(self, index: int, message: JsonObject, *, has_calls: bool) -> None:
        accepted = self._acceptance
        if accepted.demands_reasoning:
            if not self._thinks:
                return
            reasoning = message.get("reasoning_content")
            if not has_calls and not (accepted.demands_reasoning_of_turns and self._has_called):
                if accepted.demands_reasoning_of_turns and not isinstance(reasoning, str):
                    self._report(
                        REASONING_EVERYWHERE,
                        f"messages[{index}]",
                        "thinking is on, and then an answer without `reasoning_content` is not always taken",
                    )
            elif not isinstance(reasoning, str) or (not reasoning and not accepted.takes_empty_reasoning):
                self._report(
                    REASONING_MISSING,
                    f"messages[{index}]",
                    "thinking is on, so answers of a turn with calls need their `reasoning_content`"
                    if accepted.demands_reasoning_of_turns
                    else "thinking is on, so an answer with calls needs its `reasoning_content`",
                )
            elif not reasoning:
                self._report(
                    REASONING_EMPTY,
                    f"messages[{index}].reasoning_content",
                    "an empty `reasoning_content` is not always taken",
                )
        elif accepted.fields is None and not accepted.takes_reasoning:
            for field in _REASONING_FIELDS:
                if message.get(field):
                    self._found.report(
                        REASONING_FIELD,
                        f"messages[{index}].{field}",
                        "Chat Completions has no place for reasoning; some servers refuse the field",
                    )
