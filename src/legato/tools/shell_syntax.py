"""Read a shell command strictly: which simple commands it consists of, or that this cannot be told.

In:  the text of a command, as bash would get it.
Out: every simple command in it (of chains, pipes, groups, conditions, loops, substitutions and here-documents), with
     its words freed from quotes, its assignments and redirections; and a problem, where something was not understood.

A shell computes what it runs, so a word may depend on the state of a machine: such a word is not `literal`. What is not
read here (functions, `case`, arithmetic commands, arrays, and all that is malformed) is a problem, and who judges a
command with a problem has to ask. Nothing is guessed. Why there is a reader of our own: docs/decisions/0029.
"""

from __future__ import annotations

import re

from msgspec import Struct

from legato.tools.shell_words import QUOTED_COMMAND, Redirection, SimpleCommand, Unclear, Word, WordReader

LONGEST = 100_000
"""characters of a command that is read"""

_OPENERS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{"})
_CLOSERS = frozenset({"fi", "done", "}"})
_LISTS = frozenset({"for", "select"})
_TIMING = frozenset({"time", "-p", "--"})
"""words behind which a command begins, with all that a shell knows at the beginning of one"""
_COMPARISONS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
"""operators of `[[` that calculate what is on both sides"""
_UNREAD = {"case": "a case", "function": "a function", "coproc": "a coprocess", "((": "arithmetic"}

# Compiled when a first command is looked at: many a session never sees one.
_ASSIGNMENT = r"[A-Za-z_][A-Za-z0-9_]*\+?="
_NUMBER = r"-?\d+|\$[#?!$]|\$\{#[^{}$`]*\}"
_REDIRECTION = r"(?P<fd>\d*)(?P<operator>&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||>|<)(?!\()"


class ShellScript(Struct, frozen=True):
    """Every simple command of a text; with a `problem` there may be more than these."""

    commands: tuple[SimpleCommand, ...]
    problem: str = ""


def read_script(text: str, *, depth: int = 0) -> ShellScript:
    """`text` as a shell would read it."""
    if len(text) > LONGEST:
        return ShellScript((), "it is too long to be read")
    reader = _Reader(text, depth)
    try:
        reader.refuse_depth()
        reader.read_commands(until="")
    except Unclear as problem:
        return ShellScript(tuple(reader.found), str(problem))
    return ShellScript(tuple(reader.found))


class _Reader(WordReader):
    """Reads commands, operators and redirections."""

    def __init__(self, text: str, depth: int) -> None:
        super().__init__(text, depth)
        self._documents: list[tuple[str, bool, bool]] = []
        """here-documents that begin on the next line: their end, whether it is quoted, whether tabs are cut"""
        self._words: list[Word] = []
        self._assignments: list[str] = []
        self._redirections: list[Redirection] = []

    # --- commands ---

    def read_commands(self, *, until: str) -> None:
        """Read up to the character `until`, or to the end if that is empty."""
        outer = self._words, self._assignments, self._redirections, self._documents
        self._words, self._assignments, self._redirections, self._documents = [], [], [], []
        groups = 0
        while True:
            self._skip_blanks()
            letter = self._peek()
            if not letter:
                if until or groups:
                    raise Unclear("something in it is not closed")
                break
            if letter == ")":
                self._end_command()
                self._at += 1
                if not groups:
                    if until == ")":
                        break
                    raise Unclear("a bracket in it was never opened")
                groups -= 1
            elif letter == "(" and not self._words and not self._assignments:
                if self._peek(2) == "((" or self._peek(3) == "(\\\n":
                    raise Unclear("it holds arithmetic")
                self._at += 1
                groups += 1
            elif letter in "\n;&|" and self._peek(2) != "&>":
                self._separate()
            elif found := re.compile(_REDIRECTION).match(self._text, self._at):
                self._redirect(found)
            elif letter == "(":
                raise Unclear("it defines a function or an array")
            else:
                self._take_word()
        self._end_command()
        if until and self._documents:
            raise Unclear("a here-document in it begins behind its end")
        self._words, self._assignments, self._redirections, self._documents = outer

    def _skip_blanks(self) -> None:
        while self._peek() in (" ", "\t") or self._peek(2) == "\\\n":
            self._at += 2 if self._peek() == "\\" else 1
        if self._peek() == "#":
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end

    def _separate(self) -> None:
        if self._peek(2) == ";;":
            raise Unclear("it holds a case")
        self._end_command()
        is_line = self._peek() == "\n"
        self._at += 2 if self._peek(2) in ("&&", "||", "|&") else 1
        if is_line:
            self._read_documents()

    def _end_command(self) -> None:
        if self._words or self._assignments or self._redirections:
            self.found.append(SimpleCommand(tuple(self._words), tuple(self._assignments), tuple(self._redirections)))
        self._words, self._assignments, self._redirections = [], [], []

    def _take_word(self) -> None:
        begin = self._at
        word = self._read_plain_word()
        raw = self._text[begin : self._at].replace("\\\n", "")
        if begin == self._at:
            raise Unclear("an operator in it is out of place")
        if self._peek() in ("<", ">") and (raw.isdecimal() or (raw[:1] == "{" and raw[-1] == "}")):
            raise Unclear("it holds a redirection that is not read")  # `{x}>file`, which is no word
        is_first = not self._words or {self._words[0].text, self._words[-1].text} <= _TIMING
        if is_first and not self._assignments and not self._redirections:
            if raw in _UNREAD:
                raise Unclear(f"it holds {_UNREAD[raw]}")
            if raw == "[[":
                self._read_test(word)
                return
            if raw in _LISTS:
                self._read_list()
                return
            if raw in _OPENERS or raw in _CLOSERS:
                self._end_command()
                return
        if is_first and re.match(_ASSIGNMENT, raw):
            self._assignments.append(word.text)
            if self._peek() == "(":
                raise Unclear("it holds an array")
        else:
            self._words.append(word)

    def _read_plain_word(self) -> Word:
        """The next word.

        Many commands of a shell run what a quoted text says, if it is a place in an array or the value of a variable.
        """
        word = self._read_word()
        value = re.match(_ASSIGNMENT, word.text)
        place = word.text.find("[") if value is None else value.end() - 1
        if word.is_literal and place >= 0 and re.search(QUOTED_COMMAND, word.text[place:]):
            raise Unclear("it holds a substitution in quotes")
        return word

    def _read_list(self) -> None:
        """The words that a loop goes through: no command, but there may be some inside them."""
        self._skip_blanks()
        self._read_word()  # its variable
        self._skip_blanks()
        if self._peek() not in ("", ";", "\n") and self._read_word().text != "in":
            raise Unclear("it holds a loop that is not read")
        while True:
            self._skip_blanks()
            if not self._peek() or self._peek() in ";\n":
                return
            if self._peek() in "()&|<>":
                raise Unclear("it holds a loop that is not read")
            self._read_word()

    def _read_test(self, first: Word) -> None:
        """`[[ ... ]]`: operators inside it are none of the shell's."""
        self._words.append(first)
        while True:
            self._skip_blanks()
            if not self._peek():
                raise Unclear("something in it is not closed")
            if self._peek() in "\n;&|<>()" and self._peek(2) not in ("<(", ">("):
                self._at += 1
                continue
            word = self._read_plain_word()
            self._words.append(word)
            if word.text == "]]":
                self._refuse_arithmetic()
                return

    def _refuse_arithmetic(self) -> None:
        """Raise `Unclear` where a test calculates: what a variable holds may be the text of a substitution."""
        for before, word, after in zip(self._words, self._words[1:], self._words[2:], strict=False):
            operands = (before, after) if word.text in _COMPARISONS else ()
            if not all(re.fullmatch(_NUMBER, one.text) for one in operands):
                raise Unclear("it holds arithmetic")

    # --- redirections ---

    def _redirect(self, found: re.Match[str]) -> None:
        self._at = found.end()
        if self._peek(2) == "\\\n":
            raise Unclear("a line in it is broken behind a redirection")
        self._skip_blanks()
        begin = self._at
        if not self._peek() or self._peek() in "\n;&|()":
            raise Unclear("a redirection in it leads nowhere")
        target = self._read_word()
        if target.is_literal and re.search(QUOTED_COMMAND, target.text):  # bash expands that of `>&` twice
            raise Unclear("it holds a substitution in quotes")
        operator = found["operator"]
        if operator in ("<<", "<<-"):
            is_quoted = bool(set("'\"\\") & set(self._text[begin : self._at].replace("\\\n", "")))
            if not target.is_literal or "\n" in target.text:
                raise Unclear("a here-document in it has an end that is not read")
            self._documents.append((target.text, is_quoted, operator == "<<-"))
        self._redirections.append(Redirection(operator, target))

    def _read_documents(self) -> None:
        """The here-documents that begin in this line; their text is data, but for substitutions."""
        for end, is_quoted, cuts_tabs in self._documents:
            lines: list[str] = []
            while self._at < len(self._text):
                line = self._read_line(continues=not is_quoted)
                if (line.lstrip("\t") if cuts_tabs else line) == end:
                    break
                lines.append(line)
            if not is_quoted:
                inner = _Reader("\n".join(lines), self._depth + 1)
                inner.read_substitutions()
                self.found += inner.found
        self._documents.clear()

    def _read_line(self, *, continues: bool) -> str:
        """The rest of this line, without its end; one that `continues` goes on behind a backslash at its end."""
        pieces: list[str] = []
        while True:
            stop = self._text.find("\n", self._at)
            stop = len(self._text) if stop < 0 else stop
            line = self._text[self._at : stop]
            self._at = min(stop + 1, len(self._text))
            is_broken = continues and stop < len(self._text) and (len(line) - len(line.rstrip("\\"))) % 2 == 1
            pieces.append(line[:-1] if is_broken else line)
            if not is_broken:
                return "".join(pieces)
