"""LangChain and LangGraph: messages that any provider takes.

    create_agent(model, tools=tools, middleware=[legato_middleware()])
    create_react_agent(model, tools, pre_model_hook=legato_pre_model_hook(model))

In:  messages of LangChain, and the chat model that they go to.
Out: messages of LangChain that its provider takes. The state of the graph stays as it is: only the request is changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from legato.formats.document import Document
from legato.formats.fields import as_list, as_object, as_text
from legato.formats.format import Outgoing
from legato.formats.langchain.forms import unwrapped
from legato.formats.langchain.reading import read_messages
from legato.formats.langchain.write import write_messages
from legato.integrations.forms import has_foreign_part
from legato.integrations.keeping import answered_by, keep_beside_own_tools, keep_own, keep_same, with_own
from legato.integrations.naming import find_target
from legato.integrations.settling import SettledHistory, settle
from legato.model import Json, JsonObject, Target, ingest
from legato.transcript.conversation import Conversation

__all__ = [
    "legato_middleware",
    "legato_pre_model_hook",
    "read_langchain_messages",
    "settle_langchain_messages",
    "write_langchain_messages",
]


def read_langchain_messages(messages: Sequence[Any]) -> Document:
    """The conversation in messages of LangChain, as objects or in any of their dumps; `notes` tell what was left."""
    before = _dumped(messages)
    return with_own(read_messages(before), before)


def write_langchain_messages(
    source: Document | Conversation, target: str | Target | None = None, *, before: Sequence[Any] = ()
) -> list[Any]:
    """A conversation as messages of LangChain; with a `target`, with the ids and names that its provider takes.

    Without one, messages that were read and still say the same are written as they were, with all that is beside their
    content. A document holds them; a conversation that went on is given those `before`.
    """
    if target is not None:
        return _loaded(write_messages(Outgoing(source, target=find_target(target, "", "")))[0])
    return _loaded(list(map(_as_dict, keep_same(source, _written, read_messages, _dumped(before)))))


def _written(source: Document | Conversation) -> list[JsonObject]:
    return write_messages(Outgoing(source, keeps_ids=True))[0]


def _as_dict(message: JsonObject) -> JsonObject:
    """A message in the form of `messages_to_dict`, whichever of LangChain's forms it is in, and of its own class."""
    kind, fields = unwrapped(message)
    kind = as_text(fields.get("type")) or kind
    return {"type": kind, "data": {**fields, "type": kind}}


def settle_langchain_messages(messages: Sequence[Any], target: Any) -> list[Any]:
    """The same messages as `target` takes them, which is a route or a chat model of LangChain."""
    goal = find_target(target, "", "") if isinstance(target, str | Target) else _asked(None, target)
    return _settled(messages, goal)[0]


def legato_pre_model_hook(target: Any) -> Callable[[Any], dict[str, Any]]:
    """A hook for LangGraph's `create_react_agent(pre_model_hook=…)`: what the model reads, not what the state holds.

    `target` is a route or a chat model of LangChain.
    """

    def before_model(state: Any) -> dict[str, Any]:
        messages: Any = state.messages if hasattr(state, "messages") else state["messages"]
        return {"llm_input_messages": settle_langchain_messages(messages, target)}

    return before_model


def legato_middleware(target: str | Target | None = None) -> Any:
    """A middleware for `create_agent(middleware=[…])`. Without a `target` it is the model that the agent asks.

    It knows the settings of the model, too: thinking is switched off where the model takes its history only so. A fake
    model of LangChain's, as tests have one, is shown everything as it is.
    """
    base: Any = import_module("langchain.agents.middleware").AgentMiddleware

    class LegatoMiddleware(base):
        def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            return handler(_settled_request(request, target))

        async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
            return await handler(_settled_request(request, target))

    return LegatoMiddleware()


def _settled_request(request: Any, chosen: str | Target | None) -> Any:
    if chosen is None and _asks_nobody(request.model):
        return request
    thinks = _thinks(request.model)
    messages, settled = _settled(
        request.messages, _asked(chosen, request.model), thinks=thinks, offers_tools=bool(request.tools)
    )
    request = request.override(messages=messages)
    if thinks and settled is not None and settled.must_not_think:
        request = request.override(model=request.model.model_copy(update={"thinking": None}))
    return request


def _thinks(model: Any) -> bool | None:
    """Whether Claude is asked to think; None for other models, of which it is not asked."""
    if not hasattr(model, "thinking"):
        return None
    return as_text(as_object(model.thinking).get("type")) not in ("", "disabled")


def _asks_nobody(model: Any) -> bool:
    """Whether a model is one of LangChain's for tests, or made of one."""
    return any(kind.__module__.startswith(_FAKES) for kind in type(model).__mro__)


_FAKES = "langchain_core.language_models.fake"


def _asked(chosen: str | Target | None, model: Any) -> Target:
    """The target of a chat model, in the words that LangChain's tracing has for it."""
    if chosen is not None:
        return find_target(chosen, "", "")
    while hasattr(model, "bound"):  # tools or settings are bound to it
        model = model.bound
    named = as_object(ingest(model._get_ls_params()))
    responses: Any = getattr(model, "_use_responses_api", None)
    is_responses = bool(responses is not None and responses({}))
    return find_target(
        None, as_text(named.get("ls_provider")), as_text(named.get("ls_model_name")), is_responses=is_responses
    )


def _settled(messages: Sequence[Any], target: Target, **asked: Any) -> tuple[list[Any], SettledHistory | None]:
    before = _dumped(messages)
    if not read_messages(before).entries:
        return list(messages), None
    ran = {at for at, message in enumerate(before) if _without_own_tools(as_object(message)) != message}
    ran = ran and ran & answered_by(before, read_messages, target)
    items, settled = keep_beside_own_tools(before, ran, _without_own_tools, partial(_kept, target=target, **asked))
    new = iter(_loaded([item for item in items if isinstance(item, dict)]))
    return [messages[item] if isinstance(item, int) else next(new) for item in items], settled


def _kept(before: list[Json], *, target: Target, **asked: Any) -> tuple[list[int | JsonObject], SettledHistory]:
    settled = settle(read_messages(before), target, **asked)
    written, _ = write_messages(Outgoing(settled.conversation, target=settled.target))
    is_foreign = partial(_is_foreign, target=settled.target)
    return keep_own(before, written, read_messages, settled, is_foreign=is_foreign), settled


def _without_own_tools(message: JsonObject) -> JsonObject:
    """A message without what a provider's tools did in it, as far as that is in a form of LangChain's."""
    content = as_list(unwrapped(message).fields.get("content"))
    kept: list[Json] = [part for part in content if as_object(part).get("type") not in _OWN_TOOLS]
    if len(kept) == len(content):
        return message
    holder = next((name for name in ("kwargs", "data") if isinstance(message.get(name), dict)), "")
    return (
        {**message, holder: {**as_object(message[holder]), "content": kept}} if holder else message | {"content": kept}
    )


_OWN_TOOLS = frozenset({"server_tool_call", "server_tool_result", "executable_code", "code_execution_result"})


def _is_foreign(message: JsonObject, *, target: Target) -> bool:
    return has_foreign_part(unwrapped(message).fields.get("content"), target.dialect)


def _dumped(messages: Sequence[Any]) -> list[Json]:
    return [ingest(message.model_dump() if hasattr(message, "model_dump") else message) for message in messages]


def _loaded(messages: list[JsonObject]) -> list[Any]:
    return import_module("langchain_core.messages").messages_from_dict(messages)
