"""Write docs/hosts.md: the hosts that are declared, what is particular about each, and where that is known from.

In:  the declarations in `legato.wire.hosts`.
Out: one Markdown page, the same on every run; with `--check`, exit status 1 if the page on disk differs.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from legato.model import Dialect
from legato.wire.hosting import Host, RequestStyle
from legato.wire.hosts import all_hosts

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "hosts.md"

INTRODUCTION = """\
# Hosts

Written by `python scripts/hosts_doc.py` from the declarations in
[`wire/hosts`](../src/legato/wire/hosts/__init__.py); do not edit by hand.

Most servers take `POST …/chat/completions` with a list of messages, and each refuses something that another
demands. Any other compatible server works as well, as a provider of your own
([Configuration](configuration.md)): it is sent what all of them accept. What a host in particular refuses is in
[Rules](rules.md); what it makes of options, in [Options](options.md)."""

MESSAGES = """\
Some of these hosts have a second door, which speaks Anthropic's Messages (`POST …/v1/messages`): the same models and
keys under another name. A program that also asks Claude can use one format that way. What a model thought at one door
does not go back through the other."""

_TITLES = "| host | a route | its key | rules of its own | thinking goes back as |"
_LINE = "|---|---|---|---|---|"


def document(hosts: Iterable[Host]) -> str:
    """The page for `hosts`."""
    hosts = list(hosts)
    chat = [host for host in hosts if host.dialect is Dialect.OPENAI_CHAT]
    messages = [host for host in hosts if host.dialect is Dialect.ANTHROPIC]
    lines = [INTRODUCTION, "", _TITLES, _LINE, *(_row(host) for host in chat)]
    if messages:
        lines += ["", MESSAGES, "", _TITLES, _LINE, *(_row(host) for host in messages)]
    for host in (*chat, *messages):
        lines += ["", f"## {host.title}", "", f"`{host.endpoint}`", "", *_models(host), *_sources(host)]
    return "\n".join(lines).rstrip() + "\n"


def _row(host: Host) -> str:
    own = [f"{host.name}/{rule.id}" for rule in host.rules] or list(host.words if host.dialect in _BY_WORDS else ())
    rules = ", ".join(f"[`{rule.partition('/')[2]}`](rules.md#{rule.replace('/', '')})" for rule in own)
    is_chat = host.dialect is Dialect.OPENAI_CHAT
    cells = (
        f"[{host.title}](#{_anchor(host.title)})",
        f"`{host.name}/{host.example}`",
        _either([f"`{name}`" for name in host.keys]) or "none",
        rules or "none",
        _thinking(host.style) if is_chat else _thinking_block(host),
    )
    return "| " + " | ".join(cells) + " |"


_BY_WORDS = (Dialect.ANTHROPIC,)
"""what such a host refuses is a rule of the dialect, which it has its own words for"""


def _thinking_block(host: Host) -> str:
    demands = any(models.capabilities.get("reasoning_field") for models in host.models)
    return "`thinking`, demanded beside calls" if demands else "`thinking`, with its signature"


def _thinking(style: RequestStyle) -> str:
    if style.reasoning_content:
        return "`reasoning_content`"
    if style.thinking_chunks:
        return "a chunk of the content"
    return "`reasoning_details`, where it came so" if style.reasoning_details else "nothing"


def _models(host: Host) -> list[str]:
    """What is known of its models, beside the usual."""
    lines = [f"- all models: {_facts(host.capabilities)}"] if host.capabilities else []
    for models in host.models:
        names = _either([f"`{pattern}`" for pattern in models.match])
        lines.append(f"- {names}: {_facts(models.capabilities)}")
    return [*lines, ""] if lines else []


def _facts(capabilities: object) -> str:
    assert isinstance(capabilities, dict)
    return ", ".join(f"{name} {_plain(value)}" for name, value in capabilities.items())


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "/".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _sources(host: Host) -> list[str]:
    return [f"- {source.fact} ({_cited(source.url)})" for source in host.sources]


def _cited(source: str) -> str:
    if source.startswith("https://"):
        return f"[{source.removeprefix('https://')}]({source})"
    repository, _, number = source.partition("#")
    return f"[{source}](https://github.com/{repository}/issues/{number})"


def _either(names: Sequence[str]) -> str:
    return " or ".join(names)


def _anchor(title: str) -> str:
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")


def main() -> int:
    """Write the page, or say whether it is up to date."""
    parser = argparse.ArgumentParser(description="Write docs/hosts.md from the declarations of the hosts.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    options = parser.parse_args()

    text = document(all_hosts())
    if options.check:
        if not options.page.is_file() or options.page.read_text(encoding="utf-8") != text:
            print(f"{options.page} is out of date; write it with: python scripts/hosts_doc.py", file=sys.stderr)
            return 1
        return 0
    options.page.write_text(text, encoding="utf-8")
    print(f"{len(all_hosts())} hosts in {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
