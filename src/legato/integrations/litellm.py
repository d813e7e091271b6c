"""LiteLLM: messages that any provider takes, for `completion` and for the proxy.

    completion(model=model, messages=settle_litellm_messages(messages, model), tools=tools)
    litellm.callbacks = [legato_handler()]      # `acompletion`, routers, and the proxy

In:  messages of Chat Completions with what LiteLLM puts beside them (`thinking_blocks`, `provider_specific_fields`),
     and the model, as LiteLLM names it: `anthropic/claude-haiku-4-5`.
Out: messages of the same form that the model's provider takes.

A message does not say which model it is from. Its calls tell whose signatures it holds; where they do not, signatures
are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from legato.errors import UnknownTarget
from legato.formats.chat.messages import ChatReader
from legato.formats.chat.sealed import write_thinking_blocks
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_id, as_object, as_objects, as_text
from legato.formats.origins import origin_of
from legato.formats.wire.reading import read_body
from legato.integrations.forms import answers, has_foreign_part, in_form, is_accepted
from legato.integrations.keeping import keep_own
from legato.integrations.naming import find_target
from legato.integrations.settling import SettledHistory, settle
from legato.model import Dialect, Json, JsonObject, Origin, Speaker, Target, Thinking, ToolCall, ingest_sent
from legato.transcript.conversation import Conversation

__all__ = ["legato_handler", "read_litellm_messages", "settle_litellm_messages", "write_litellm_messages"]

_FORM = "openai/gpt-4.1"
_CLAUDES_FORM = "anthropic/claude-sonnet-4-5"
_SIGNED = (Dialect.ANTHROPIC, Dialect.BEDROCK)
_ITEMS = "reasoning_items"
"""where LiteLLM keeps what a model of the Responses API thought (its `completion_extras`)"""


def read_litellm_messages(messages: Sequence[Any], model: str | Target = "") -> Document:
    """The conversation in messages for `completion`; `model` is the one that has answered so far, if it was one."""
    return _read(_plain(messages), _asked(model) if model else None)


def write_litellm_messages(source: Document | Conversation, model: str | Target) -> list[JsonObject]:
    """A conversation as messages that `model` takes, with the thoughts that it gets back."""
    if isinstance(source, Conversation):
        source = Document(format="legato", entries=source.entries, places=["" for _ in source.entries])
    return _written(settle(source, _asked(model)))


def settle_litellm_messages(
    messages: Sequence[Any], model: str | Target, *, thinks: bool | None = None, offers_tools: bool = True
) -> list[JsonObject]:
    """The same messages as `model` takes them; the other arguments are those of `settle`."""
    return _settled(_plain(messages), _asked(model), thinks=thinks, offers_tools=offers_tools)[0]


def legato_handler() -> Any:
    """A callback for `litellm.callbacks`, or for `litellm_settings: callbacks:` of the proxy.

    It is asked when it is settled which deployment answers, so an alias of the proxy is no riddle to it. Thinking is
    switched off where the model takes its history only so. What it cannot name the provider of it leaves as it is.
    """
    base: Any = import_module("litellm.integrations.custom_logger").CustomLogger

    class LegatoHandler(base):
        async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
            if not isinstance(kwargs.get("messages"), list):
                return None
            kind = str(getattr(call_type, "value", call_type or "acompletion"))
            return _settled_arguments(kwargs, kind) if kind in _KINDS else None

    return LegatoHandler()


_CLAUDES_OWN = frozenset({"anthropic_messages", "aanthropic_messages"})
_KINDS = _CLAUDES_OWN | {"completion", "acompletion"}
"""what a program or a client of the proxy asks for with messages: completions, or messages in Claude's own form"""


