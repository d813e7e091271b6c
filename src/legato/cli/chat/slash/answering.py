"""Slash commands about who answers, and what may run unasked."""

from __future__ import annotations

from legato.cli.chat.slash.contract import Chat, Next
from legato.cli.providers import find_profile, profiles_of
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.styles import Style
from legato.cli.terminal.words import subject_of
from legato.errors import CallerError
from legato.routing import Profile
from legato.tools import Mode


async def model(chat: Chat, route: str) -> Next:
    """`/model`: who answers, or another one from now on, with what the switch costs."""
    if not route:
        chat.screen.line(f"{chat.session.route} answers. /model provider/model lets another one answer.")
        return None
    preview = chat.session.preview_switch(route)
    await _switch(chat, route)
    losses = ", ".join(f"{count} × {reason}" for reason, count in preview.losses.items())
    size = f"about {preview.tokens:,} of {preview.window:,} tokens"
    chat.screen.line(f"  {size}{'; ' if losses else ''}{losses}", Style.DIM)
    if not preview.fits:
        chat.screen.line("  The conversation is longer than its window and will be shortened.", Style.YELLOW)
    return None


async def route(chat: Chat, name: str) -> Next:
    """`/route`: the profiles, or another one from now on."""
    profiles = profiles_of(chat.setup.settings)
    if name:
        await _switch(chat, find_profile(chat.setup.settings, name))
        return None
    if not profiles:
        chat.screen.line("No profiles are configured; add [profiles.NAME] with policy and routes to the settings.")
    present = chat.session.router.pending or chat.session.router.profile
    for profile in profiles.values():
        mark = "▸" if profile.name == present.name else " "
        routes = ", ".join(route.name for route in profile.routes)
        chat.screen.line(f"{mark} {profile.name}: {profile.policy}: {routes}")
    return None


async def _switch(chat: Chat, route: str | Profile) -> None:
    switched = await chat.session.switch(route)
    when = "from the next turn on" if switched.deferred else "from now on"
    chat.screen.line(f"{switched.route} answers {when}.")


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
