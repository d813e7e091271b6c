"""The last step of an envelope: what every dialect encodes in the same way."""

from __future__ import annotations

from legato.model import Action, Decision, JsonObject
from legato.model.json_access import as_object
from legato.wire.options.grammar import OptionGrammar
from legato.wire.options.paths import merged
from legato.wire.options.settling import Settled
from legato.wire.projection.decisions import projected


def complete(fields: JsonObject, settled: Settled, grammar: OptionGrammar) -> tuple[JsonObject, tuple[Decision, ...]]:
    """The fields of a body with the options of the table and with what no option covers, and decisions about those.

    Parts of an object that the dialect writes (`thinking.display`) are in `extra` too. Where the object itself is not
    there, because the model does not think for instance, a part alone would be refused.
    """
    if not settled.fields and not settled.extra:
        return fields, ()
    whole = merged(merged(fields, settled.fields), settled.extra)
    left = [name for name in settled.extra if name in grammar.dependent and not _may_stand(name, whole, grammar)]
    if not left:
        return whole, ()
    detail = f"fields that mean nothing in this request were left out: {', '.join(left)}"
    written = {name: value for name, value in whole.items() if name not in left}
    return written, (projected(Action.DROPPED, "extra-fields", detail),)


def _may_stand(name: str, body: JsonObject, grammar: OptionGrammar) -> bool:
    needed = grammar.dependent[name]
    return "type" in as_object(body[name]) if needed == name else needed in body
