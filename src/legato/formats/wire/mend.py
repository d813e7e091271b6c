"""Repair a request body by changing as little of it as its provider requires.

In:  the document of a body, and the file it came from.
Out: the repaired file, and what was changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from legato.formats.document import Body, Document, FileNote, Original
from legato.formats.fields import as_list
from legato.formats.format import Mended
from legato.formats.origins import route_of
from legato.formats.patching.records import RawFile
from legato.formats.wire.judging import broken_rules
from legato.formats.wire.pair_forms import PAIR_FORMS
from legato.formats.wire.pairing import IdsKept, Paired, pair_messages
from legato.formats.wire.salvage import (
    leading_instructions,
    make_readable,
    move_instructions,
    tidy_messages,
    without_parts,
    words_before_calls,
)
from legato.formats.wire.shapes import WIRE_PROVIDERS, body_of
from legato.formats.wire.write import decision_told
from legato.model import Action, JsonObject, Target
from legato.request.catalogue import resolve
from legato.request.conceding import with_less
from legato.request.rendering import render
from legato.request.request import Request
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity, Violation
from legato.wire.phrases import CONTINUE, HUMAN_BRIDGE

_FIELD = re.compile(r"[.\[]")


def mend_body(document: Document, original: Original) -> Mended:
    """The body with the smallest change that its provider accepts."""
    body = body_of(original.value)
    is_bare = not isinstance(original.value, dict)  # messages alone: there are no fields around them to judge
    target = resolve(document.route or route_of(WIRE_PROVIDERS[document.format], ""))
    parts = dialect_parts(target.dialect)
    own = Body(body, target.dialect, is_bare=is_bare)
    smallest = _Smallest(own, _rendered(document, target), parts.messages_field, is_model_known=bool(document.model))
    found = smallest.violations(body)
    mended = smallest.find()
    losses = smallest.written_anew()
    changes = smallest.pairing or [FileNote(item.path, f"{item.message} ({item.rule})") for item in found]
    if smallest.is_rendered:
        decisions = [item for item in smallest.request.report.decisions if item.action is not Action.ADJUSTED]
        changes += [FileNote("", decision_told(item)) for item in decisions]
    if not is_bare:
        changes += _changed_fields(body, mended, parts.messages_field)
    value: Any = mended[parts.messages_field] if is_bare else mended
    return Mended.of(RawFile(original).write_value(value), changes, losses)


def _rendered(document: Document, target: Target) -> Request:
    """The conversation for its own provider, under the file's own options as far as the provider takes them."""
    home = target.home if document.options.home else ""
    tools = [replace(tool, home=target.home) if tool.home else tool for tool in document.tools]
    talk = document.conversation()
    own = replace(document.options, cache=False, home=home)
    request, _ = with_less(own, lambda options: render(talk, target, tools=tools, options=options))
    return request


def _changed_fields(before: JsonObject, after: JsonObject, messages: str) -> list[FileNote]:
    """What changed around the messages."""
    names = [name for name in {**before, **after} if name != messages and before.get(name) != after.get(name)]
    return [
        FileNote(name, "was added" if name not in before else "was left out" if name not in after else "was changed")
        for name in names
    ]


