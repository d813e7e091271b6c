"""Who may do what: the powers in this program, and the leave that each party has.

In:  a party (whoever wrote something that this program reads) and a power.
Out: whether that party has it: always, after a person was asked, or never.

The table is data. Those who enforce it ask it, docs/security.md prints it, and tests/hostile tries every cell of it.
What can be set is a table of its own, in `cli/settings/trust_table`: settings are many, and only files set any.
"""

from __future__ import annotations

from enum import StrEnum


class Party(StrEnum):
    """Whoever wrote something that this program reads, or acts on."""

    USER = "you"
    TRUSTED = "a trusted project"
    UNTRUSTED = "an untrusted project"
    PROVIDER = "a provider"
    FILE = "a session file"
    SERVER = "an MCP server"
    MODEL = "the model"


class Power(StrEnum):
    """What somebody may want to do by way of this program."""

    INSTRUCT = "put text into the system prompt"
    START_SERVER = "start an MCP server"
    READ = "read files in the working folder"
    READ_OUTSIDE = "read files elsewhere, with the file tools"
    CHANGE = "change files in the working folder"
    CHANGE_PROTECTED = "change files that run by themselves"
    RUN = "run a command"
    CALL_SERVER = "call a tool of an MCP server"
    SKIP_QUESTIONS = "let a call run unasked"
    GET_KEY = "get a key of yours"
    DRIVE_TERMINAL = "have your terminal obey escape sequences"
    HOLD = "take time or memory without an end"


class Allowance(StrEnum):
    """Whether a party has a power."""

    YES = "yes"
    ASKED = "asked"
    """after a person agreed; how far an answer reaches is theirs to say"""
    EACH_TIME = "asked each time"
    OWN = "its own"
    NO = "–"


_COLUMNS = (Party.USER, Party.TRUSTED, Party.UNTRUSTED, Party.PROVIDER, Party.FILE, Party.SERVER, Party.MODEL)
_YES, _ASK, _EACH, _OWN, _NO = Allowance.YES, Allowance.ASKED, Allowance.EACH_TIME, Allowance.OWN, Allowance.NO
_ROWS: dict[Power, tuple[Allowance, ...]] = {
    #                        you   trusted untrusted provider file server model
    Power.INSTRUCT:         (_YES, _YES,   _YES,     _NO,     _NO, _NO,   _ASK),
    Power.START_SERVER:     (_ASK, _ASK,   _ASK,     _NO,     _NO, _NO,   _NO),
    Power.READ:             (_YES, _NO,    _NO,      _NO,     _NO, _NO,   _YES),
    Power.READ_OUTSIDE:     (_YES, _NO,    _NO,      _NO,     _NO, _NO,   _NO),
    Power.CHANGE:           (_YES, _NO,    _NO,      _NO,     _NO, _NO,   _ASK),
    Power.CHANGE_PROTECTED: (_YES, _NO,    _NO,      _NO,     _NO, _NO,   _EACH),
    Power.RUN:              (_YES, _NO,    _NO,      _NO,     _NO, _NO,   _ASK),
    Power.CALL_SERVER:      (_NO,  _NO,    _NO,      _NO,     _NO, _NO,   _ASK),
    Power.SKIP_QUESTIONS:   (_YES, _YES,   _NO,      _NO,     _NO, _NO,   _NO),
    Power.GET_KEY:          (_YES, _YES,   _NO,      _OWN,    _NO, _NO,   _NO),
    Power.DRIVE_TERMINAL:   (_NO,  _NO,    _NO,      _NO,     _NO, _NO,   _NO),
    Power.HOLD:             (_YES, _NO,    _NO,      _NO,     _NO, _NO,   _NO),
}  # fmt: skip

TABLE: dict[tuple[Party, Power], Allowance] = {
    (party, power): leave for power, row in _ROWS.items() for party, leave in zip(_COLUMNS, row, strict=True)
}


def leave_of(party: Party, power: Power) -> Allowance:
    """The leave that `party` has for `power`."""
    return TABLE[party, power]


def has(party: Party, power: Power) -> bool:
    """Whether `party` has `power` without anyone being asked."""
    return TABLE[party, power] is Allowance.YES
