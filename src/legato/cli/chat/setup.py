"""Everything a session needs, made from the settings: tools, approval, history, and the session itself.

One setup serves one run of the program; interactive and one-shot use differ only in who is asked and who watches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from legato.cli.chat.instructions import system_prompt
from legato.cli.chat.running_servers import RunningServers
from legato.cli.sessions.kept_outputs import keep_output, outputs_of
from legato.cli.settings.folders import state_folder
from legato.cli.settings.layers import Loaded
from legato.errors import ConfigError
from legato.model import CallId, JsonObject, ToolCall
from legato.routing import Profile, only
from legato.session import Limits, Session, ToolHistory, World, task_tool
from legato.session.costs import Spending
from legato.session.events import Event
from legato.store import Store
from legato.tools import Approval, Approver, Rule, Tool, ToolBox, ToolContext, ToolKind, ToolNote, parse_rules
from legato.tools.builtin import Workspace, builtin_tools
from legato.tools.rules import unknown_tools


class ChatSetup:
    """Makes sessions. `watch` sees what subagents do, `noted` is told what happened outside the normal course."""

    watch: Callable[[CallId, Event], None]
    noted: Callable[[str], None]

    def __init__(
        self,
        loaded: Loaded,
        world: World,
        profile: Profile,
        *,
        folder: Path,
        store: Store | None,
        approver: Approver | None = None,
        remote: Iterable[Tool] = (),
        reports: bool = False,
    ) -> None:
        self.loaded, self.settings = loaded, loaded.settings
        self.world, self.profile = world, profile
        self.folder, self.store = folder, store
        self.reports = reports
        """whether sessions show what was decided for each request"""
        self.edits: dict[CallId, str] = {}
        """what each edit changed, as a diff, for display"""
        self.watch, self.noted = (lambda _call, _event: None), (lambda _: None)
        self._workspace = Workspace(folder)
        self.approval = self._approval(approver)
        self.limits = Limits(
            max_turns=self.settings.limits.max_turns,
            max_cost=self.settings.limits.max_cost,
            parallel=self.settings.limits.parallel,
            grace=self.settings.limits.grace,
        )
        self.system = system_prompt(self.settings, folder)
        self.session: Session | None = None
        self.spending = Spending()
        """what the open session and its subagents have used"""
        self.tools = self._tools(remote)
        self.servers = RunningServers()
        """the MCP servers that were started behind the prompt, if any were"""

    def open(self, session_id: str | None = None, *, profile: Profile | None = None) -> Session:
        """A session, new or stored; enter it with `async with`."""
        self.approval.forget_session()
        self._workspace.readable = () if session_id is None or self.store is None else (outputs_of(session_id),)
        self.spending = Spending()
        self.session = Session(
            profile or self.profile,
            tools=self.tools,
            session_id=session_id,
            history=ToolHistory.in_world(self.world, self.settings.history),
            options=self.settings.options,
            thinking=self.settings.thinking,
            reports=self.reports,
            **self._shared(),
        )
        return self.session

    def _shared(self) -> dict[str, Any]:
        """What a session and its subagents have in common."""
        return {
            "system": self.system,
            "store": self.store,
            "meta": {"cwd": str(self.folder)},
            "approval": self.approval,
            "limits": self.limits,
            "spending": self.spending,
            "world": self.world,
            "spill": self._spill,
            "noted": self._note,
        }

    # --- tools ---

    def use_servers(self, servers: RunningServers) -> None:
        """Offer the tools of `servers` from now on, as they come and go."""
        self.servers = servers
        servers.offered = self._offer

    def _offer(self, remote: Sequence[Tool]) -> None:
        self.tools = self._tools(remote)
        if self.session is not None:
            self.session.tools = self.tools

    def _tools(self, remote: Iterable[Tool]) -> ToolBox:
        settings = self.settings.tools
        local = builtin_tools(
            self._workspace,
            secrets=settings.hide,
            shown=settings.show,
            shell_seconds=settings.shell_seconds,
            sandbox=self.settings.sandbox,
            protected=[self.loaded.user_file, state_folder()],
        )
        tools: list[Tool] = [self._noting_edits(tool) for tool in local] + [*remote]
        if settings.subagents:
            tools.append(self._task(tools))
        box = ToolBox(tools)
        for name in settings.disabled:
            if name not in box and not name.startswith("mcp__"):  # of a server that is still starting, nobody knows
                known = ", ".join(tool.name for tool in box)
                place = self.loaded.origins.get("tools.disabled", "the settings")
                raise ConfigError(f"{place}: tools.disabled names {name!r}, which is no tool; there are {known}")
        return box.without(settings.disabled)

    def _noting_edits(self, tool: Tool) -> Tool:
        """`tool`, keeping the difference that it is about to make."""
        if tool.kind is not ToolKind.EDIT:
            return tool

        async def run(arguments: JsonObject, context: ToolContext) -> object:
            try:
                self.edits[context.call_id] = tool.preview(arguments)
            except Exception:  # noqa: BLE001  # the tool itself says what is wrong with the call
                self.edits.pop(context.call_id, None)
            return await tool.run(arguments, context)

        return dataclasses.replace(tool, run=run)

    def _task(self, tools: Sequence[Tool]) -> Tool:
        """The task tool, whose subagents are on the route that answers when they are started."""

        def made() -> Tool:
            named, session = self.settings.tools.subagent, self.session
            return task_tool(
                only(named) if named is not None else self._present_profile(),
                tools=ToolBox(tools, disabled=self.settings.tools.disabled),
                history=self.settings.history if session is None else session.history.settings,
                # The shape of the answer to the person is no shape for answers to the model.
                options=replace(self.settings.options if session is None else session.options, output=None),
                thinking=self.settings.thinking if session is None else session.thinking,
                parent=lambda: None if session is None else session.id,
                watch=lambda context, event: self.watch(context.call_id, event),
                **self._shared(),
            )

        async def run(arguments: JsonObject, context: ToolContext) -> object:
            return await made().run(arguments, context)

        return dataclasses.replace(made(), run=run)

    def _present_profile(self) -> Profile:
        if self.session is None:
            return self.profile
        return self.session.router.pending or self.session.router.profile

    # --- approval ---

    @property
    def unknown_rules(self) -> list[str]:
        """What to tell about rules for tools that do not exist; those that are switched off do."""
        return unknown_tools(self.approval.rules, self.tools.names)

    def _approval(self, approver: Approver | None) -> Approval:
        settings = self.settings.approval
        return Approval(
            settings.mode,
            parse_rules(allow=settings.allow, ask=settings.ask, deny=settings.deny),
            approver=approver,
            timeout=settings.timeout,
            remember=self._remember,
            protected=[self.loaded.user_file, state_folder()],
            folder=self.folder,
            noted=self._note,
        )

    def _remember(self, rule: Rule) -> None:
        """Write a rule that holds for always into the user's file; if that fails it holds for this session."""
        from legato.cli.settings.writing import add_rule  # only here: few sessions make such a rule

        try:
            add_rule(self.loaded.user_file, rule.effect.value, str(rule))
        except ConfigError as error:
            self.noted(f"the rule {rule} holds for this session only: {error.message}")
        else:
            self.noted(f"added to {self.loaded.user_file}: allow {rule}")

    # --- what happens beside it ---

    def _spill(self, text: str, call: ToolCall) -> str | None:
        """Keep an output that is too long for the model in a file that its read tool may open; none without a store."""
        session = None if self.session is None or self.store is None else self.session.id
        if session is None:
            return None
        path = keep_output(session, call.id, text)
        self._workspace.readable = (path.parent,)
        return str(path)

    def _note(self, note: ToolNote) -> None:
        self.noted(note.detail)
