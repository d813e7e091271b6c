"""Settle the options that are fields of a body and nothing more, and the fields that no option covers.

In:  the options of a request, and the rooms that the table has for them.
Out: fields of the body. What has no room, or is beyond what the target takes, is a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from legato.model import Action, JsonObject, OutputFormat
from legato.wire.options.enforced import closed, is_closed
from legato.wire.options.paths import merged
from legato.wire.options.schemas import arguments_schema
from legato.wire.options.table import rooms_of
from legato.wire.options.thinking import Situation
from legato.wire.phrases import FITS_SCHEMA
from legato.wire.projection.decisions import projected

_SAYS_JSON = "Answer in JSON."
_MOST_LABELS, _LONGEST_LABEL = 16, 512
"""https://platform.openai.com/docs/api-reference/responses/create#responses-create-metadata"""


def settle_fields(situation: Situation, *, temperature: float | None, has_tools: bool) -> JsonObject:
    """The options of the table as fields of the body."""
    options, rooms = situation.options, rooms_of(situation.context.target)
    asked: dict[str, Any] = {
        "top_p": _top_p(situation, temperature),
        "top_k": _top_k(situation),
        "seed": options.seed,
        "stop": _stop(situation),
        "output": options.output,
        "parallel_calls": options.parallel_calls if has_tools else None,
        "verbosity": options.verbosity,
        "metadata": options.metadata or None,
        "cache_ttl": (options.cache_ttl or None) if options.cache else None,
    }
    fields: JsonObject = {}
    for option, value in asked.items():
        room = rooms[option]
        is_left = room.write is None or (room.own_only and not is_at_home(situation))
        if value is None or (option == "parallel_calls" and value and is_left):
            continue  # in parallel is how all of them do it
        if room.write is None or is_left:
            situation.adjust(reason_for(option), f"{option} was left out: {room.why}")
            continue
        if option == "output":
            value = _output(value, situation)
        elif option == "metadata":
            value = _labels(value, room.fields, situation)
        if value is not None:
            fields = merged(fields, room.write(value))
    return fields


def reason_for(option: str) -> str:
    """The reason of a decision about `option`."""
    return {"output": "output-format"}.get(option, option.replace("_", "-"))


def is_at_home(situation: Situation) -> bool:
    """Whether the options were read from a request to this very kind of server."""
    home = situation.options.home
    return bool(home) and situation.context.target.understands(home)


# --- sampling ---------------------------------------------------------------------------------------------------------


def _top_p(situation: Situation, temperature: float | None) -> float | None:
    asked, grammar = situation.options.top_p, situation.grammar
    if asked is None:
        return None
    if not situation.capabilities.temperature:
        situation.adjust("top-p", "the model takes no top_p")
        return None
    if situation.context.thinking_on and asked < grammar.top_p_while_thinking:
        situation.adjust("top-p", f"top_p is at least {grammar.top_p_while_thinking} while the model thinks")
        return None
    if temperature is not None and grammar.temperature_or_top_p and not is_at_home(situation):
        situation.adjust("top-p", "the target takes either a temperature or top_p, so the temperature is sent")
        return None
    if 0 <= asked <= 1:
        return asked
    situation.adjust("top-p", f"{asked} is not between 0 and 1")
    return min(1.0, max(0.0, asked))


def _top_k(situation: Situation) -> int | None:
    asked = situation.options.top_k
    room = rooms_of(situation.context.target)["top_k"]
    if asked is None or room.write is None or room.own_only:
        return asked
    if not situation.capabilities.temperature:
        situation.adjust("top-k", "the model takes no top_k")
        return None
    if situation.context.thinking_on and not situation.grammar.top_k_while_thinking:
        situation.adjust("top-k", "top_k cannot be set while the model thinks")
        return None
    return asked


