"""Which simple commands a text consists of, as a shell reads it, and what is not read at all."""

from __future__ import annotations

import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.tools.shell_syntax import LONGEST, read_script
from legato.tools.shell_words import SimpleCommand
from legato.tools.shell_wrappers import read_command


def told(command: SimpleCommand) -> str:
    """A command in one line: what a shell puts in is marked with ~, what it may replace by names of files with *."""
    words = [f"{word.text}{'' if word.is_literal else '~'}{'*' if word.globs else ''}" for word in command.words]
    redirections = [f"{one.operator}{one.target.text}" for one in command.redirections]
    return " | ".join([*(f"[{one}]" for one in command.assignments), *words, *redirections])


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("rm  -rf\t'a b'", ["rm | -rf | a b"]),
        ("r''m \"x\" \\y $'z'", ["rm | x | y | z"]),
        ("a && b || c; d & e |& f\ng", ["a", "b", "c", "d", "e", "f", "g"]),
        ("A=1 B='x y' git st", ["[A=1] | [B=x y] | git | st"]),
        ("(cd a; { rm b; }) && ! c", ["cd | a", "rm | b", "c"]),
        ("if [ -f a ]; then rm a; elif b; then c; else d; fi", ["[ | -f | a | ]", "rm | a", "b", "c", "d"]),
        ("for f in $(ls) b; do rm $f; done", ["ls", "rm | $f~"]),
        ("while read l; do echo \"$l\"; done < x", ["read | l", "echo | $l~", "<x"]),
        ("[[ -f a && b < c ]] && d", ["[[ | -f | a | b | c | ]]", "d"]),
        ("echo $(a `b` \"$(c)\") ${x:-$(d)}", ["b", "c", "a | `b`~ | $(c)~", "d", 'echo | $(a `b` "$(c)")~ | ${x:-$(d)}~']),
        ("diff <(a) >(b)", ["a", "b", "diff | <(a)~ | >(b)~"]),
        ("cat <<E >o\n$(a)\nE\nb", ["cat | <<E | >o", "a", "b"]),
        ("cat <<'E'\n$(a)\nE\nb", ["cat | <<E", "b"]),
        ("cat <<-E\n\tx\n\tE\nb", ["cat | <<-E", "b"]),
        ("a 2>&1 >>x &>y <z <<<w", ["a | >&1 | >>x | &>y | <z | <<<w"]),
        ("echo '$(a)' \"'\" '\"' a#b # c; d", ["echo | $(a) | ' | \" | a#b"]),
        ("ls *.py '*' \\* {a,b} {} @{1}", ["ls | *.py* | * | * | {a,b}~ | {} | @{1}"]),
        ("a\\\nb \\\n c", ["ab | c"]),
        ("echo \"$\" $ \"\\$x\"", ["echo | $ | $ | $x"]),
        ("", []),
    ],
)  # fmt: skip
def test_a_text_is_read_as_a_shell_reads_it(text: str, commands: list[str]) -> None:
    script = read_script(text)
    assert ([told(one) for one in script.commands], script.problem) == (commands, "")


@pytest.mark.parametrize(
    "text",
    [
        "f() { rm x; }", "function f { rm x; }", "case x in a) rm x;; esac", "((a))", "echo $((1))", "a=(1 2)", "echo 'a",
        'echo "a', "echo `a", "echo $(a", "(a", "a)", "a >", "a \\", "coproc a", "for ((;;)); do a; done", "${a", "[[ a",
        "a &>(b)", "for i &>(b)", "[[ a &>(b)",
        "$(" * 20 + ")" * 20, "x" * (LONGEST + 1),
    ],
)  # fmt: skip
def test_what_is_not_read_is_a_problem(text: str) -> None:
    assert read_script(text).problem


@pytest.mark.parametrize(
    "text",
    [
        "command rm x", "/bin/rm x", "env rm x", "env -u A -i B=1 rm x", "env -S 'rm x'", "sudo -n -u root -- rm x",
        "sudo A=1 rm x", "ls | xargs -n 1 rm", "nohup rm x", "time -p rm x", "timeout -k 5 5 rm x", "bash -c 'rm x'",
        "bash -lc 'a; rm x' arg", "eval rm x", "find . -exec rm {} +", "find . -name x -exec rm {} \\; -print",
        "busybox rm x", "nice -n 5 rm x", "nice -5 rm x", "watch -n1 'rm x'", "su root -c 'rm x'", "su -c 'rm x' root",
        "flock l rm x", "flock l -c 'rm x'", "script -qc 'rm x' o", "trap 'rm x' EXIT", "stdbuf -oL rm x",
        "strace -f -o out rm x", "sudo env A=1 bash -c 'nohup rm x &'", "exec rm x", "doas rm x", "chroot d rm x",
        "setsid rm x", "fd . -x rm",
    ],
)  # fmt: skip
def test_a_program_behind_wrappers_is_found(text: str) -> None:
    found = [one.words[0].text.rpartition("/")[2] for one in read_command(text).every_command() if one.words]
    assert ("rm" in found, read_command(text).problem) == (True, "")


@pytest.mark.parametrize(
    "text", ["$(echo rm) x", "$X y", "eval \"$x\"", "bash -c \"$x\"", "r* x", "sudo $x rm y", "nohup " * 20 + "rm"]
)  # fmt: skip
def test_what_cannot_be_told_from_the_text_is_a_problem(text: str) -> None:
    assert read_command(text).problem


PIECES = st.sampled_from(
    ["echo ", "a", "'", '"', "$(", ")", "`", "\\", "\n", ";", "&&", "|", "<<E\n", "E\n", ">", "<", "&", "[[ ", "for ", "in ", "(", "{", "}", "$x", "${", " ", "#"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_read_or_is_a_problem(text: str) -> None:
    assert read_command(text).problem or read_script(text).problem == ""


@pytest.mark.parametrize(
    "piece", ["$(", "`", "'", "(", "a;", "<<E\n", "\\", "${", "a ", '"$(', "env ", "{a,", "[[", "time -- ", "'a'$b"]
)
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        begin = time.process_time()
        read_command(piece * (length // len(piece)))
        return time.process_time() - begin

    assert min(seconds(80_000) for _ in range(3)) < 40 * min(seconds(8_000) for _ in range(3)) + 0.05


WORD = st.text(st.characters(codec="ascii", exclude_characters="\0\n"), min_size=1, max_size=6)


@given(st.lists(WORD, min_size=1, max_size=3))
def test_words_in_quotes_come_out_as_they_went_in(words: list[str]) -> None:
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    script = read_script(quoted)
    assert [[word.text for word in command.words] for command in script.commands] == [words]


def test_the_words_are_those_that_bash_sees() -> None:
    text = r"""a'b c'"d e"\ f $'g' "h\"i" \$j 'k'\''l' m\n "o\p" "q\\r" """
    seen = subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], capture_output=True, check=True, text=True)
    [command] = read_script(f"printf {text}").commands
    assert [word.text for word in command.words[1:]] == seen.stdout.split("\0")[:-1]
