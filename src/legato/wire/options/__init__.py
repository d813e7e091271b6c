"""Settle what a request asks for against what its target accepts, once for every dialect.

grammar     what the format of a target has room for, as data
settle      options and tools in, `Settled` out: values that can be sent as they are, and the decisions about them
schemas     the schemas of tools as JSON Schema
thinking    the part of it that is about thinking: switch, effort and budget
efforts     the one scale of effort, and what a family of models gets for a word or a budget
"""

from __future__ import annotations

from legato.wire.options.efforts import effort_word, plainly
from legato.wire.options.grammar import SWITCHABLE, OptionGrammar, Switch
from legato.wire.options.settle import Envelope, Settled, settle, with_extra

__all__ = [
    "SWITCHABLE",
    "Envelope",
    "OptionGrammar",
    "Settled",
    "Switch",
    "effort_word",
    "plainly",
    "settle",
    "with_extra",
]