def _stop(situation: Situation) -> Sequence[str] | None:
    asked, most = situation.options.stop, situation.grammar.max_stops
    if "" in asked and rooms_of(situation.context.target)["stop"].write is not None:
        asked = tuple(filter(None, asked))
        situation.adjust("stop", "an empty stop sequence ends nothing and was left out")
    if most is None or len(asked) <= most:
        return asked or None
    situation.adjust("stop", f"the target takes {most} stop sequences, so the first {most} of {len(asked)} are sent")
    return asked[:most]


# --- the form of the answer -------------------------------------------------------------------------------------------


def _output(asked: OutputFormat, situation: Situation) -> OutputFormat | None:
    grammar = situation.grammar
    if is_at_home(situation):
        return asked
    if asked.schema is not None and not grammar.json_schemas:
        situation.adjust("output-format", "the target takes no schema for its answer, so any JSON is asked for")
        return OutputFormat()
    if asked.schema is None and not grammar.json_mode:
        situation.adjust("output-format", "the target has JSON by a schema only, so the instructions ask for it")
        return None
    return asked if asked.schema is None else _portable(asked, asked.schema, situation)


def _portable(asked: OutputFormat, schema: JsonObject, situation: Situation) -> OutputFormat:
    """The form for a provider that it was not written for: a schema is refused if it cannot be enforced."""
    schema = arguments_schema(schema)  # Google's own kind of schema is no one else's
    if situation.grammar.closed_schemas:
        written = closed(schema)
        if written != schema:
            situation.adjust("output-format", "the target wants objects that allow no other properties")
        return OutputFormat(schema=written, name=asked.name, description=asked.description, strict=asked.strict)
    if asked.strict and not is_closed(schema):
        situation.adjust("output-format", "the schema of the answer cannot be enforced here")
        return OutputFormat(schema=schema, name=asked.name, description=asked.description)
    return replace(asked, schema=schema)


def with_form_of_json(system: str, situation: Situation) -> str:
    """The instructions, which describe the JSON that is wanted where the target has no field that does.

    That is a schema, and the word "JSON" itself where the target refuses to answer in it unless something says so:
    https://platform.openai.com/docs/guides/structured-outputs#json-mode
    """
    output, grammar = situation.options.output, situation.grammar
    if output is None or is_at_home(situation):
        return system
    if output.schema is not None:
        if grammar.json_schemas:
            return system
        words = FITS_SCHEMA + msgspec.json.encode(arguments_schema(output.schema)).decode()
        detail = "the target takes no schema for its answer, so the instructions have it"
    elif not grammar.says_json or "json" in system.lower():
        return system
    else:
        words = _SAYS_JSON
        detail = "the target answers in JSON only if the word is said, so the instructions say it"
    if grammar.json_mode:
        situation.decisions.append(projected(Action.INSERTED, "output-format", detail))
    return f"{system}\n\n{words}" if system else words


# --- labels, and what no option covers --------------------------------------------------------------------------------


def _labels(asked: JsonObject, room: str, situation: Situation) -> JsonObject | None:
    if is_at_home(situation):
        return asked
    fitting = {name: value for name, value in asked.items() if isinstance(value, str) and len(value) <= _LONGEST_LABEL}
    kept = dict(list(fitting.items())[:_MOST_LABELS])
    if "user_id" in room:  # Anthropic's, where there is only this one
        kept = {name: value for name, value in kept.items() if name == "user_id"}
    if len(kept) < len(asked):
        left = ", ".join(name for name in asked if name not in kept)
        situation.adjust("metadata", f"labels that the target does not take were left out: {left}")
    return kept or None


def settle_extra(situation: Situation) -> JsonObject:
    """The fields that no option covers, if the target is one that knows them."""
    options, target = situation.options, situation.context.target
    if not options.extra or target.is_sent_extra_of(options.home):
        return options.extra
    detail = f"fields that only {options.home} knows were left out: {', '.join(sorted(options.extra))}"
    situation.decisions.append(projected(Action.DROPPED, "extra-fields", detail))
    return {}
