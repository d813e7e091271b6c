"""Change the user's file: add a rule or a key of the gateway, or begin a file.

Comments and order of what is there stay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from legato.cli.private_files import write_private
from legato.errors import ConfigError

EXAMPLE = """\
# Settings of Legato; `legato config show --origin` tells what holds and why.

# Who answers: a route, provider/model ...
# model = "anthropic/claude-sonnet-4-5"

# ... or a profile that chooses among several.
# route = "work"
# [profiles.work]
# policy = "failover"          # manual, round-robin, failover
# routes = ["anthropic/claude-sonnet-4-5", "openai/gpt-5.1", "mistral/mistral-large-latest"]

# Keys are found in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...); another variable is named with a $.
# [keys]
# anthropic = "$MY_ANTHROPIC_KEY"

# [approval]
# mode = "ask"                 # ask, edits, plan, never
# allow = ["shell(git status *)", "write(docs/**)"]
# deny = ["shell(git push *)"]
"""


def add_rule(path: Path, effect: str, rule: str) -> None:
    """Add `rule` to the list `approval.<effect>` of the file at `path`; a rule that is there is not added again."""
    _add(path, ("approval", effect), rule)


def add_serve_key(path: Path, name: str, digest: str) -> None:
    """Add `digest` to those of `serve.keys.<name>` in the file at `path`, so that this key admits to the gateway."""
    _add(path, ("serve", "keys", name, "digests"), digest)


def _add(path: Path, names: tuple[str, ...], item: str) -> None:
    """Add `item` to the list that `names` lead to."""
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    except (ParseError, OSError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be changed: {error}") from None
    table: Any = document
    for name in names[:-1]:
        # A table that only holds others needs no line of its own.
        is_outer = name != names[-2]
        table = table.setdefault(name, tomlkit.table(is_super_table=is_outer))
    items = cast("list[str]", table.setdefault(names[-1], tomlkit.array()))
    if item in items:
        return
    items.append(item)
    write_file(path, tomlkit.dumps(document))


def write_file(path: Path, text: str) -> None:
    """Put `text` into a file, whole or not at all; only its owner can read it."""
    try:
        write_private(path, text.encode())
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from None
