"""Look behind the programs that run others: `env`, `sudo`, `xargs`, `bash -c`, `find -exec` and the like.

In:  a script, or one of its commands.
Out: the commands that it runs, the wrapped ones beside those that wrap them.

A rule that denies `rm` means it also where it is spelled `sudo -n env A=1 rm`. What a wrapper runs is found by its
options, which are in a table; where that depends on the state of a machine (`bash -c "$x"`), it is a problem, and who
judges has to ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from legato.tools.shell_syntax import ShellScript, read_script
from legato.tools.shell_words import SimpleCommand, Word

_DEEPEST = 8
"""wrappers around each other"""


class Wrapper(NamedTuple):
    """How to find the command behind a program's own words."""

    valued: str = ""
    """options that take the next word, apart from single letters: those are in `letters`"""
    letters: str = ""
    skip: int = 0
    """words of its own, behind the options"""
    is_transparent: bool = False
    """whether running a command through it is the same as running the command"""
    joins: bool = False
    """whether the rest is a text for a shell"""
    text_option: str = ""
    """the option whose value is such a text"""


WRAPPERS: dict[str, Wrapper] = {
    "env": Wrapper("--unset --chdir --argv0", "uCa", text_option="S"),
    "command": Wrapper(is_transparent=True),
    "builtin": Wrapper(),
    "exec": Wrapper(letters="a"),
    "nohup": Wrapper(is_transparent=True),
    "time": Wrapper("--format --output", "fo", is_transparent=True),
    "timeout": Wrapper("--kill-after --signal", "ks", skip=1, is_transparent=True),
    "nice": Wrapper("--adjustment", "n", is_transparent=True),
    "ionice": Wrapper("--class --classdata --pid --pgid --uid", "cnpPu", is_transparent=True),
    "stdbuf": Wrapper("--input --output --error", "ioe", is_transparent=True),
    "chrt": Wrapper("--sched-runtime --sched-period --sched-deadline", "TPD", skip=1),
    "taskset": Wrapper(skip=1),
    "setsid": Wrapper(),
    "setpriv": Wrapper("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set"),
    "sudo": Wrapper(
        "--user --group --host --prompt --close-from --role --type --command-timeout --other-user --chdir --chroot",
        "ughpCrtTUDR",
    ),
    "doas": Wrapper(letters="uCa"),
    "run0": Wrapper("--user --group --chdir --nice --setenv", "ugD"),
    "pkexec": Wrapper("--user"),
    "xargs": Wrapper(
        "--arg-file --delimiter --max-lines --max-args --max-procs --max-chars --process-slot-var", "aEdILnPsR"
    ),
    "parallel": Wrapper("--jobs --arg-file --delimiter --colsep --joblog --results --sshlogin", "jadS"),
    "watch": Wrapper("--interval --shotsdir --equexit", "nqs", joins=True),
    "chroot": Wrapper("--userspec --groups", skip=1),
    "unshare": Wrapper("--root --wd --setuid --setgid --map-user --map-group", "RwSG"),
    "nsenter": Wrapper("--target --setuid --setgid --root --wd", "tSGrw"),
    "strace": Wrapper(letters="oeEsSpuPbaIO"),
    "ltrace": Wrapper(letters="oeaAnpsu"),
    "caffeinate": Wrapper(letters="tw"),
    "flock": Wrapper("--wait --timeout --conflict-exit-code", "wE", skip=1, text_option="c"),
    "script": Wrapper("--log-out --log-in --log-io --log-timing", "OIBTmo", text_option="c"),
    "su": Wrapper("--shell --group --supp-group", "sgG", skip=1, text_option="c"),
    "sg": Wrapper(skip=1, text_option="c"),
    "runuser": Wrapper("--shell --group --supp-group --user", "sgGu", skip=1, text_option="c"),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "eval": Wrapper(joins=True),
    "trap": Wrapper(),
}
"""programs that run what they are given, with how their manual pages write their options"""

_UNTOLD = "what its shell runs is not written in it"
_HIDING: dict[str, str] = {
    "alias": r".*=.*", "hash": r"-\w*p.*", "enable": r"-\w*f.*", "fc": r".*", "bind": r"-\w*x.*", "jobs": r"-\w*x.*",
    "compgen": r"-\w*[CF].*", "let": r".*", "mapfile": r"-\w*C.*", "readarray": r"-\w*C.*",
}  # fmt: skip
"""commands of a shell that change what a name means, or run a text, if one of their words looks like this"""
_OTHER_SHELLS = frozenset({"zsh", "fish", "csh", "tcsh", "pwsh", "nu", "xonsh", "elvish"})
"""shells with a language of their own: what is found in a text of theirs may not be all"""
SHELLS = frozenset({"sh", "bash", "dash", "ksh", "mksh", "ash", "rbash"}) | _OTHER_SHELLS
_UNREAD = frozenset(
    {"setarch", "linux32", "linux64", "i386", "x86_64", "prlimit", "systemd-run", "start-stop-daemon", "at", "batch"}
)
"""further programs that run what they are given, in ways that are not read here"""
RUNNERS = SHELLS | _UNREAD | WRAPPERS.keys()
"""all programs that run what they are given"""
_SOURCING = frozenset({".", "source"})
_RUN_BY_FIND = r"-(?:exec|ok)(?:dir)?()"
_RUN_BY_FD = r"--exec(?:-batch)?(?:=(.*))?|-[A-Za-z]*?[xX](.*)"
"""options behind which a command begins; for `fd` also in them"""
_FINDERS = {"find": _RUN_BY_FIND, "fd": _RUN_BY_FD, "fdfind": _RUN_BY_FD}


