"""OpenAI Agents SDK: input that any provider takes, and sessions in Legato's store.

    RunConfig(call_model_input_filter=legato_input_filter())
    Runner.run(agent, "hello", session=StoreSession("ada", store="sessions.db"))

In:  items of the Responses API, in which the SDK keeps every history, and the model of the agent.
Out: items that the model's provider takes, through whichever of the SDK's models it is asked. What a session holds
     stays as it is: only the request is changed.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from legato.formats.document import Document
from legato.formats.fields import as_objects, as_text
from legato.formats.openai_agents.reading import read_items
from legato.formats.reading import read
from legato.integrations.agents_session import StoreSession
from legato.integrations.forms import in_form, is_accepted
from legato.integrations.keeping import keep_own
from legato.integrations.naming import find_target
from legato.integrations.settling import SettledHistory, settle
from legato.model import Dialect, Entry, JsonObject, Speaker, Target, ingest_sent

__all__ = ["StoreSession", "legato_input_filter", "read_run_items", "read_run_state", "settle_run_items"]

_FORM = "openai-responses/gpt-5"


def read_run_items(items: str | Sequence[Any]) -> Document:
    """The conversation in the input of a run, or in what a session gives; `notes` tell what was not understood."""
    return read_items(_plain(items))


def read_run_state(state: Any) -> Document:
    """The conversation in a `RunState`, in the text that its `to_string()` gives, or in a file that holds that text."""
    if isinstance(state, Path):
        return read(state)
    text: Any = state if isinstance(state, str | bytes) else state.to_string()
    return read(text.encode() if isinstance(text, str) else text)


def settle_run_items(items: str | Sequence[Any], target: Any) -> list[JsonObject]:
    """The same items as `target` takes them, which is a route, or a model or the name of a model of the SDK."""
    goal = target if isinstance(target, Target) else _asked(target)
    return _settled(_plain(items), goal)


def legato_input_filter(target: str | Target | None = None) -> Callable[[Any], Any]:
    """A filter for `RunConfig(call_model_input_filter=…)`.

    Without a `target` it is the agent's model; name it where `RunConfig(model=…)` takes the place of that. It is for
    histories that the program sends; one that OpenAI keeps (`conversation_id`) cannot be changed.
    """

    def before_model(data: Any) -> Any:
        goal = find_target(target, "", "") if target is not None else _asked(data.agent.model)
        settings = data.agent.model_settings
        items = _settled(
            _plain(data.model_data.input),
            goal,
            stores=getattr(settings, "store", None) is not False,
            thinks=_thinks(settings),
            offers_tools=bool(data.agent.tools or data.agent.handoffs or data.agent.mcp_servers),
        )
        return dataclasses.replace(data.model_data, input=items)

    return before_model


def _thinks(settings: Any) -> bool | None:
    """Whether the settings of an agent ask for thoughts; None where they say nothing about it."""
    reasoning: Any = getattr(settings, "reasoning", None)
    effort: Any = getattr(reasoning, "effort", None)
    return None if effort is None else effort != "none"


def _asked(model: Any) -> Target:
    """The target of a model of the SDK, or of the name of one: LiteLLM's begin with `litellm/` and the provider."""
    if model is None:
        model = import_module("agents.models.default_models").get_default_model()
    if isinstance(model, str):
        named = model.removeprefix("litellm/").removeprefix("any-llm/")
        is_own = named == model and named.partition("/")[0] in (named, "openai")
        return find_target(
            None,
            named.rpartition("/")[0] or "openai",
            named.rpartition("/")[2],
            is_responses=is_own and _speaks_responses(),
        )
    name = str(getattr(model, "model", ""))
    is_responses = "Responses" in type(model).__name__
    provider = name.partition("/")[0] if "/" in name else "" if "itellm" in type(model).__name__ else "openai"
    return find_target(None, provider, name.rpartition("/")[2], is_responses=is_responses)


def _speaks_responses() -> bool:
    """Whether the name of a model leads to the Responses API; a program may have called `set_default_openai_api`."""
    speaks: Any = getattr(sys.modules.get("agents.models._openai_shared"), "get_use_responses_by_default", None)
    return speaks is None or bool(speaks())


def _settled(items: list[JsonObject], target: Target, *, stores: bool = True, **asked: Any) -> list[JsonObject]:
    is_items = target.dialect is Dialect.OPENAI_RESPONSES
    if (
        is_items
        and not any("provider_data" in item for item in items)
        and is_accepted(items, target, **({} if stores else {"store": False}))
    ):
        return items
    document = read_items(items)
    if not document.entries:
        return items
    if is_items:
        document = dataclasses.replace(document, entries=_of_this_run(document.entries, target))
    settled: SettledHistory = settle(document, target, **asked)
    written = in_form(settled, _FORM)
    if rules := settled.conversation.instructions:
        written.insert(0, {"role": "system", "content": rules})
    kept = keep_own(items, written, read_items, settled, is_foreign=partial(_is_foreign, is_items=is_items))
    return [items[item] if isinstance(item, int) else item for item in kept]


def _is_foreign(item: JsonObject, *, is_items: bool) -> bool:
    """Whether an item is in no form that the model's API has: calls are items of their own, and no parts of a content.

    Of the calls in the Responses API, the SDK has a form of other APIs for those of functions alone.
    """
    kinds = [as_text(part.get("type")) for part in as_objects(item.get("content"))]
    if not is_items and not (kind := as_text(item.get("type"))).startswith("function_"):
        kinds.append(kind)
    return any(kind.endswith(("_call", "_call_output")) for kind in kinds)


def _of_this_run(entries: list[Entry], target: Target) -> list[Entry]:
    """The entries, with answers since a person spoke last as the target's: items of Responses name no model."""
    last = max((at for at, entry in enumerate(entries) if entry.speaker is Speaker.HUMAN), default=-1)
    return [
        replace(entry, origin=target.origin()) if at > last and _is_unnamed(entry) else entry
        for at, entry in enumerate(entries)
    ]


def _is_unnamed(entry: Entry) -> bool:
    return entry.speaker is Speaker.AI and (entry.origin is None or not entry.origin.asked)


def _plain(items: str | Sequence[Any]) -> list[JsonObject]:
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    return as_objects(ingest_sent(list(items)))
