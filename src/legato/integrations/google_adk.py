"""Google ADK: contents that any provider takes.

    Agent(name="reader", model=model, tools=tools, before_model_callback=legato_before_model())

In:  the contents of a request, in which ADK keeps every history in the form of Gemini, and the model that they go to:
     a Gemini, or through `LiteLlm` any other.
Out: contents that the model's provider takes. The session stays as it is: only the request is changed.

Contents do not say which model an answer is from; the events of the session do, and calls and signatures lead there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import msgspec

from legato.formats.document import Document
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text
from legato.formats.google_adk import read_events
from legato.integrations.forms import answers, in_form
from legato.integrations.keeping import keep_own
from legato.integrations.naming import find_target
from legato.integrations.settling import SettledHistory, settle
from legato.model import Dialect, Json, JsonObject, Target, Thinking

__all__ = ["legato_before_model", "read_adk_contents", "settle_adk_contents"]

_FORM = "gemini/gemini-3-pro-preview"
_SIGNED = (Dialect.ANTHROPIC, Dialect.BEDROCK)


def read_adk_contents(contents: Sequence[Any], events: Sequence[Any] = ()) -> Document:
    """The conversation in contents; `events` of their session tell which model each answer is from."""
    return _read(_dumped(contents), models=_models(events))


def settle_adk_contents(contents: Sequence[Any], model: str | Target, events: Sequence[Any] = ()) -> list[Any]:
    """The same contents as `model` takes them: a route, or a model as ADK or LiteLLM names it."""
    return _settled(contents, _asked(model), _models(events))[0]


def legato_before_model(target: str | Target | None = None) -> Callable[[Any, Any], None]:
    """A callback for `Agent(before_model_callback=…)`. Without a `target` it is the model that the agent asks."""

    def before_model(callback_context: Any, llm_request: Any) -> None:
        session: Any = getattr(callback_context, "session", None)
        contents, _ = _settled(
            llm_request.contents,
            _asked(llm_request.model if target is None else target),
            _models(getattr(session, "events", ())),
            offers_tools=bool(llm_request.tools_dict or llm_request.config.tools),
        )
        llm_request.contents = contents

    return before_model


def _asked(model: str | Target) -> Target:
    if isinstance(model, Target):
        return model
    provider, _, name = model.rpartition("/")
    return find_target(None, provider.partition("/")[0] or "gemini" if "gemini" in name else provider, name)


def _settled(
    contents: Sequence[Any], target: Target, models: dict[str, str], **asked: Any
) -> tuple[list[Any], SettledHistory | None]:
    before = _dumped(contents)
    read = partial(_read, models=models, asked=target.model)
    document = read(before)
    if not document.entries:
        return list(contents), None
    settled = settle(document, target, **asked)
    items = keep_own(before, _written(settled), read, settled, has_one_form=True, is_foreign=_is_malformed)
    kind: Any = import_module("google.genai.types").Content
    return [
        contents[item] if isinstance(item, int) else kind.model_validate_json(msgspec.json.encode(item))
        for item in items
    ], settled


def _is_malformed(content: JsonObject) -> bool:
    """Whether a content holds calls and is not the model's, or results and is; or a result that names no function."""
    parts = as_objects(content.get("parts"))
    wrong = "functionResponse" if content.get("role") == "model" else "functionCall"
    results = [as_object(part["functionResponse"]) for part in parts if part.get("functionResponse")]
    return any(part.get(wrong) for part in parts) or not all(result.get("name") for result in results)


def _written(settled: SettledHistory) -> list[JsonObject]:
    contents = in_form(settled, _FORM)
    if settled.target.dialect in _SIGNED:
        for said, content in answers(settled, contents, "model"):
            thoughts = [block for block in said.blocks if isinstance(block, Thinking)]
            content["parts"] = [*filter(None, map(_thought, thoughts)), *as_list(content.get("parts"))]
    return contents


def _thought(block: Thinking) -> JsonObject | None:
    """A thought of Claude as ADK keeps it; None for one that has no words, for which it has no form."""
    signature = as_text((block.native or {}).get("signature"))
    return {"text": block.text, "thought": True, "thoughtSignature": signature} if signature and block.text else None


# --- reading ----------------------------------------------------------------------------------------------------------


def _read(contents: Sequence[Json], *, models: dict[str, str], asked: str = "") -> Document:
    return read_events([_event(as_object(content), models, asked) for content in contents])


def _event(content: JsonObject, models: dict[str, str], asked: str) -> JsonObject:
    """A content as an event; one that names none of the session's models has nothing in it that is a model's own."""
    model = next((models[mark] for mark in _marks(content) if mark in models), "")
    author = "agent" if content.get("role") == "model" else "user"
    return {"author": author, "content": content, "modelVersion": model or asked}


def _marks(content: JsonObject) -> list[str]:
    """What tells an answer from others: the ids of its calls, and its signatures."""
    parts = as_objects(content.get("parts"))
    ids = [as_id(as_object(part.get("functionCall")).get("id")) for part in parts]
    return [mark for mark in (*ids, *(as_text(part.get("thoughtSignature")) for part in parts)) if mark]


def _models(events: Sequence[Any]) -> dict[str, str]:
    """The model behind each mark in the events of a session."""
    models: dict[str, str] = {}
    for event in events:
        if event.model_version and event.content is not None:
            models |= dict.fromkeys(_marks(as_object(_dumped([event.content])[0])), str(event.model_version))
    return models


def _dumped(contents: Sequence[Any]) -> list[Json]:
    return [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents]
