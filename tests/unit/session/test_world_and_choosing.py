"""The surroundings of a session, and what follows from values about who is asked for what."""

import pytest

from legato.errors import UnknownTarget
from legato.model import Capabilities, Include, Options, ThinkingPolicy, ThinkingSwitch
from legato.model.records import TurnBegan
from legato.routing import Policy, Profile, Route
from legato.session import Session, World
from legato.session.choosing import router_for
from legato.session.request_settings import RequestSettings
from legato.simulation import SimulatedTransport
from legato.tools import ToolBox
from legato.transport import HttpTransport, KeyRing
from session_support import CLAUDE, GPT, world

from builders import talk, user


def test_a_target_has_its_own_endpoint_and_the_account_of_its_own_key() -> None:
    keys = KeyRing({"anthropic": "key-one", "openai": "key-two"}, {})
    here = World(transport=SimulatedTransport(), keys=keys, endpoints={"anthropic": "http://127.0.0.1:1/anthropic"})
    claude, gpt = here.target(CLAUDE), here.target(GPT)
    assert (claude.endpoint, claude.account) == ("http://127.0.0.1:1/anthropic", keys.account("anthropic"))
    assert gpt.endpoint.startswith("https://api.openai.com")
    assert gpt.account == keys.account("openai") != claude.account


def test_what_a_route_costs_that_names_nobody_any_more_is_unknown() -> None:
    here = world()
    with pytest.raises(UnknownTarget):
        here.target("gone/model")
    assert here.prices("gone/model") == Capabilities()
    assert here.prices(CLAUDE).price_input == 3.0


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_closing_a_world_closes_its_connections_where_it_has_any() -> None:
    await world().aclose()
    closed: list[str] = []

    class Noticed(HttpTransport):
        async def aclose(self) -> None:
            closed.append("yes")
            await super().aclose()

    await world(Noticed()).aclose()
    assert closed == ["yes"]


def test_the_options_of_a_route_lie_over_the_general_ones() -> None:
    general = Options(stream=True, max_tokens=100, temperature=0.5)
    settings = RequestSettings(tools=ToolBox(), system="", options=general, thinking=ThinkingPolicy())
    own = Route(CLAUDE, options=Options(max_tokens=50, thinking=ThinkingSwitch.ON))
    both = Options(stream=True, max_tokens=50, temperature=0.5, thinking=ThinkingSwitch.ON)
    assert settings.options_for(own) == both
    assert settings.options_for(Route(GPT)) is general


def test_a_rotation_goes_on_where_the_last_turn_was() -> None:
    rotation = Profile("all", (Route(CLAUDE), Route(GPT)), Policy.ROUND_ROBIN)
    log = talk(user("Hello"), TurnBegan(turn=1, route=CLAUDE)).log
    assert router_for(rotation, world(), log).choose(2).name == GPT
    assert router_for(rotation, world(), ()).choose(1).name == CLAUDE


def test_a_session_goes_by_the_policy_about_thoughts_that_it_was_given() -> None:
    policy = ThinkingPolicy(Include.CURRENT_TURN)
    assert Session(CLAUDE, world=world(), thinking=policy).thinking == policy
    assert Session(CLAUDE, world=world()).thinking == ThinkingPolicy()
