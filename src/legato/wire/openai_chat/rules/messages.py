"""Judge the messages of a chat body, one after the other.

In:  messages, the host and capabilities of the target, whether the model will think.
Out: findings about roles and their order, calls, and the pairing of calls with results; `contents` judges what is said.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from legato.model import Capabilities, IdScheme, Json, JsonObject
from legato.wire.judging import Findings, Pairing, brief, holds_object, is_list, is_object
from legato.wire.openai_chat.rules.checks import checks_for
from legato.wire.openai_chat.rules.contents import ContentJudge

_OWN_FORMS = (IdScheme.NINE, IdScheme.KIMI)
"""ids of models that were trained on a form of their own, wherever they are served"""
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
        self._pairing = Pairing("openai-chat", found)
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
        self._index = -1
        """the highest number in an id so far, where they count the calls"""

    def save(self) -> Any:
        """The state, for `restore`."""
        turn = self._role, self._has_mark, self._side, self._has_called
        return turn, self._last, self._index, self._pairing.save()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        (self._role, self._has_mark, self._side, self._has_called), self._last, self._index, pairing = saved
        self._pairing.restore(pairing)

    def message(self, index: int, message: Json) -> None:
        """Judge the message at `index`."""
        self._last = (index, message)
        if not is_object(message):
            self._found.refuse("openai-chat/message-form", f"messages[{index}]", "a message is an object")
            self._forget()
            return
        role = message.get("role")
        if not isinstance(role, str) or role not in self._acceptance.roles:
            self._report("unknown-role", f"messages[{index}].role", f"there is no role {brief(role)} for this server")
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
                self._found.risk(
                    "openai-chat/developer-role", f"messages[{index}].role", "not every model takes the developer role"
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
                self._examine_calls(index, calls)
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
            self._report("lone-message", "messages[0]", "a single message is from the user or the system")
        if not is_object(last) or last.get("role") != "assistant":
            return
        if accepted.final_mark and last.get(accepted.final_mark) is True:
            return
        path = f"messages[{index}]"
        if accepted.demands_mark:
            self._report("ends-on-answer", path, f"a final answer is only taken with `{accepted.final_mark}: true`")
        elif not self._capabilities.prefill:
            self._report("ends-on-answer", path, "the last message should be from the user or a tool")

    def _report(self, check: str, path: str, message: str) -> None:
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
                    "extra-field",
                    f"messages[{index}].{field}",
                    f"a message of the {role} has no field {brief(field)} here",
                )

    def _examine_order(self, index: int, role: str, message: JsonObject) -> None:
        before = self._role
        if self._has_mark:
            self._report("prefix-place", f"messages[{index - 1}].prefix", "only the last may be a prefix")
        self._has_mark = message.get("prefix") is True
        if not before:
            return
        if self._acceptance.follows is not None and role not in self._acceptance.follows[before]:
            self._report(
                "role-order",
                f"messages[{index}]",
                f"a message of the {role} may not follow one of the {before}",
            )
        elif role == "user" and before == "tool" and not self._capabilities.user_after_tool:
            self._report(
                "user-after-tool",
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
            self._found.refuse(
                "strict/roles-alternate",
                f"messages[{index}]",
                "after the instructions, messages of the user and the assistant take turns",
            )

    def _examine_result(self, index: int, message: JsonObject) -> None:
        call_id = message.get("tool_call_id")
        path = f"messages[{index}]"
        if not isinstance(call_id, str) or not call_id:
            self._found.refuse("openai-chat/unknown-result", path, "a tool message has no `tool_call_id`")
        else:
            if not self._forms.id.fullmatch(call_id):
                self._report(
                    "id-form",
                    f"{path}.tool_call_id",
                    f"the id {brief(call_id)} has not the form that is taken here",
                )
            self._pairing.result(call_id, path)
        if (self._acceptance.names_results or self._capabilities.named_results) and not message.get("name"):
            self._report("result-name", path, "a tool message should carry the tool's name")

    def _examine_reasoning(self, index: int, message: JsonObject, *, has_calls: bool) -> None:
        accepted = self._acceptance
        if accepted.demands_reasoning:
            if not self._thinks:
                return
            reasoning = message.get("reasoning_content")
            if not has_calls and not (accepted.demands_reasoning_of_turns and self._has_called):
                if accepted.demands_reasoning_of_turns and not isinstance(reasoning, str):
                    self._report(
                        "reasoning-everywhere",
                        f"messages[{index}]",
                        "thinking is on, and then an answer without `reasoning_content` is not always taken",
                    )
            elif not isinstance(reasoning, str) or (not reasoning and not accepted.takes_empty_reasoning):
                self._report(
                    "reasoning-missing",
                    f"messages[{index}]",
                    "thinking is on, so answers of a turn with calls need their `reasoning_content`"
                    if accepted.demands_reasoning_of_turns
                    else "thinking is on, so an answer with calls needs its `reasoning_content`",
                )
            elif not reasoning:
                self._report(
                    "reasoning-empty",
                    f"messages[{index}].reasoning_content",
                    "an empty `reasoning_content` is not always taken",
                )
        elif accepted.fields is None and not accepted.takes_reasoning:
            for field in _REASONING_FIELDS:
                if message.get(field):
                    self._found.risk(
                        "openai-chat/reasoning-field",
                        f"messages[{index}].{field}",
                        "Chat Completions has no place for reasoning; some servers refuse the field",
                    )

    # --- calls ---

    def _examine_calls(self, index: int, calls: Json) -> None:
        if not is_list(calls):
            self._found.refuse("openai-chat/calls-form", f"messages[{index}].tool_calls", "`tool_calls` is an array")
            return
        if not calls:
            if not self._acceptance.takes_empty_calls:
                self._found.refuse(
                    "openai-chat/calls-form",
                    f"messages[{index}].tool_calls",
                    "leave it out if there are no calls",
                )
            return
        if len(calls) > self._capabilities.max_calls:
            self._found.refuse(
                "openai-chat/too-many-calls",
                f"messages[{index}].tool_calls",
                f"{len(calls)} calls in one message; {self._capabilities.max_calls} are taken",
            )
        if index == 0 and (self._acceptance.follows is not None or self._capabilities.named_results):
            self._report("first-message-calls", "messages[0]", "the first message may not hold calls")
        for call_index, call in enumerate(calls):
            self._examine_call(f"messages[{index}].tool_calls[{call_index}]", call)

    def _examine_call(self, path: str, call: Json) -> None:
        found, accepted = self._found, self._acceptance
        if not is_object(call):
            found.refuse("openai-chat/flat-call", path, "a call is an object")
            return
        call_id, kind = call.get("id"), call.get("type")
        if not isinstance(call_id, str) or not self._forms.id.fullmatch(call_id):
            self._report("id-form", f"{path}.id", f"the id {brief(call_id)} has not the form that is taken here")
        elif not self._forms.id_habit.fullmatch(call_id) and (
            self._checks.has_own_habit or self._capabilities.id_scheme not in _OWN_FORMS
        ):
            self._report("id-habit", f"{path}.id", f"the id {brief(call_id)} has not the form that is safe here")
        elif self._forms.id_index is not None and (match := self._forms.id_index.fullmatch(call_id)):
            self._examine_index(int(match[1]), call_id, path)
        if isinstance(call_id, str) and call_id:
            self._pairing.call(call_id, path)
        if not isinstance(kind, str | None) or kind not in accepted.call_types:
            found.refuse("openai-chat/call-type", f"{path}.type", "the type of a call is `function`")
        if kind == "custom":
            return
        function = call.get("function")
        if not is_object(function):
            found.refuse("openai-chat/flat-call", path, "name and arguments of a call stand in its `function`")
            return
        name = function.get("name")
        if not isinstance(name, str) or not self._forms.name.fullmatch(name):
            self._report("name-form", f"{path}.function.name", f"{brief(name)} is no name for a tool here")
        self._examine_arguments(path, function.get("arguments"))

    def _examine_index(self, index: int, call_id: str, path: str) -> None:
        if index <= self._index and not self._pairing.knows(call_id):  # else the whole id repeats
            self._report("index-repeats", f"{path}.id", f"{index} is not higher than in the calls before it")
        self._index = max(self._index, index)

    def _examine_arguments(self, path: str, arguments: Json) -> None:
        accepted = self._acceptance
        if not isinstance(arguments, str):
            if not (accepted.takes_argument_objects and is_object(arguments)):
                self._found.refuse(
                    "openai-chat/arguments-form", f"{path}.function.arguments", "arguments are JSON in a string"
                )
        elif not holds_object(arguments):
            if accepted.parses_arguments:
                self._report("arguments", f"{path}.function.arguments", "the arguments do not hold a JSON object")
            else:
                self._found.risk(
                    "openai-chat/arguments", f"{path}.function.arguments", "the arguments do not hold a JSON object"
                )
