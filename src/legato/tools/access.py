"""What a call may touch: files and hosts that it names.

In:  a tool and the arguments of a call.
Out: the paths that it reads or writes as far as its arguments say, and the hosts that it names.

A rule such as `deny = ["read(.env)"]` is about a file, not about a tool: whatever names that file has to obey it. Tools
that say what they write are believed; of all others, of commands too, every word that may be a path counts. Paths are
compared as a careless file system compares them (see `protected.fold`): on some systems `.ENV` is `.env`.
"""

from __future__ import annotations

import os
import re
from enum import StrEnum

from legato.model import JsonObject
from legato.tools.command_rules import Match
from legato.tools.commands import candidates, split_words
from legato.tools.globs import TEXT, cached_matcher, covers
from legato.tools.protected import fold, may_mean, texts_in
from legato.tools.registry import Tool, ToolKind


class Access(StrEnum):
    """What a rule can be about, beside tools."""

    READ = "read"
    """files that are read"""
    WRITE = "write"
    """files that are changed"""
    RUN = "run"
    """commands"""
    NET = "net"
    """hosts"""


KINDS = {Access.READ: ToolKind.READ, Access.WRITE: ToolKind.EDIT, Access.RUN: ToolKind.EXECUTE}
"""the tools that such an access is the purpose of"""

_LONGEST_PATH = 4_096
"""characters up to which a text may be a path: that of Linux (PATH_MAX)"""
_MOST_ENTERED, _LONGEST_BASE, _MOST_NAMES = 8, 1_024, 1_000
"""folders that a command goes into, characters of one, and names in it, up to which what is in there is looked for"""
_WILD = frozenset("*?[")
_ADDRESS = r"(?<=[a-z0-9+.-])://(?:[^\s/@'\"]*@)?(\[[0-9a-f:.]+\]|[^\s/:'\"\\?#)>\]]+)"
_REMOTE = r"(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+|localhost|\[[0-9a-f:.]+\])(?::.*|/.*)?"
_REACHING = frozenset(
    {"curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "ping", "dig",
     "host", "nslookup", "http", "https", "aria2c", "mosh"}
)  # fmt: skip
"""programs whose words are hosts also without a scheme"""


def paths_of(tool: Tool, arguments: JsonObject, *, folder: str = "") -> frozenset[str]:
    """Every path that the call names, folded, and below `folder` (a folded one) relative to it."""
    if tool.kind is ToolKind.EXECUTE:
        named = _named_by(tool.subject(arguments)[:100_000])
    else:
        named = [text for text in texts_in(arguments) if len(text) <= _LONGEST_PATH and "\n" not in text]
        named += [tool.subject(arguments), *tool.writes(arguments)]
    return frozenset(_plain(name, folder) for name in named if name)


def _named_by(command: str) -> list[str]:
    """Every piece of `command` that may be a path; with `*` in place of braces, and behind the folders it goes into."""
    # A variable before a path is most often the folder that is worked in.
    here = re.sub(r"\$\{?\w+\}?/|~\+/|/proc/\w+/cwd/", "./", command)
    named = candidates(command)
    for spelling in {here, re.sub(r"\{[^\s{}]*\}", "*", here)} - {command}:
        named += candidates(spelling)
    entered = re.findall(r"\b(?:cd|pushd)\s+(?:-\S*\s+)*['\"]?([^\s;&|()'\"]+)", here)[:_MOST_ENTERED]
    at, inside = "", list[str]()
    for folder in entered if len(named) <= _MOST_NAMES else ():
        at = os.path.join(at, folder)
        bases = {base for base in (at, folder) if len(base) <= _LONGEST_BASE}
        inside += [os.path.join(base, name) for base in bases for name in named]
    return named + inside


def _plain(path: str, folder: str) -> str:
    full = os.path.normpath(os.path.expanduser(path))
    folded = fold(os.path.normpath(os.path.join(folder, full)) if folder and full.startswith("../") else full)
    return folded.removeprefix(f"{folder}/") if folder else folded


def match_path(pattern: str, paths: frozenset[str], *, is_command: bool) -> Match:
    """Whether `pattern` speaks about one of `paths`, or a folder that holds it; wildcards of a shell may mean it."""
    glob = os.path.expanduser(pattern)
    if any(covers(glob, path) for path in paths):
        return Match.YES
    words = [path for path in paths if _WILD & set(path)] if is_command else []
    if not words:
        return Match.NO
    wanted = fold(glob).split("/")
    is_possible = sum(map(len, words)) > _LONGEST_PATH or any(_may_reach(wanted, word.split("/")) for word in words)
    return Match.MAYBE if is_possible else Match.NO


def _may_reach(wanted: list[str], word: list[str]) -> bool:
    """Whether a shell may put a path that `wanted` covers in the place of `word`.

    A word that begins with a wildcard may mean anything, and is no mention.
    """
    if word[0][:1] in _WILD:
        return False
    head, tail = wanted, list[str]()
    if "**" in wanted:
        head = wanted[: wanted.index("**")]
        tail = wanted[len(wanted) - wanted[::-1].index("**") :]
    if len(word) < len(head) + len(tail) or not all(map(_overlap, word, head)):
        return False
    starts = range(len(head), len(word) - len(tail) + 1)
    return any(all(map(_overlap, word[start:], tail)) for start in starts)


def _overlap(word: str, name: str) -> bool:
    """Whether the glob of a shell and that of a rule may mean the same name."""
    if not _WILD & set(word) or not set("*?") & set(name):
        return may_mean(word, name)
    (begin, end), (other_begin, other_end) = (
        (parts[0], parts[-1]) for parts in (re.split(r"[*?]|\[[^\]]*\]", one) for one in (word, name))
    )
    is_begin_possible = begin.startswith(other_begin) or other_begin.startswith(begin)
    return is_begin_possible and (end.endswith(other_end) or other_end.endswith(end))


def hosts_of(tool: Tool, arguments: JsonObject) -> frozenset[str]:
    """The hosts that a call names, in addresses, and in the words of commands that are known to reach some."""
    texts = [tool.subject(arguments)] if tool.kind is ToolKind.EXECUTE else [*texts_in(arguments)]
    hosts = {host for text in texts for host in re.findall(_ADDRESS, text[:100_000].lower())}
    if tool.kind is ToolKind.EXECUTE:
        words = [word.text.lower() for word in split_words(texts[0][:100_000])]
        if any(word.rpartition("/")[2] in _REACHING for word in words):
            hosts |= {found[1] for word in words if (found := re.fullmatch(_REMOTE, word))}
        hosts |= {found[1] for word in words if "@" in word and (found := re.fullmatch(_REMOTE, word))}
    return frozenset(host.strip("[]") for host in hosts)


def covers_host(pattern: str, hosts: frozenset[str]) -> bool:
    """Whether `pattern` speaks about one of `hosts`; `example.com` also means what is below it."""
    glob = pattern.strip().lower()
    return any(cached_matcher(glob, TEXT)(host) or cached_matcher(f"*.{glob}", TEXT)(host) for host in hosts)
