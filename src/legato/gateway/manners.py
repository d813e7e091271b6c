"""How clients of each kind are told what a model thinks, and where a carrier has its place for them.

InBlocks          Responses                on the thought when it is closed; what is known only later in a thought
                                           without text, before the next call or at the end
InMessages        Anthropic                the same, but never behind the text that ends an answer
UnseenInBlocks    Responses, if thinking   the same, but every thought is without text
                  was not asked for
AtTheEnd          chat                     once for all, when the answer ends
InChunks          Mistral's client         the same, in its own form
OnParts           Gemini                   on a call, or on the text that ends the answer (see `gemini_parts`)
Nowhere           whoever did not ask      thinking is left out: those programs read `content[0].text`
                  and cannot pass over it

Chat servers show what their models think whether it was asked for or not, so their clients expect it.
"""

from __future__ import annotations

from legato.gateway.contract import CallIdForm, Delivery
from legato.gateway.gemini_parts import OnParts
from legato.gateway.retelling import Retelling
from legato.model import Dialect, Thinking
from legato.wire.deltas import BlockDone, Delta
from legato.wire.growing import Part


class InBlocks(Retelling):
    """For clients whose thoughts are blocks of their own, which they send back whole."""

    quotes = True

    def _close_thoughts(self) -> list[Delta]:
        if not self._run.pieces:
            return self._alone() if self._news.has_thoughts else []
        run, self._run = self._run, Part(Thinking())
        return [BlockDone(self._carrying(run.text))]

    def _before_call(self) -> list[Delta]:
        return self._alone() if self._news else []

    def _last(self) -> list[Delta]:
        return self._alone() if self._news else []

    def _alone(self) -> list[Delta]:
        """A carrier where there is nothing to show."""
        return [BlockDone(self._carrying(""))]


class InMessages(InBlocks):
    """For Anthropic's clients, to whom a thought is no end of an answer.

    No model of theirs ends one that way. Claude Code (2.1.325, with `-p`) prints what the last block says, which would
    be nothing. So what is known only when the last text has ended, such as Gemini's signature of it, is left to our own
    memory; what is known before goes in front of a text.
    """

    def _close_thoughts(self) -> list[Delta]:
        return super()._close_thoughts() or (self._alone() if self._news else [])

    def _ending(self) -> list[Delta]:
        is_text_last = self.visible and not self._begun_calls and not self._run.pieces
        return [] if is_text_last else super()._ending()


class UnseenInBlocks(InBlocks):
    """The same for clients that did not ask to see what is thought: a carrier has the text, too."""

    quotes = False
    shows = False


class AtTheEnd(Retelling):
    """For clients of the chat family, whose messages have one field for everything that was thought."""

    def _last(self) -> list[Delta]:
        return [BlockDone(self._carrying(""))] if self._news else []


class InChunks(AtTheEnd):
    """For Mistral's client, to which a thought is a chunk of the content."""

    def _opening(self) -> Thinking:
        return Thinking(native={"chunk": True})


class Nowhere(Retelling):
    """For clients that did not ask for thinking and cannot pass over it."""

    shows = False


def manner_of(delivery: Delivery) -> type[Retelling]:
    """How a client is told an answer."""
    door, asks = delivery.door, delivery.asks_thinking
    match door.dialect:
        case Dialect.ANTHROPIC:
            return InMessages if asks else Nowhere
        case Dialect.OPENAI_RESPONSES:
            return InBlocks if asks else UnseenInBlocks
        case Dialect.GEMINI:
            return OnParts
        case Dialect.OPENAI_CHAT if door.call_ids is CallIdForm.MISTRAL:
            return InChunks if asks else Nowhere
        case _:
            return AtTheEnd
