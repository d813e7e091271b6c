"""What a pattern for commands says about a command: does it cover it, or may it?

In:  patterns such as `git status *`, and the text of a command.
Out: whether they allow it; whether one of them, that denies or asks, speaks about it.

Both look at what the command runs, not at how it is spelled: quotes, a path before the program and spaces make no
difference, and every part of a chain, of a pipe, of a substitution and behind a wrapper is judged by itself. In doubt
an allowing pattern does not hold, and a denying one may: then a person is asked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from enum import IntEnum

from legato.tools.globs import TEXT, cached_matcher
from legato.tools.patterns import escape
from legato.tools.shell_words import Redirection, SimpleCommand, Word
from legato.tools.shell_wrappers import CommandPart, Reading, program_of, read_command

_INNER_SPACE = "\x1f"
"""takes the place of a space inside a word, so that words stay apart"""

_FURTHER_OPTIONS: dict[str, tuple[str, ...]] = {
    "git": ("--output", "--no-index", "--contents", "--open-files-in-pager", "-O", "--exec", "--upload-pack",
            "--receive-pack", "--extcmd", "-x"),
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "fd": ("--exec", "--exec-batch", "-x", "-X"),
    "fdfind": ("--exec", "--exec-batch", "-x", "-X"),
    "rg": ("--pre", "--hostname-bin"),
    "sed": ("--in-place", "-i"),
    "sort": ("--output", "--compress-program", "-o"),
    "tree": ("-o", "-R"),
    "tar": ("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--rmt-command",
            "--info-script", "--new-volume-script", "-I", "-F"),
    "curl": ("--output", "--output-dir", "--remote-name", "--config", "--upload-file", "--dump-header", "--cookie-jar",
             "--trace", "--trace-ascii", "--stderr", "--libcurl", "--etag-save", "--hsts", "--alt-svc", "--form",
             "-o", "-O", "-K", "-T", "-D", "-c", "-F"),
    "wget": ("--output-document", "--output-file", "--append-output", "--directory-prefix", "--execute",
             "--use-askpass", "--save-cookies", "--post-file", "--body-file", "-O", "-o", "-a", "-P", "-e"),
    "date": ("--set", "-s"),
    "file": ("--compile", "-C"),
}  # fmt: skip
"""options by which a program that is known for reading writes a file, runs a program, or reads elsewhere"""
_CLUSTERING = frozenset({"fd", "fdfind", "sed", "sort", "tree", "tar", "curl", "wget", "file"})
"""programs that take several options of one letter behind one dash"""
_FILES_OF_CURL = r"@.*|-[A-Za-z]*d@.*|.*%output\{.*"
"""words by which it sends a file, or writes one"""
_HARMLESS_OF_GIT = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"})
"""options before the subcommand by which git does nothing else than without them"""
_VALUED_OF_GIT = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--attr-source",
     "--shallow-file", "--super-prefix"}
)  # fmt: skip


_HARMLESS_SETTINGS_OF_GIT = ("user.", "author.", "committer.", "color.", "advice.", "init.", "commit.gpgsign=", "i18n.")
"""settings that name no program: with most others, git runs what their value says"""


class Match(IntEnum):
    """Whether a pattern speaks about a command."""

    NO = 0
    MAYBE = 1
    """that depends on what a shell puts in, or the command was not understood"""
    YES = 2


@functools.lru_cache(maxsize=64)
def _reading(command: str) -> Reading:
    return read_command(command)


# --- rules that allow -------------------------------------------------------------------------------------------------


def is_allowed(command: str, patterns: Iterable[str]) -> bool:
    """Whether `patterns` cover all that `command` runs: to the letter, or part by part."""
    known = tuple(patterns)
    if escape(command) in known:
        return True
    reading = _reading(command)
    return not reading.problem and bool(reading.parts) and all(_is_covered(part, known) for part in reading.parts)


def _is_covered(part: CommandPart, patterns: tuple[str, ...]) -> bool:
    command = part.command
    if command.assignments or not all(word.is_literal for word in command.words):
        return False
    if not all(map(_is_harmless, command.redirections)):
        return False
    if not command.words or any(_covers(pattern, command) for pattern in patterns):
        return True
    return part.is_transparent and bool(part.inner) and all(_is_covered(inner, patterns) for inner in part.inner)


def _is_harmless(redirection: Redirection) -> bool:
    """Whether it touches no file: another descriptor, nothing at all, or a text that is written there."""
    target = redirection.target.text
    if redirection.operator in (">&", "<&"):
        return re.fullmatch(r"\d+-?|-", target) is not None
    return redirection.operator in ("<<", "<<-", "<<<") or target == "/dev/null"


def _covers(pattern: str, command: SimpleCommand) -> bool:
    glob = _as_glob(pattern)
    names_folder = "/" in glob.partition(" ")[0]
    program = command.words[0].text
    words = [program if names_folder else program.rpartition("/")[2], *(word.text for word in command.words[1:])]
    # A program in a folder of the project is another one than the one of that name that the system has.
    if "/" in program and not names_folder and not program.startswith(("/bin/", "/usr/bin/")):
        return False
    if command.words[0].globs or not cached_matcher(glob, TEXT)(_joined(words)):
        return False
    return not _goes_further(command, glob)


def _goes_further(command: SimpleCommand, glob: str) -> bool:
    """Whether `command` does more than its program is known for, by an option that the pattern leaves out.

    A wildcard that the shell would replace counts where it may become an option: a file can be called `--output=x`.
    """
    program = program_of(command)
    if program not in _FURTHER_OPTIONS:
        return False
    words = command.words[1:]
    named = {word.partition("=")[0] for word in glob.split(" ")}
    if program == "git" and any(option not in named for option in _global_options(words)):
        return True
    is_diff = program == "git" and "diff" in [word.text for word in words]
    for index, word in enumerate(words):
        name = word.text.partition("=")[0]
        if word.globs and word.text[:1] in ("-", "*", "?", "["):
            return True
        if is_diff and word.text not in named and _leads_out(word.text):
            return True
        if name in named:
            continue
        if program == "curl" and re.fullmatch(_FILES_OF_CURL, word.text, re.DOTALL):
            return True
        if program == "tar" and index == 0:
            name = f"-{name.lstrip('-')}" if not name.startswith("--") else name  # options also without a dash
        if any(_means(name, option, program) for option in _FURTHER_OPTIONS[program]):
            return True
    return False


def _global_options(words: tuple[Word, ...]) -> Iterator[str]:
    """The options of git that come before its subcommand, but for those that change nothing."""
    for word in words:
        name = word.text.partition("=")[0]
        if not name.startswith("-"):
            return
        if name not in _HARMLESS_OF_GIT:
            yield name


def _names_programs(words: tuple[Word, ...]) -> bool:
    """Whether the options of git before its subcommand may name programs for it to run."""
    options = [*words]
    while options and options[0].text.startswith("-"):
        option = options.pop(0)
        if option.text.startswith(("--config-env", "--exec-path=")):
            return True
        value = options.pop(0) if option.text in _VALUED_OF_GIT and options else None
        if option.text == "-c" and not (value and value.text.lower().startswith(_HARMLESS_SETTINGS_OF_GIT)):
            return True
    return bool(options) and not options[0].is_literal


def _leads_out(path: str) -> bool:
    """Whether `path` may be outside of the folder; `git diff` compares any two files if one of them is."""
    return path.startswith(("/", "~")) or ".." in path.split("/")


def _means(name: str, option: str, program: str) -> bool:
    """Whether `name` is `option`: abbreviated if it is a long one, with its value or with others if it is a letter."""
    if option.startswith("--"):
        return len(name) > 2 and option.startswith(name)
    is_cluster = program in _CLUSTERING and re.match(r"-[^-]", name) is not None
    return name.startswith(option) or (is_cluster and option[1] in name)


# --- rules that deny or ask -------------------------------------------------------------------------------------------


def speaks_about(pattern: str, command: str) -> Match:
    """Whether a pattern that denies or asks covers anything that `command` runs."""
    if escape(command) == pattern:
        return Match.YES
    reading = _reading(command)
    glob = _as_glob(pattern)
    first, space, rest = glob.partition(" ")
    glob = f"{first.casefold()}{space}{rest}"
    found = max((_speaks(glob, one) for one in reading.every_command() if one.words), default=Match.NO)
    return max(found, Match.MAYBE) if reading.problem else found


def _speaks(glob: str, command: SimpleCommand) -> Match:
    matches = cached_matcher(glob, TEXT)
    spellings = [*_spellings(command)]
    if any(matches(_joined(words)) or matches(" ".join(words)) for words in spellings):
        return Match.YES
    if program_of(command) == "git" and _names_programs(command.words[1:]):
        return Match.MAYBE
    unknown = next((index for index, word in enumerate(command.words) if not word.is_literal or word.globs), None)
    if unknown is None:
        return Match.NO
    fixed = glob.split(" ")
    wild = next((index for index, word in enumerate(fixed) if re.search(r"(?<!\\)[*?]", word)), len(fixed))
    known = spellings[-1][: max(0, unknown - len(command.words) + len(spellings[-1]))]
    is_possible = all(one == escape(other) for one, other in zip(fixed[:wild], known, strict=False))
    return Match.MAYBE if is_possible else Match.NO


def _spellings(command: SimpleCommand) -> Iterator[list[str]]:
    """The words of `command` as a pattern may write them: the program with its folder and without it, in any case."""
    texts = [word.text for word in command.words]
    yield [texts[0].casefold(), *texts[1:]]
    program = texts[0].rpartition("/")[2].casefold()
    plain = [program, *texts[1:]]
    yield plain
    if program == "git":
        at = 1
        while at < len(texts) and texts[at].startswith("-"):
            at += 2 if texts[at] in _VALUED_OF_GIT else 1
        yield [program, *texts[at:]]


# --- texts ------------------------------------------------------------------------------------------------------------


def _joined(words: Iterable[str]) -> str:
    return " ".join(word.replace(" ", _INNER_SPACE) for word in words)


@functools.lru_cache(maxsize=512)
def _as_glob(pattern: str) -> str:
    """`pattern` with one space between its words, and without quotes: what is in them has no other meaning."""
    pieces: list[str] = []
    for found in re.finditer(r"""'([^']*)'|"([^"]*)"|(\\.)|(\s+)|(.)""", pattern.strip(), re.DOTALL):
        single, double, escaped, space, other = found.groups()
        if space is not None:
            pieces.append(" ")
        elif single is not None or double is not None:
            pieces.append(escape(single if single is not None else double).replace(" ", _INNER_SPACE))
        else:
            pieces.append(escaped or other)
    return "".join(pieces)
