"""Kimi: a body that breaks each of its rules, and one that keeps it."""

from chat_bodies import THOUGHT, ask, calls, read, result, said, tool, user
from rule_examples import Example

_NATIVE = "functions.read:0"
_ON, _OFF = {"type": "enabled"}, {"type": "disabled"}

EXAMPLES = {
    "reasoning-missing": Example(
        refused=ask(user(), calls(read(_NATIVE), reasoning_content=""), result(_NATIVE)),
        accepted=ask(user(), calls(read(_NATIVE), reasoning_content=THOUGHT), result(_NATIVE)),
    ),
    "forced-tool": Example(
        refused=ask(user(), tools=[tool("read")], tool_choice="required"),
        accepted=ask(user(), tools=[tool("read")], tool_choice="required", thinking=_OFF),
    ),
    "thinking-and-effort": Example(
        refused=ask(user(), thinking=_ON, reasoning_effort="low"), accepted=ask(user(), thinking=_ON)
    ),
    "empty-message": Example(refused=ask(user(), said(""), user()), accepted=ask(user(), said(), user())),
    "name-form": Example(refused=ask(user(), tools=[tool("7zip")]), accepted=ask(user(), tools=[tool("zip7")])),
    "id-habit": Example(
        refused=ask(user(), calls(read("call_1"), reasoning_content=THOUGHT), result("call_1")),
        accepted=ask(user(), calls(read(_NATIVE), reasoning_content=THOUGHT), result(_NATIVE)),
    ),
    "index-repeats": Example(
        refused=ask(
            user(),
            calls(read("functions.read:0"), reasoning_content=THOUGHT),
            result("functions.read:0"),
            calls(read("functions.list:0"), reasoning_content=THOUGHT),
            result("functions.list:0"),
        ),
        accepted=ask(
            user(),
            calls(read("functions.read:0"), reasoning_content=THOUGHT),
            result("functions.read:0"),
            calls(read("functions.list:1"), reasoning_content=THOUGHT),
            result("functions.list:1"),
        ),
    ),
}

ERROR_BODY = {"error": {"message": "Invalid request: tool_call_id  is not found", "type": "invalid_request_error"}}

ROUTES = ("kimi/kimi-k2-0905-preview", "kimi/kimi-k2.5", "kimi/kimi-k3")
