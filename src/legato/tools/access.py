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
from legato.tools.commands import candidates, split_words
from legato.tools.globs import TEXT, cached_matcher, covers
from legato.tools.protected import fold, texts_in
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
_ADDRESS = r"[a-z][a-z0-9+.-]*://(?:[^\s/@'\"]*@)?(\[[0-9a-f:.]+\]|[^\s/:'\"\\?#)>\]]+)"
_REMOTE = r"(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+|localhost|\[[0-9a-f:.]+\])(?::.*|/.*)?"
_REACHING = frozenset(
    {"curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "ping", "dig",
     "host", "nslookup", "http", "https", "aria2c", "mosh"}
)  # fmt: skip
"""programs whose words are hosts also without a scheme"""


def paths_of(tool: Tool, arguments: JsonObject, *, folder: str = "") -> frozenset[str]:
    """Every path that the call names, folded, and below `folder` (a folded one) relative to it."""
    if tool.kind is ToolKind.EXECUTE:
        command = tool.subject(arguments)[:100_000]
        named = candidates(command)
        if "$" in command:  # a variable before a path is most often the folder that is worked in
            named += candidates(re.sub(r"\$\{?\w+\}?/", "./", command))
    else:
        named = [text for text in texts_in(arguments) if len(text) <= _LONGEST_PATH and "\n" not in text]
        named += [tool.subject(arguments), *tool.writes(arguments)]
    return frozenset(_plain(name, folder) for name in named if name)


def _plain(path: str, folder: str) -> str:
    folded = fold(os.path.normpath(os.path.expanduser(path)))
    return folded.removeprefix(f"{folder}/") if folder else folded


def covers_path(pattern: str, paths: frozenset[str]) -> bool:
    """Whether `pattern` speaks about one of `paths`, or about a folder that holds it."""
    glob = os.path.expanduser(pattern)
    return any(covers(glob, path) for path in paths)


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
