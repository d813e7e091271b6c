"""Slash commands about who answers, and what may run unasked."""

from __future__ import annotations

from legato.cli.chat.slash.contract import Chat, Next
from legato.cli.chat.slash.layout import indented
from legato.cli.chat.slash.model_picker import COLUMNS, in_words, models_to_pick, picker_rows
from legato.cli.exits import line_of
from legato.cli.providers import find_profile, missing_credentials, profiles_of, require_usable
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.picker import fits
from legato.cli.terminal.styles import Style
from legato.cli.terminal.words import seconds, subject_of
from legato.errors import CallerError, LegatoError
from legato.routing import Profile, Route, only
from legato.session import State
from legato.tools import Mode


async def model(chat: Chat, route: str) -> Next:
    """`/model`: pick who answers from now on, or name them; told is what the switch costs.

    Words that name no route are looked for: `/model opus`.
    """
    if "/" not in route:
        picked = await _pick_model(chat, route)
        if picked is None:
            chat.screen.line(f"{chat.session.route} answers.")
            return None
        route = picked
    profile = only(route)
    require_usable(chat.setup.settings, profile)
    told = in_words(chat.session.preview_switch(route), chat.session)
    await _switch(chat, profile)
    for line in indented(f"  {told}", chat.screen.width):
        chat.screen.line(line, Style.DIM)
    return None


async def _pick_model(chat: Chat, search: str) -> str | None:
    models = models_to_pick(chat.session.world.catalogue, chat.setup.settings)
    rows = picker_rows(models, chat.session, chat.setup.settings)
    if not any(fits(row, search) for row in rows):
        return search  # it is said why that is no route
    picked = await chat.pick("Who answers", rows, columns=COLUMNS, search=search)
    return None if picked is None else models[picked].route


async def route(chat: Chat, name: str) -> Next:
    """`/route`: the profiles and how their routes are, or another one from now on."""
    profiles = profiles_of(chat.setup.settings)
    if name:
        profile = find_profile(chat.setup.settings, name)
        require_usable(chat.setup.settings, profile)
        await _switch(chat, profile)
        return None
    if not profiles:
        chat.screen.line("No profiles are configured; add [profiles.NAME] with policy and routes to the settings.")
    present = chat.session.router.pending or chat.session.router.profile
    for profile in profiles.values():
        mark = "▸" if profile.name == present.name else " "
        chat.screen.line(f"{mark} {profile.name}: {profile.policy}")
        for one in profile.routes:
            chat.screen.line(f"    {one.name}: {_health(chat, one)}", Style.DIM)
    if present.name not in profiles:
        chat.screen.line(f"▸ {present.routes[0].name}: {_health(chat, present.routes[0])}")
    return None


def _health(chat: Chat, route: Route) -> str:
    """How a route is: what is wrong with it, or how it did in this process."""
    try:
        missing = missing_credentials(chat.setup.settings, route)
    except LegatoError as error:
        return line_of(error)
    if missing is not None:
        return missing.brief
    if chat.session.state is State.WAITING and route.name == chat.session.route:
        return "fails at present; is tried again"
    world = chat.session.world
    condition = world.health.condition(route.name)
    if not condition.failures:
        return "well"
    times = f"failed {condition.failures} time{'s' * (condition.failures != 1)}"
    rest = condition.rests_until - world.monotonic()
    return f"{times}; rests for {seconds(rest)}" if rest > 0 else f"{times}; is tried with the next message"


async def _switch(chat: Chat, profile: Profile) -> None:
    switched = await chat.session.switch(profile)
    if not switched.deferred:  # else an event of the turn that is under way says so
        chat.screen.line(f"{switched.route} answers from now on.")


async def approval(chat: Chat, mode: str) -> Next:
    """`/approval`: how far tools may go unasked, and which rules there are."""
    approval = chat.setup.approval
    if mode:
        try:
            approval.mode = Mode(mode)
        except ValueError:
            raise CallerError(f"there is no approval mode {mode!r}; there are {', '.join(Mode)}") from None
    chat.screen.line(f"Approval: {approval.mode}.")
    for rule in approval.rules:
        chat.screen.line(f"  {rule.effect} {rule}", Style.DIM)
    for grant in approval.grants:
        chat.screen.line(f"  this session: {grant.tool} {one_line(subject_of(grant.arguments))}", Style.DIM)
    return None


async def retry(chat: Chat, _: str) -> Next:
    """`/retry`: ask again for an answer that did not come, or do not wait any longer for the next attempt."""
    if not chat.session.hurry():
        await chat.follow(chat.session.retry())
    return None
