"""DeepSeek: a body that breaks each of its rules, and one that keeps it."""

from chat_bodies import SYSTEM, THOUGHT, ask, calls, result, said, user
from rule_examples import Example

EXAMPLES = {
    "unknown-role": Example(
        refused=ask({"role": "developer", "content": "Be brief."}, user()), accepted=ask(SYSTEM, user())
    ),
    "empty-answer": Example(
        refused=ask(user(), {"role": "assistant", "content": None}, user()), accepted=ask(user(), said(""), user())
    ),
    "part-type": Example(
        refused=ask(
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}
        ),
        accepted=ask({"role": "user", "content": [{"type": "text", "text": "Hello"}]}),
    ),
    "reasoning-missing": Example(
        refused=ask(user(), calls(reasoning_content=THOUGHT), result(), said(), user()),
        accepted=ask(user(), calls(reasoning_content=THOUGHT), result(), said(reasoning_content=THOUGHT), user()),
    ),
    "reasoning-everywhere": Example(
        refused=ask(user(), said(), user()), accepted=ask(user(), said(reasoning_content=" "), user())
    ),
    "reasoning-empty": Example(
        refused=ask(user(), calls(reasoning_content=""), result()),
        accepted=ask(user(), calls(reasoning_content=" "), result()),
    ),
}

ROUTES = ("deepseek/deepseek-reasoner", "deepseek/deepseek-v4")