def _settled_arguments(arguments: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """What goes on in place of `arguments`; None where they stay.

    Messages in Claude's form are for Claude alone. LiteLLM asks others for a completion with them, and asks again here.
    """
    provider, model = as_text(arguments.get("custom_llm_provider")), as_text(arguments.get("model"))
    try:
        target = _asked(f"{provider}/{model}" if provider and not model.startswith(f"{provider}/") else model)
    except UnknownTarget:
        return None
    if kind in _CLAUDES_OWN and target.dialect is not Dialect.ANTHROPIC:
        return None
    messages, settled = (_settled_as_claudes if kind in _CLAUDES_OWN else _settled)(
        _plain(arguments["messages"]),
        target,
        thinks=_thinks(arguments),
        offers_tools=bool(arguments.get("tools") or arguments.get("functions")),
    )
    kept = dict(arguments, messages=messages)
    if settled is not None and settled.must_not_think:
        kept.pop("thinking", None)
        kept.pop("reasoning_effort", None)
    return kept


def _thinks(arguments: dict[str, Any]) -> bool | None:
    thinking, effort = as_object(arguments.get("thinking")), as_text(arguments.get("reasoning_effort"))
    if thinking:
        return thinking.get("type") != "disabled"
    return effort != "none" if effort else None


def _asked(model: str | Target) -> Target:
    """The target of a model as LiteLLM names it: a provider may come before it, and `responses/` before the name."""
    if isinstance(model, Target):
        return model
    provider, _, name = model.partition("/") if "/" in model else ("", "", model)
    is_responses = name.startswith("responses/")
    return find_target(None, provider, name.removeprefix("responses/"), is_responses=is_responses)


def _settled(
    messages: list[JsonObject], target: Target, **asked: Any
) -> tuple[list[JsonObject], SettledHistory | None]:
    document = _read(messages, target)
    if not document.entries:
        return messages, None
    settled = settle(document, target, **asked)
    items = keep_own(messages, _written(settled), partial(_read, target=target), settled, is_foreign=_is_foreign)
    return [messages[item] if isinstance(item, int) else item for item in items], settled


def _settled_as_claudes(
    messages: list[JsonObject], target: Target, **asked: Any
) -> tuple[list[JsonObject], SettledHistory | None]:
    """The same for messages in Claude's own form, which are all answered by this model, as far as they show."""
    if is_accepted(messages, target):
        return messages, None
    read = partial(_read_as_claudes, target=target)
    settled = settle(read(messages), target, **asked)
    items = keep_own(messages, in_form(settled, _CLAUDES_FORM), read, settled, has_one_form=True)
    return [messages[item] if isinstance(item, int) else item for item in items], settled


def _is_foreign(message: JsonObject) -> bool:
    """Whether a message has a form that LiteLLM, or some provider behind it, does not take.

    LiteLLM has one form for attachments, which is OpenAI's; calls are an assistant's, and results have a role.
    """
    role = message.get("role")
    is_misplaced = ("tool_call_id" in message) is not (role == "tool") or (
        bool(message.get("tool_calls")) and role != "assistant"
    )
    is_old = bool(message.get("function_call"))
    return is_misplaced or is_old or _ITEMS in message or has_foreign_part(message.get("content"))


def _written(settled: SettledHistory) -> list[JsonObject]:
    messages = in_form(settled, _FORM)
    for said, message in answers(settled, messages, "assistant"):
        if settled.target.dialect in _SIGNED:
            blocks = write_thinking_blocks(block for block in said.blocks if isinstance(block, Thinking))
            message.update({"thinking_blocks": blocks} if blocks else {})
        elif settled.target.dialect is Dialect.OPENAI_RESPONSES:
            items = [
                as_object((block.native or {}).get("item")) for block in said.blocks if isinstance(block, Thinking)
            ]
            sealed: list[Json] = [_without_id(item) for item in items if item]
            message.update({_ITEMS: sealed} if sealed else {})
        elif settled.target.dialect is Dialect.GEMINI:
            for call, made in zip(said.calls, as_objects(message.get("tool_calls")), strict=False):
                _sign(made, call)
    return messages


def _sign(made: JsonObject, call: ToolCall) -> None:
    if signature := as_text((call.native or {}).get("thoughtSignature")):
        made["provider_specific_fields"] = {"thought_signature": signature}


def _without_id(item: JsonObject) -> JsonObject:
    """An item without the id that binds it to the very items behind it, which LiteLLM writes anew."""
    return {name: value for name, value in item.items() if name != "id"}


# --- reading ----------------------------------------------------------------------------------------------------------


def _read(messages: Sequence[Json], target: Target | None) -> Document:
    draft = DocumentDraft("litellm")
    reader = ChatReader(draft)
    for index, item in enumerate(messages):
        message = as_object(item)
        reader.origin = _origin(message, target)
        reader.message(message, f"[{index}]")
        _take_items(draft, message)
    return draft.finish(digest="")


def _take_items(draft: DocumentDraft, message: JsonObject) -> None:
    """The thoughts of the Responses API that LiteLLM keeps beside an answer, as far as they can go back."""
    items = [item for item in as_objects(message.get(_ITEMS)) if item.get("encrypted_content")]
    if items and draft.entries and draft.entries[-1].speaker is Speaker.AI:
        last = draft.entries[-1]
        thoughts = (Thinking(native={"item": item}) for item in items)
        said = (block for block in last.blocks if not isinstance(block, Thinking))
        draft.entries[-1] = replace(last, blocks=(*thoughts, *said))


def _read_as_claudes(messages: Sequence[Json], target: Target) -> Document:
    draft = DocumentDraft("anthropic")
    read_body({"messages": list(messages)}, draft)
    own = target.origin()
    draft.entries = [replace(entry, origin=own) if entry.speaker is Speaker.AI else entry for entry in draft.entries]
    return draft.finish(digest="")


def _origin(message: JsonObject, target: Target | None) -> Origin | None:
    """Whose an answer is, as far as it shows; one that holds nothing of a provider's own is as good as anyone's."""
    provider = _signer(message)
    if target is None:
        return origin_of(provider, "") if provider else None
    is_bare = not provider and not message.get("reasoning_content") and not message.get("provider_specific_fields")
    is_own = _is_home(target, provider) if provider else target.capabilities.reasoning_field
    return target.origin() if is_bare or is_own else origin_of(provider, "") if provider else None


def _is_home(target: Target, provider: str) -> bool:
    """Whether what models of `provider` sign is read where the messages go, be it on another platform."""
    return target.provider in (provider, *_PLATFORMS.get(provider, ()))


_PLATFORMS = {"anthropic": ("vertex-anthropic", "bedrock-anthropic"), "gemini": ("vertex",)}


def _signer(message: JsonObject) -> str:
    """The provider whose signatures a message holds; empty if there are none, or if it does not show."""
    calls = as_objects(message.get("tool_calls"))
    ids = [as_id(call.get("id")) for call in calls]
    fields = [as_object(call.get("provider_specific_fields")) for call in calls]
    if any("__thought__" in one for one in ids) or any("thought_signature" in one for one in fields):
        return "gemini"
    if "thought_signatures" in as_object(message.get("provider_specific_fields")):
        return "gemini"
    if message.get(_ITEMS):
        return "openai-responses"
    if not message.get("thinking_blocks"):
        return ""
    return "bedrock" if any(one.startswith("tooluse_") for one in ids) else "anthropic"


def _plain(messages: Sequence[Any]) -> list[JsonObject]:
    return as_objects(ingest_sent(list(messages)))
