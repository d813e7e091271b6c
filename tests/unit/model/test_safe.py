"""Nothing that cannot be encoded gets past the door, whichever field it is in."""

from __future__ import annotations

from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
import pytest
from msgspec import Struct

from legato.errors import InvalidEntry
from legato.model import (
    UNMINTED,
    Block,
    CallId,
    Entry,
    Media,
    MediaKind,
    Options,
    Origin,
    Speaker,
    Target,
    Text,
    ToolCall,
    ToolResponse,
    ToolSpec,
    safe,
)
from legato.model.ingestion import MAX_TEXT
from legato.model.records import Record, RouteSelected
from legato.transcript import Conversation

from builders import talk, user

HALF = "caf\udce9"
KINDS: tuple[type[Struct], ...] = (*get_args(Block), *get_args(Record), Entry, Options, Origin, Target, ToolSpec)


def spoiled(declared: Any) -> Any:
    """A value of the type `declared` that holds half a character wherever it can."""
    if get_origin(declared) is Annotated:
        return spoiled(get_args(declared)[0])
    if get_origin(declared) in (Union, UnionType):
        return spoiled(next(option for option in get_args(declared) if option is not NoneType))
    if get_origin(declared) is tuple:
        return tuple(spoiled(option) for option in get_args(declared) if option is not Ellipsis)
    if declared is Any or (get_origin(declared) is dict and Any in get_args(declared)):
        return {HALF: [HALF, {"deep": HALF}]}
    if get_origin(declared) is dict:
        return {}
    if declared is CallId:
        return CallId("hist_tool_a")
    if issubclass(declared, Enum):
        return next(iter(declared))
    if issubclass(declared, Struct):
        return spoiled_struct(declared)
    return HALF if declared is str else declared()


def spoiled_struct(kind: type[Struct]) -> Struct:
    return kind(**{field.name: spoiled(field.type) for field in msgspec.structs.fields(kind)})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_whatever_field_holds_half_a_character_it_can_be_encoded(kind: type[Struct]) -> None:
    value = spoiled_struct(kind)
    clean = msgspec.json.encode(safe(value))
    assert msgspec.json.decode(clean, type=kind) == safe(value)
    assert safe(safe(value)) == safe(value)


def test_what_is_safe_already_stays_the_same_object() -> None:
    entry = user("hello", Media(MediaKind.IMAGE, "image/png", data="aGk="))
    assert safe(entry) is entry


def test_json_is_copied_so_that_nobody_changes_what_was_recorded() -> None:
    arguments = {"path": ["a"]}
    call = safe(ToolCall("read", arguments))
    arguments["path"].append("b")
    assert call.arguments == {"path": ["a"]}


@pytest.mark.parametrize("arguments", ["text", [1], 5])
def test_arguments_that_are_no_object_are_none(arguments: Any) -> None:
    assert safe(ToolCall("read", arguments)).arguments == {}


def test_a_picture_is_never_cut() -> None:
    data = "aGk=" * (MAX_TEXT // 4 + 1)
    assert safe(Media(MediaKind.IMAGE, "image/png", data=data)).data == data


def test_a_kind_of_text_that_is_not_plain_becomes_plain() -> None:
    class Tagged(str):
        pass

    assert type(safe(Text(Tagged("hello"))).text) is str


def test_a_list_of_blocks_is_as_good_as_a_tuple() -> None:
    entry = safe(Entry(Speaker.HUMAN, [Text(HALF)]))  # type: ignore[arg-type]
    assert entry.blocks == (Text("caf\ufffd"),)


def test_records_are_as_safe_as_entries() -> None:
    conversation = talk(RouteSelected(route=HALF))
    assert conversation.log[0] == RouteSelected(route="caf\ufffd")


def test_a_response_is_recorded_under_our_own_id_whatever_id_it_claims() -> None:
    conversation = Conversation()
    entry = conversation.record(Entry(Speaker.TOOL, (ToolResponse(call_id=CallId(HALF), result="x"),)))
    assert msgspec.json.encode(entry)
    assert conversation.ledger.in_order[0].id not in (UNMINTED, HALF)


def test_what_is_no_block_is_refused_by_name() -> None:
    with pytest.raises(InvalidEntry, match="ToolSpec is not a block"):
        Conversation().record(Entry(Speaker.HUMAN, (ToolSpec("read"),)))  # type: ignore[arg-type]
