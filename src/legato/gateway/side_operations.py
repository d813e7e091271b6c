"""What clients ask beside answers: which models there are, and how long a request is.

In:  the names that are offered, with the target that answers under each; or a request that is only to be counted.
Out: the body of the response, in the shape of whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from legato.errors import ImpossibleRequest, UnknownTarget
from legato.gateway.contract import Door
from legato.gateway.refusals import client_habits
from legato.model import Entry, JsonObject, Media, Target, ToolResponse
from legato.model.json_access import as_object
from legato.request import render
from legato.request.tokens import Estimator
from legato.transport import model_cards
from legato.transport.model_cards import ModelCard
from legato.transport.operations import Operation
from legato.wire.contract import Parsed


def models_body(door: Door, offered: Mapping[str, Target]) -> JsonObject:
    """What is offered, or the one model that the client asks about; raises `UnknownTarget` if there is none.

    `offered` holds profiles, routes and what else names one, each with the target that answers first under it.
    """
    habits = client_habits(door)
    cards = [ModelCard(name, target.provider, target.capabilities) for name, target in offered.items()]
    if door.operation is not Operation.MODEL:
        return model_cards.list_models(cards, door.dialect, habits)
    card = next((card for card in cards if card.name == door.name), None)
    if card is None:
        raise UnknownTarget(f"no profile and no route of this gateway is called {door.name!r}", route=door.name)
    return model_cards.one_model(card, door.dialect, habits)


def counted_request(body: JsonObject) -> JsonObject:
    """The request that is to be counted: Google's clients may put a whole one, with its tools, into a field."""
    return as_object(body.get("generateContentRequest")) or body


def count_body(door: Door, tokens: int) -> JsonObject:
    """How a client at `door` is told that its request has `tokens`."""
    return model_cards.count_body(tokens, door.dialect)


def count_tokens(parsed: Parsed, target: Target, estimator: Estimator) -> int:
    """The tokens of a request as `target` would get it: what is closed, left out or added there counts as well.

    A request that could never be sent, such as one lone result of a function, is counted like any other, and options
    that the target would refuse are left out: nobody asks for an answer.
    """
    talk = parsed.conversation()
    try:
        request = render(talk, target, tools=parsed.tools, options=parsed.options)
    except ImpossibleRequest:
        request = render(talk, target, tools=parsed.tools)
    return estimator.tokens_with_media(target.route, request.json(), _media(parsed.entries))


def _media(entries: Sequence[Entry]) -> list[Media]:
    found: list[Media] = []
    for entry in entries:
        for block in entry.blocks:
            if isinstance(block, Media):
                found.append(block)
            elif isinstance(block, ToolResponse):
                found += block.media
    return found
