"""What the format of a target allows, as data.

A dialect fills in a `Grammar` from a target's capabilities and profile; the projection reads it and asks for nothing
else, neither for the dialect nor for a model's name.
"""

from __future__ import annotations

import base64
from string import ascii_letters, digits, whitespace

from msgspec import Struct

from legato.model import Media, MediaKind

_LETTERS = (ascii_letters + digits + "+/-_=" + whitespace).encode()


class MediaRule(Struct, frozen=True):
    """Which media of one kind are accepted: as data, by their type; as an address, by how it begins."""

    types: frozenset[str] | None = None
    """None: any type"""
    addresses: tuple[str, ...] = ("",)
    """empty: no addresses, only data"""
    decodes_text: bool = False
    """data of any `text/` type is sent as text, so it must decode to some"""

    def accepts(self, media: Media) -> bool:
        """Whether `media` can be sent."""
        if media.data is None:
            return media.url is not None and media.url.startswith(self.addresses)
        if not _is_encoded(media.data):
            return False
        if self.decodes_text and media.mime.startswith("text/"):
            return decoded_text(media) is not None
        return self.types is None or media.mime in self.types


def _is_encoded(data: str) -> bool:
    """Whether `data` is written in letters of base64, of either alphabet and in any lines; it may be megabytes."""
    return data.isascii() and bool(data.strip()) and not data.encode().translate(None, _LETTERS)


def decoded_text(media: Media) -> str | None:
    """The text that `media` holds as base64; None if it is blank or cannot be read."""
    try:
        text = base64.b64decode(media.data or "").decode("utf-8", "replace")
    except ValueError:  # what base64 raises for a wrong length is one, and for other letters it raises this itself
        return None
    return text if text.strip() else None


class Grammar(Struct, frozen=True, kw_only=True):
    """What may be where in a request to one target. The defaults are the most permissive."""

    # The order of messages.

    answer_first: bool = True
    """the first message may be an answer"""
    calls_first: bool = True
    """the first message may be an answer with calls"""
    answers_in_a_row: bool = True
    user_after_tool: bool = True
    """a human message may follow results"""
    joins_turns: bool = False
    """neighbouring human messages become one, so each text of an instruction has to be marked"""
    continues_answers: bool = False
    """a request may end on an answer, which the model goes on with"""
    trims_answers: bool = False
    """an answer that may be continued must not end in white space"""

    # Instructions in the middle.

    instructions: bool = False
    """they have a role of their own"""
    instructions_after_answers: bool = True
    """also right after an answer or results"""
    instruction_media: bool = False
    """they may hold media"""

    # Answers.

    native_calls: bool = True
    """false: calls are left out and their results become human text"""
    max_calls: int = 128
    """calls in one message"""
    text_beside_calls: bool = True
    text_after_calls: bool = True
    """false: what was said between or behind calls moves before them"""
    custom_calls: bool = False
    """a free-text call is one here too"""
    own_custom_calls: bool = False
    """and if not, one that the provider made goes back to it as such"""
    namespaces: bool = False
    """a call names the namespace of its tool; else the namespace is part of the name"""
    call_signatures: bool = False
    """the first call of a message needs a signature, or the placeholder for one"""

    # Thoughts.

    own_thoughts: bool = True
    """the model may see its own thoughts again"""
    thoughts_while_thinking: bool = False
    """and only while it is thinking"""
    demands_thoughts: bool = False
    """while it is thinking, an answer with calls needs a thought, or the placeholder for one"""
    demands_every_thought: bool = False
    """and so does every other answer"""
    thoughts_in_silent_loops: bool = True
    """while thinking is off, answers of the open tool loop may hold thoughts"""
    thoughts_lead: bool = False
    """a message that holds thoughts begins with one"""
    thoughts_may_end: bool = True
    """false: a thought is refused without something behind it that it led to"""
    outcomes: str = ""
    """what the type of a provider's own record ends with if it only holds the result of a call: no thought led to it"""
    thoughts_beside_calls: bool = True
    """a thought may be with calls even where text may not"""

    # Results.

    error_flag: bool = True
    """a failed result is flagged; else its text is marked"""
    json_results: bool = False
    """a result may be any JSON value"""
    empty_results: bool = True
    result_images: bool = False
    """images may be inside a result"""
    result_documents: bool = False
    """and documents"""
    images_in_errors: bool = True
    """also inside a failed one"""

    # Media; None: no media of that kind.

    images: MediaRule | None = None
    documents: MediaRule | None = None
    audio: MediaRule | None = None
    video: MediaRule | None = None
    names_documents: bool = False
    """every document has a name that no other one of the request has, and is beside a text"""

    def accepts(self, media: Media) -> bool:
        """Whether `media` can be on the human side, or in a result."""
        match media.kind:
            case MediaKind.IMAGE:
                rule = self.images
            case MediaKind.DOCUMENT:
                rule = self.documents
            case MediaKind.AUDIO:
                rule = self.audio
            case MediaKind.VIDEO:
                rule = self.video
        return rule is not None and rule.accepts(media)
