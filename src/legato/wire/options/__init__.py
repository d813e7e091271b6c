"""Settle what a request asks for against what its target accepts, once for every dialect.

envelope    what surrounds the units, in neutral words
grammar     what the format of a target has room for, as data
settle      options and tools in, `Settled` out: values that can be sent as they are, and the decisions about them
schemas     the schemas of tools as JSON Schema
enforced    what a schema must be like for a provider that enforces it
tools       the part of it that is about tools: kinds, namespaces, names, and the choice among them
thinking    the part that is about thinking: switch, effort and budget
efforts     the one scale of effort, and what a family of models gets for a word or a budget
fields      the part that is about fields of the body, which `table` names for each kind of server
table       every option that is a field, and where each kind of server has room for it, both ways
values      what a field of a body is taken for, by its type
formats     the form of an answer (JSON, a schema) in the words of each dialect
"""

from __future__ import annotations

from legato.wire.options.completing import complete
from legato.wire.options.efforts import effort_word, plainly
from legato.wire.options.envelope import Envelope
from legato.wire.options.grammar import SWITCHABLE, OptionGrammar, Switch
from legato.wire.options.settling import Settled, settle

__all__ = [
    "SWITCHABLE",
    "Envelope",
    "OptionGrammar",
    "Settled",
    "Switch",
    "complete",
    "effort_word",
    "plainly",
    "settle",
]
