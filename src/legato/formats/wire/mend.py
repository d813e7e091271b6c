"""Repair a request body by changing as little of it as its provider requires.

In:  the document of a body, and the file it came from.
Out: the repaired file, and what was changed.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from legato.formats.document import Document, FileNote, Original
from legato.formats.format import Mended
from legato.formats.origins import route_of
from legato.formats.patching.records import RawFile
from legato.formats.wire.pairing import IdsKept, pair_messages
from legato.formats.wire.salvage import leading_instructions, make_readable, move_instructions
from legato.formats.wire.shapes import WIRE_PROVIDERS, body_of
from legato.formats.wire.write import decision_told
from legato.model import Action, JsonObject, Target
from legato.request.catalogue import resolve
from legato.request.conceding import with_less
from legato.request.rendering import render
from legato.request.request import Request
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity

_FIELD = re.compile(r"[.\[]")


def mend_body(document: Document, original: Original) -> Mended:
    """The body with the smallest change that its provider accepts."""
    body = body_of(original.value)
    is_bare = not isinstance(original.value, dict)  # messages alone: there are no fields around them to judge
    target = resolve(document.route or route_of(WIRE_PROVIDERS[document.format], ""))
    parts = dialect_parts(target.dialect)
    found = [item for item in parts.check(body, target) if item.severity is Severity.REFUSED]
    if is_bare:
        found = [item for item in found if item.path.startswith(parts.messages_field)]
    request = _rendered(document, target)
    smallest = _Smallest(body, request, parts.messages_field)
    mended = smallest.find()
    changes = smallest.pairing or [FileNote(item.path, f"{item.message} ({item.rule})") for item in found]
    if smallest.is_rendered:
        decisions = [item for item in request.report.decisions if item.action is not Action.ADJUSTED]
        changes += [FileNote("", decision_told(item)) for item in decisions]
    if not is_bare:
        changes += _changed_fields(body, mended, parts.messages_field)
    value: Any = mended[parts.messages_field] if is_bare else mended
    return Mended.of(RawFile(original).write_value(value), changes)


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

    def __init__(self, body: JsonObject, request: Request, field: str) -> None:
        self.body = body
        self.request = request
        self.rendered = request.copy()
        self.field = field
        self.is_rendered = False
        """whether the messages were replaced"""
        self.formed: list[FileNote] = []
        """what was put into form"""
        self.pairing: list[FileNote] = []
        """what was done, if putting calls and results right was enough"""

    def find(self) -> JsonObject:
        formed = self._with_fields(self._put_in_form())
        if not self._refused(formed):
            return formed
        for ids in IdsKept:
            paired = pair_messages(formed, self.request.target, ids)
            if paired is not None and not self._refused(body := self._with_fields(paired.body)):
                self.pairing = [*self.formed, *paired.changes]
                return body
        for name in formed.keys() - {self.field}:
            if not self._refused(body := self._with_field(formed, name)):
                return body
        self.is_rendered = True
        mended = self._with_fields(self._with_messages(formed))
        return self.rendered if self._refused(mended) else mended

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
        target = self.request.target
        found = dialect_parts(target.dialect).check(body, target)
        return {_FIELD.split(item.path)[0] for item in found if item.severity is Severity.REFUSED}
