"""What "always" may mean for a call: the rule that a person is offered, or none.

In:  a call that is about to be asked about.
Out: a pattern for its tool, which covers the call and reads in a settings file exactly as it is shown.

    a file                 that file
    a well-known reader    that command with other arguments, as `git log *`
    another command        that very command, word for word
    any other tool         the very same arguments

Nothing is offered for a command that is several in one, nor for a program that runs or deletes what it is given
(shells, interpreters, wrappers, deleters): the same words do something else in the next folder. Which commands get a
wildcard is a list of those that are known to be harmless with any argument; what is not on it is not guessed. A person
who wants more writes the rule into the settings.
"""

from __future__ import annotations

import re

from legato.model import JsonObject
from legato.tools.commands import is_single, split_words
from legato.tools.patterns import escape
from legato.tools.registry import Tool, ToolKind
from legato.tools.rules import Effect, Rule
from legato.tools.shell_wrappers import RUNNERS

_READERS = frozenset({"ls", "pwd", "which", "whoami", "uname", "df", "stat", "realpath"})
_READING_SUBCOMMANDS = {
    "git": frozenset({"blame", "describe", "diff", "log", "ls-files", "rev-parse", "shortlog", "show", "status"})
}
"""commands that write nothing and run nothing whatever their arguments are, but for options that `commands` knows.
Not here, for example: `cat` reads files outside of the working folder, `find` deletes, `git branch` too."""

_SOURCING = "source|[.]"
_INTERPRETERS = r"python[\d.]*|pypy[\d.]*|node|deno|bun|ruby|perl|php|lua|tclsh|osascript|rscript|java|[gm]?awk|g?sed"
_WRAPPERS = "ssh|mosh|docker|podman|kubectl|npx|bunx|pnpx|uvx|uv|pipx|poetry|nix|flatpak"
"""beside those that are known to whoever reads commands"""
_DELETERS = "rm|rmdir|unlink|shred|srm|trash|truncate|dd|find|fd|mv|rsync|mkfs.*"
_NEVER = f"(?i:{_SOURCING}|{_INTERPRETERS}|{_WRAPPERS}|{_DELETERS})"
_NEVER_SUBCOMMANDS = {"git": frozenset({"clean", "reset", "checkout", "restore", "rm", "stash", "branch", "config"})}
_LONGEST = 200
"""characters of a rule that a person can be expected to read"""


def offered_pattern(tool: Tool, arguments: JsonObject) -> str | None:
    """The pattern that "always" would store for `tool`, or None where nothing is offered."""
    subject = tool.subject(arguments)
    if not subject.strip():
        return None
    patterns = _for_command(subject) if tool.kind is ToolKind.EXECUTE else [escape(subject)]
    return next((pattern for pattern in patterns if _is_clear(pattern, tool, subject)), None)


def _for_command(command: str) -> list[str]:
    """Patterns for `command`, the widest first."""
    if not is_single(command):
        return []
    words = [word.text for word in split_words(command)]
    program, subcommand = words[0], words[1] if len(words) > 1 else ""
    if program in _READERS:
        return [f"{program} *", escape(command)]
    if subcommand in _READING_SUBCOMMANDS.get(program, ()):
        return [f"{program} {subcommand} *", escape(command)]
    name = program.rpartition("/")[2]
    is_named = name.lower() in RUNNERS or re.fullmatch(_NEVER, name) is not None
    is_risky = is_named or subcommand in _NEVER_SUBCOMMANDS.get(name, ())
    return [] if is_risky or "=" in program else [escape(command)]


def _is_clear(pattern: str, tool: Tool, subject: str) -> bool:
    """Whether the rule covers the call, can be read by a person, and reads back from its text as it is."""
    rule = Rule(Effect.ALLOW, escape(tool.name), pattern)
    text = str(rule)
    return (
        len(text) <= _LONGEST
        and text.isprintable()
        and Rule.parse(text, Effect.ALLOW) == rule
        and rule.covers(tool, subject)
    )