class CommandPart(Struct, frozen=True):
    """A command, and what it runs if it is a wrapper; `problem` says why that cannot be told."""

    command: SimpleCommand
    inner: tuple[CommandPart, ...] = ()
    is_transparent: bool = False
    problem: str = ""


class Reading(Struct, frozen=True):
    """All that a command runs, as far as its text says; `problem` says why there may be more."""

    parts: tuple[CommandPart, ...]
    problem: str = ""

    def every_command(self) -> Iterator[SimpleCommand]:
        """Each command, wrapped or not."""
        waiting = [*self.parts]
        while waiting:
            part = waiting.pop()
            yield part.command
            waiting += part.inner


def read_command(text: str) -> Reading:
    """All that the command `text` runs."""
    return _read(read_script(text), 0)


def program_of(command: SimpleCommand) -> str:
    """The name of the program, without the folder it is in; empty if that is not known."""
    if not command.words or not command.words[0].is_literal or command.words[0].globs:
        return ""
    return command.words[0].text.rpartition("/")[2]


def _read(script: ShellScript, depth: int) -> Reading:
    parts = tuple(_part(command, depth) for command in script.commands)
    problem = script.problem or next((part.problem for part in parts if part.problem), "")
    return Reading(parts, problem)


def _part(command: SimpleCommand, depth: int) -> CommandPart:
    if not command.words:
        return CommandPart(command)
    name = program_of(command)
    if not name:
        return CommandPart(command, problem="which program it runs is not written in it")
    inner = _behind(name, command.words, depth)
    if inner is None:
        return CommandPart(command)
    wrapper = WRAPPERS.get(name)
    # `command -v` looks a program up, and runs none.
    is_looked_up = name == "command" and any(word.text in ("-v", "-V") for word in command.words[1:])
    is_plain = name != "time" or not command.words[1].text.startswith("-")  # `time -o` writes a file
    is_transparent = wrapper is not None and wrapper.is_transparent and is_plain and not is_looked_up
    return CommandPart(command, inner.parts, is_transparent, inner.problem)


def _behind(name: str, words: tuple[Word, ...], depth: int) -> Reading | None:
    """What the program `name` runs, if it is one that runs what it is given."""
    if name in _HIDING:
        is_hiding = any(not word.is_literal or re.fullmatch(_HIDING[name], word.text) for word in words[1:])
        return Reading((), _UNTOLD) if is_hiding else None
    if name in _SOURCING:
        return None if len(words) > 1 and _is_file(words[1]) else Reading((), _UNTOLD)
    if name in _UNREAD:
        return Reading((), _UNTOLD)
    if name not in WRAPPERS and name not in SHELLS and name not in _FINDERS:
        return None
    if depth > _DEEPEST:
        return Reading((), "it is nested too deeply")
    if name in SHELLS:
        return _behind_shell(name, words, depth)
    if name in _FINDERS:
        return _behind_find(_FINDERS[name], words, depth)
    return _behind_wrapper(name, WRAPPERS[name], words, depth)


def _behind_shell(name: str, words: tuple[Word, ...], depth: int) -> Reading | None:
    """The text that is behind the options if `-c` is among them; without it, a shell runs a file or its input."""
    at, letters = 1, ""
    while at < len(words) and words[at].text.startswith(("-", "+")):
        option = words[at].text
        at += 1
        if option in ("--version", "--help"):
            return None
        if not words[at - 1].is_literal or re.match("--command|--init-command|-[a-z]*C", option):
            return Reading((), _UNTOLD)
        if option in ("-", "--"):
            break
        if option.startswith("--"):
            at += option in ("--rcfile", "--init-file")
        else:
            letters += option.replace("+", "")
            at += option.count("o") + option.count("O")
    if _may_change(words[1:at]):
        return Reading((), _UNTOLD)
    rest = words[at:]
    if "c" in letters:
        read = _as_text([*rest[:1]], depth)
        return Reading(read.parts, read.problem or _UNTOLD) if name in _OTHER_SHELLS else read
    return None if rest and "s" not in letters and _is_file(rest[0]) else Reading((), _UNTOLD)


def _is_file(word: Word) -> bool:
    """Whether what a shell runs from there is a file, and not what was written for it in the same command."""
    return word.is_literal and not word.text.startswith(("/dev/", "/proc/"))


