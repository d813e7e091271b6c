"""What a unit becomes is a question about the target's grammar, and about nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialect_support import SameIds
from legato.model import Dialect, Entry, Foreign, NameRule, Origin, Target
from legato.request.catalogue import resolve
from legato.wire.context import EncodeContext, End
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from legato.wire.projection.grammar import Grammar
from legato.wire.projection.messages import Projection
from legato.wire.projection.project import Projector

from builders import OTHER_ROUTES, ROUTES, talk, units
from strategies import logs

TARGETS = {route: resolve(route) for route in (*ROUTES, *OTHER_ROUTES)}
BY_DIALECT = {target.dialect: target for target in TARGETS.values()}


def nowhere(origin: Origin | None) -> bool:
    return False


def projections(news: list[Entry], dialect: Dialect, grammar: Grammar, *, foreign: Foreign) -> list[Projection]:
    """What the units of a foreign log become under `grammar` when the shapes of `dialect` are used."""
    target: Target = BY_DIALECT[dialect]
    context = EncodeContext(target, SameIds(), NameTable(NameRule.OPENAI), nowhere, foreign=foreign, thinking_on=True)
    projector = Projector(context, grammar, dialect_parts(dialect).shapes(context).own)
    end = End.START
    made: list[Projection] = []
    for unit in units(talk(*news)):
        made.append(projector.project(unit, end))
        end = made[-1].end
    return [*made, projector.tail(end)]


@pytest.mark.parametrize("route", TARGETS)
@given(news=logs(max_size=8), foreign=st.sampled_from(Foreign))
def test_equal_grammars_give_equal_projections_whatever_the_dialect(
    route: str, news: list[Entry], foreign: Foreign
) -> None:
    target = TARGETS[route]
    grammar = dialect_parts(target.dialect).grammar(target)
    first, *others = (projections(news, dialect, grammar, foreign=foreign) for dialect in Dialect)
    for other in others:
        assert first == other


@pytest.mark.parametrize("route", TARGETS)
def test_what_capabilities_say_is_what_the_grammar_of_every_dialect_says(route: str) -> None:
    target = TARGETS[route]
    capabilities, grammar = target.capabilities, dialect_parts(target.dialect).grammar(target)
    assert grammar.native_calls is capabilities.native_tool_history
    assert grammar.max_calls == capabilities.max_calls
    assert grammar.empty_results is capabilities.empty_text
    assert (grammar.images is not None, grammar.documents is not None) == (capabilities.images, capabilities.documents)