class _Smallest:
    """Finds the smallest change to `body` that its provider accepts; replacements come from `request`.

    First, content out of form is put into form, and refused fields around the messages are replaced. If that is not
    enough, calls and results are put right where they are, or a setting is left out; else all messages are rendered
    anew, then the whole body.
    """

    def __init__(self, own: Body, request: Request, field: str, *, is_model_known: bool) -> None:
        self.own = own
        self.body = own.value
        self.request = request
        self.is_model_known = is_model_known
        self.rendered = request.copy()
        self.field = field
        self.found = self.rendered
        self.is_rendered = False
        """whether the messages were replaced"""
        self.formed: list[FileNote] = []
        """what was put into form"""
        self.pairing: list[FileNote] = []
        """what was done, if putting calls and results right was enough"""

    def find(self) -> JsonObject:
        readable = self._with_fields(self._put_in_form())
        if not self._refused(readable):
            return readable
        ordered, moved = words_before_calls(readable, self.field, self._wrong(readable))
        tidy, tidied = tidy_messages(ordered, self.request.target.dialect, self._wrong(ordered))
        tidied = [*moved, *tidied]
        formed = self._with_fields(tidy)
        without, left_out = without_parts(formed, self.field, self._wrong(formed))
        # What stands at a wrong place may only do so because a result is missing before it, so pairs come first.
        for body, told in ((readable, []), (formed, tidied), (without, [*tidied, *left_out])):
            if (paired := self._paired(body)) is not None:
                self.pairing = [*self.formed, *told, *paired.changes]
                return paired.body
        for name in formed.keys() - {self.field}:
            if not self._refused(body := self._with_field(formed, name)):
                return body
        self.is_rendered = True
        mended = self._with_fields(self._with_messages(formed))
        self.found = self.rendered if self._refused(mended) else mended
        return self.found

    def _paired(self, body: JsonObject) -> Paired | None:
        """The body with its calls and results put right, if it is accepted then."""
        for ids in IdsKept:
            paired = pair_messages(body, self.request.target, ids)
            for tried, told in self._completed(self._with_fields(paired.body)) if paired is not None else ():
                if paired is not None and not self._refused(tried):
                    return Paired(tried, [*paired.changes, *told])
        return None

    def _completed(self, body: JsonObject) -> Iterator[tuple[JsonObject, list[FileNote]]]:
        """The body, and the body with a first or a last word of the human side, where the provider may ask for one."""
        yield body, []
        say, own = PAIR_FORMS[self.request.target.dialect].words, as_list(body.get(self.field))
        told = [FileNote(self.field, "a word of the human side was put in, because the provider asks for one")]
        for first, last in (([], [say(CONTINUE)]), ([say(HUMAN_BRIDGE)], []), ([say(HUMAN_BRIDGE)], [say(CONTINUE)])):
            yield {**body, self.field: [*first, *own, *last]}, told

    def written_anew(self) -> list[FileNote]:
        """The messages that nobody objects to and that would not be what they were, if the messages were rendered."""
        if not self.is_rendered:
            return []
        wrong = self._wrong(self.body)
        now = {msgspec.json.encode(item, order="sorted") for item in as_list(self.found.get(self.field))}
        anew: list[str] = []
        for index, message in enumerate(as_list(self.body.get(self.field))):
            place = f"{self.field}[{index}]"
            is_wrong = any(path == place or path.startswith((f"{place}.", f"{place}[")) for path in wrong)
            if not is_wrong and msgspec.json.encode(message, order="sorted") not in now:
                anew.append(place)
        if not anew:
            return []
        others = "" if len(anew) == 1 else f" ({len(anew)} messages in all)"
        return [FileNote(anew[0], f"it would be written anew, though nothing is wrong with it{others}")]

    def _with_field(self, body: JsonObject, name: str) -> JsonObject:
        """The body with a field of the request, or without it if the request has none."""
        mended = {field: value for field, value in body.items() if field != name}
        return mended | {name: self.rendered[name]} if name in self.rendered else mended

    def _put_in_form(self) -> JsonObject:
        """The body with its content in the form of its dialect, if its messages are refused."""
        if self.field not in self._refused(self.body):
            return self.body
        dialect = self.request.target.dialect
        moved = move_instructions(self.body, dialect)
        readable = make_readable(moved, dialect)
        if moved is not self.body:
            self.formed.append(FileNote(self.field, "instructions among the messages were moved to their own field"))
        self.formed += readable.notes
        return readable.body

    def _with_messages(self, body: JsonObject) -> JsonObject:
        """The body with rendered messages, except for its own leading instructions."""
        lead, new_lead = leading_instructions(body.get(self.field)), leading_instructions(self.rendered[self.field])
        return {**body, self.field: [*lead, *self.rendered[self.field][len(new_lead) :]]}

    def _with_fields(self, body: JsonObject) -> JsonObject:
        """The body with each refused field around the messages replaced, or dropped if the request has none."""
        for name in self._refused(body) - {self.field}:
            body = self._with_field(body, name)
        return body

    def _refused(self, body: JsonObject) -> set[str]:
        """The fields of a body that its provider refuses."""
        return {_FIELD.split(path)[0] for path in self._wrong(body)}

    def _wrong(self, body: JsonObject) -> set[str]:
        """The places in a body that its provider refuses."""
        return {item.path for item in self.violations(body)}

    def violations(self, body: JsonObject) -> list[Violation]:
        """What its provider refuses in a body."""
        own = replace(self.own, value=body)
        found = broken_rules(own, self.request.target, is_model_known=self.is_model_known)
        return [item for item in found if item.severity is Severity.REFUSED]