def _behind_find(option: str, words: tuple[Word, ...], depth: int) -> Reading:
    if _may_change(words[1:], globs=False):
        return Reading((), _UNTOLD)
    found: list[SimpleCommand] = []
    at = 1
    while at < len(words):
        at += 1
        if begin := re.fullmatch(option, words[at - 1].text, re.DOTALL):
            end = next((i for i in range(at, len(words)) if words[i].text in (";", "+")), len(words))
            first = tuple(Word(one) for one in begin.groups() if one)
            found.append(SimpleCommand(_filled_in((*first, *words[at:end]), ("{",))))
            at = end
    return _read(ShellScript(tuple(found)), depth + 1)


def _filled_in(words: tuple[Word, ...], marks: tuple[str, ...]) -> tuple[Word, ...]:
    """`words`, of which those with one of `marks` are changed before they are run: by names of files, by an input."""
    return tuple(
        Word(word.text, word.is_literal and not any(mark in word.text for mark in marks), word.globs) for word in words
    )


def _behind_wrapper(name: str, wrapper: Wrapper, words: tuple[Word, ...], depth: int) -> Reading | None:
    at = _behind_options(name, wrapper, words, depth)
    if not isinstance(at, int):
        return at
    if wrapper.text_option == "c":
        for index in range(at, len(words) - 1):
            if words[index].text in ("-c", "--command"):
                return _as_text([words[index + 1]], depth)
    rest = words[at + wrapper.skip :]
    if _may_change(words[1 : at + wrapper.skip]):
        return Reading((), _UNTOLD)
    if name == "trap":
        return _as_text([*rest[:1]], depth) if len(rest) > 1 else None
    if name == "parallel":
        return _behind_parallel(rest, depth)
    if not rest:
        return None
    if name == "xargs":
        marks = _marks_of_xargs(words[1:at])
        rest = _filled_in(rest, marks) if marks else (*rest, Word("", is_literal=False))  # what it reads from its input
    if wrapper.joins:
        return _as_text([*rest], depth)
    return _read(ShellScript((SimpleCommand(rest),)), depth + 1)


def _behind_options(name: str, wrapper: Wrapper, words: tuple[Word, ...], depth: int) -> int | Reading:
    """Where the options and variables of a wrapper end, or what it runs if that is the value of an option."""
    at = 1
    valued = wrapper.valued.split()
    while at < len(words) and words[at].text.startswith("-") and len(words[at].text) > 1:
        option = words[at].text
        at += 1
        if not words[at - 1].is_literal:
            return Reading((), "an option of it is not written in it")
        if option == "--":
            break
        letter, value = _valued_letter(option, wrapper.letters + wrapper.text_option)
        if wrapper.text_option and (letter == wrapper.text_option or re.match("--command|--split-string", option)):
            value = value if letter else option.partition("=")[2]
            given = [Word(value), *words[at:]] if value else [*words[at:]]
            # `env` has escapes of its own: for it `rm\_x` is two words.
            is_told = name != "env" or not any("\\" in word.text for word in given[:1])
            return _as_text(given, depth) if is_told else Reading((), _UNTOLD)
        is_long = option.startswith("--") and any(one.startswith(option) for one in valued)
        at += is_long or (letter != "" and not value)
    while name in ("env", "sudo", "doas") and at < len(words) and "=" in words[at].text:
        if "%%=" in words[at].text:  # a function, for the shells behind it
            return Reading((), _UNTOLD)
        at += 1
    return at


def _valued_letter(option: str, letters: str) -> tuple[str, str]:
    """Of an option of one or more letters the one that takes a value, if one does, and what of it is written there."""
    found = re.fullmatch(rf"-(?!-)[^{letters}]*([{letters}])(.*)", option, re.DOTALL) if letters else None
    return (found[1], found[2]) if found else ("", "")


def _may_change(words: tuple[Word, ...], *, globs: bool = True) -> bool:
    """Whether a shell may put an option in the place of one of `words`, or several words, or none."""
    return any((word.globs and globs) or not word.is_literal for word in words)


def _marks_of_xargs(options: tuple[Word, ...]) -> tuple[str, ...]:
    """The texts that `xargs` replaces in its command, by its options."""
    marks: list[str] = []
    for index, option in enumerate(options):
        found = re.fullmatch(r"-[0oprtx]*([IiJ])(.*)|--replace(?:=(.*))?", option.text, re.DOTALL)
        if found is not None:
            takes_next = found[1] in ("I", "J") and not found[2] and index + 1 < len(options)
            marks.append(options[index + 1].text if takes_next else found[2] or found[3] or "{}")
    return tuple(marks)


def _behind_parallel(words: tuple[Word, ...], depth: int) -> Reading:
    """The text before `:::`, which a shell runs; without one, what is behind it or read from the input is run."""
    end = next((index for index, word in enumerate(words) if word.text.startswith(":::")), len(words))
    if not end or words[0].text.startswith("{"):
        return Reading((), _UNTOLD)
    return _as_text([*words[:end]], depth)


def _as_text(words: list[Word], depth: int) -> Reading:
    """What a shell makes of `words`, which it is given as one text."""
    if not all(word.is_literal for word in words):
        return Reading((), _UNTOLD)
    return _read(read_script(" ".join(word.text for word in words), depth=depth), depth + 1)
