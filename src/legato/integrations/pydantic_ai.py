"""Pydantic AI: histories that any provider takes.

    Agent(model, capabilities=[Hooks(before_model_request=legato_request())])   # the request alone is changed
    Agent(model, capabilities=[ProcessHistory(legato_history())])               # the history is, too

In:  a history of `ModelMessage`, and the model that the agent is about to ask.
Out: a history of `ModelMessage` that its provider takes. Messages that were right are the very same objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from legato.formats.document import Document
from legato.formats.fields import as_object, as_objects
from legato.formats.format import Outgoing
from legato.formats.pydantic_ai.reading import read_messages
from legato.formats.pydantic_ai.write import write_messages
from legato.integrations.keeping import answered_by, keep_beside_own_tools, keep_own, keep_same, with_own
from legato.integrations.naming import find_target
from legato.integrations.settling import SettledHistory, settle
from legato.model import Json, JsonObject, Target
from legato.transcript.conversation import Conversation

__all__ = [
    "legato_history",
    "legato_request",
    "read_model_messages",
    "settle_model_messages",
    "write_model_messages",
]

_OF_THE_RUN = ("instructions", "run_id", "conversation_id", "timestamp", "metadata")
"""what the last request of a history holds beside its parts; it belongs to the run, and no model is sent it by us"""


def read_model_messages(messages: Sequence[Any]) -> Document:
    """The conversation in a history of `ModelMessage`; its `notes` tell what was not understood."""
    before = _dumped(messages)
    return with_own(read_messages(before), before)


def write_model_messages(
    source: Document | Conversation, target: str | Target | None = None, *, before: Sequence[Any] = ()
) -> list[Any]:
    """A conversation as `ModelMessage`; with a `target`, with the ids and names that its provider takes.

    Without one, nothing of a history that was read is lost: messages that still say the same are written as they were,
    with their times, usage and ids. A document holds them; a conversation that went on is given those `before`.
    """
    if target is not None:
        return _loaded(write_messages(Outgoing(source, target=find_target(target, "", "")))[0])
    return _loaded(keep_same(source, _written, read_messages, _dumped(before)))


def _written(source: Document | Conversation) -> list[JsonObject]:
    return write_messages(Outgoing(source, keeps_ids=True))[0]


def settle_model_messages(messages: Sequence[Any], target: Any) -> list[Any]:
    """The same history for `message_history=`, behind which a person says something: `target` takes it.

    `target` is a route, or a model of Pydantic AI. An agent refuses a new prompt behind calls without results, before
    any hook is asked; here they have some.
    """
    chosen = _ANYONE if _asks_nobody(target) else target if isinstance(target, str | Target) else None
    goal = _asked(chosen, target)
    return _settled(messages, goal, is_whole=False)[0]


def legato_history(target: str | Target | None = None) -> Callable[..., Any]:
    """A history processor, for `ProcessHistory`, or for `history_processors=` before version 2.

    Pydantic AI stores what a processor returns. Without a `target` it is the model that the run asks.
    """

    def process(ctx: Any, messages: list[Any]) -> list[Any]:
        if target is None and _asks_nobody(ctx.model):
            return messages
        return _settled(messages, _asked(target, ctx.model))[0]

    # The context is given to a function whose first argument says, in its annotation, that it wants one.
    process.__annotations__ = {"ctx": import_module("pydantic_ai").RunContext[Any], "messages": list[Any]}
    return process


def legato_request(target: str | Target | None = None) -> Callable[[Any, Any], Any]:
    """A hook for `Hooks(before_model_request=…)`: it changes what is sent and leaves the history as it is.

    It knows the settings of the request, too: thinking is switched off where the model takes its history only so. A
    model for tests (`TestModel`, `FunctionModel`) is shown everything as it is.
    """

    async def before(ctx: Any, request: Any) -> Any:
        if target is None and _asks_nobody(request.model):
            return request
        settings: dict[str, Any] = dict(request.model_settings or {})
        offers = request.model_request_parameters
        messages, settled = _settled(
            request.messages,
            _asked(target, request.model),
            thinks=_thinks(settings),
            offers_tools=bool(offers.function_tools or offers.output_tools),
        )
        if settled is not None and settled.must_not_think:
            kept = {name: value for name, value in settings.items() if name not in _THINKING}
            settings = {**kept, "thinking": False}
        return replace(request, messages=messages, model_settings=settings or None)

    return before


_THINKING = ("thinking", "anthropic_thinking", "anthropic_effort")


def _thinks(settings: dict[str, Any]) -> bool | None:
    own = as_object(settings.get("anthropic_thinking"))
    if own:
        return own.get("type") != "disabled"
    return bool(settings["thinking"]) if settings.get("thinking") is not None else None


def _asks_nobody(model: Any) -> bool:
    """Whether a model is one for tests, which answers by itself."""
    return getattr(_innermost(model), "system", None) in ("test", "function")


_ANYONE = "openai/gpt-4.1"
"""whose rules a history is settled by that goes to no provider: it lacks nothing that any of them asks for"""


def _innermost(model: Any) -> Any:
    """The model that asks; of several in one the first of them."""
    while (inner := getattr(model, "wrapped", None) or next(iter(getattr(model, "models", ())), None)) is not None:
        model = inner
    return model


def _asked(chosen: str | Target | None, model: Any) -> Target:
    """The target of a model of Pydantic AI."""
    if chosen is not None:
        return find_target(chosen, "", "")
    model = _innermost(model)
    is_responses = "Responses" in type(model).__name__
    return find_target(chosen, str(model.system), str(model.model_name), is_responses=is_responses)


def _settled(messages: Sequence[Any], target: Target, **asked: Any) -> tuple[list[Any], SettledHistory | None]:
    before = _dumped(messages)
    if not read_messages(before).entries:
        return list(messages), None
    ran = {at for at, message in enumerate(before) if _without_own_tools(as_object(message)) != message}
    ran = ran and ran & answered_by(before, read_messages, target)
    items, settled = keep_beside_own_tools(before, ran, _without_own_tools, partial(_kept, target=target, **asked))
    last = items[-1]
    if isinstance(last, dict) and last.get("kind") == "request":
        own = as_object(before[-1])
        items[-1] = {**last, **{name: own[name] for name in _OF_THE_RUN if own.get(name) is not None}}
    new = iter(_loaded([_unclaimed(item) for item in items if isinstance(item, dict)]))
    return [messages[item] if isinstance(item, int) else next(new) for item in items], settled


def _kept(before: list[Json], *, target: Target, **asked: Any) -> tuple[list[int | JsonObject], SettledHistory]:
    document = replace(read_messages(before), system="")  # the run sends its instructions itself
    settled = settle(document, target, moves_media=False, **asked)
    written, _ = write_messages(Outgoing(settled.conversation, target=settled.target))
    return keep_own(before, written, read_messages, settled, has_one_form=True), settled


def _without_own_tools(message: JsonObject) -> JsonObject:
    parts = [part for part in as_objects(message.get("parts")) if part.get("part_kind") not in _OWN_TOOLS]
    return {**message, "parts": [*parts]}


_OWN_TOOLS = frozenset({"builtin-tool-call", "builtin-tool-return"})


def _unclaimed(message: JsonObject) -> JsonObject:
    """A message that was written anew, without the model that it is written for, unless it holds a thought of it.

    It may be another's answer, and a history that is stored should not say otherwise.
    """
    if any("provider_name" in part for part in as_objects(message.get("parts"))):
        return message
    return {name: value for name, value in message.items() if name not in _CLAIMS}


_CLAIMS = frozenset({"model_name", "provider_name", "model_id"})


def _dumped(messages: Sequence[Any]) -> list[Json]:
    return import_module("pydantic_ai.messages").ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")


def _loaded(messages: list[JsonObject]) -> list[Any]:
    return import_module("pydantic_ai.messages").ModelMessagesTypeAdapter.validate_python(messages)
