"""What is made of a list that nobody changes any more is made once, and kept with the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from legato.model.lasting import Lasting, made_of, without_plain, written_as


class Counting:
    """A function that counts how often it was called."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.calls = answer, 0

    def __call__(self, *given: Any) -> Any:
        self.calls += 1
        return self.answer(*given)


def doubled(items: Sequence[int], times: int = 2) -> list[int]:
    return [times * item for item in items]


def test_of_a_lasting_list_each_thing_is_made_once_and_lasts() -> None:
    items, make = Lasting([1, 2]), Counting(doubled)
    made = made_of(items, make)
    assert (made, made_of(items, make), make.calls) == ([2, 4], [2, 4], 1)
    assert isinstance(made, Lasting)
    assert made.root is items
    assert (made_of(items, make, 3), make.calls) == ([3, 6], 2)


def test_of_any_other_list_everything_is_made_anew() -> None:
    items, make = [1, 2], Counting(doubled)
    assert made_of(items, make) == [2, 4]
    items.append(3)
    assert (made_of(items, make), make.calls) == ([2, 4, 6], 2)


def test_what_is_asked_about_an_item_is_asked_once_for_all_lists_with_one_root() -> None:
    item = {"type": "object"}
    items = Lasting([item])
    copy, ask = Lasting(items, items), Counting(len)
    assert [items.about(item, ask, item), copy.about(item, ask, item), ask.calls] == [1, 1, 1]
    equal = dict(item)
    assert [items.about(equal, ask, equal), ask.calls] == [1, 2]


def test_so_much_is_kept_and_no_more() -> None:
    items, find = Lasting([1]), Counting(lambda: "found")
    for question in range(1_000):
        assert items.once(question, find) == "found"
    assert find.calls == 1_000
    before = find.calls
    assert [items.once(999, find), items.once(0, find), find.calls - before] == ["found", "found", 1]


def test_what_is_written_as_it_was_read_is_the_very_thing_that_was_read() -> None:
    read = Lasting([{"name": "ls"}])
    parsed = made_of(read, lambda items: [item["name"] for item in items])
    (written,) = written_as(parsed, lambda names: [{"name": name} for name in names])
    assert written is read[0]
    assert written_as(parsed, lambda names: [{"name": name, "strict": True} for name in names]) == [
        {"name": "ls", "strict": True}
    ]


def test_what_json_cannot_say_is_written_anew() -> None:
    read = Lasting[Any]([{"text": "half of \ud800"}])
    (written,) = written_as(read, lambda items: [{"text": "half" + item["text"][4:]} for item in items])
    assert written == read[0]
    assert written is not read[0]


def test_a_plain_list_knows_what_it_holds_down_to_the_schemas_of_tools() -> None:
    schema: dict[str, Any] = {"type": "object"}
    tool: dict[str, Any] = {"function": {"name": "ls", "parameters": schema}, "tags": [{"deep": {}}]}
    plain = Lasting([tool, "text"], is_plain=True)
    assert {id(tool), id(tool["function"]), id(schema)} <= plain.plain
    assert Lasting([tool]).plain == frozenset()


def test_of_what_was_made_of_a_plain_list_the_plain_parts_need_not_be_looked_at() -> None:
    schema: dict[str, Any] = {"type": "object"}
    tool: dict[str, Any] = {"function": {"name": "ls", "parameters": schema}}
    plain = Lasting([tool], is_plain=True)
    made = {"name": "ls", "input_schema": schema, "own": {"deep": {"schema": {"of": schema}}}}
    assert without_plain(tool, plain) is None
    assert without_plain(made, plain) == {
        "name": "ls",
        "input_schema": None,
        "own": {"deep": {"schema": {"of": schema}}},
    }
    assert without_plain(made, Lasting([tool])) is made


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 0.0}, {"a": -0.0}),
        ({"a": [{}]}, {"a": [{}, {}]}),
        ({"a": []}, {"a": {}}),
        ({"a": None}, {}),
    ],
)
def test_what_differs_in_anything_that_json_says_is_not_taken_for_what_was_read(read: Any, written: Any) -> None:
    lasting = Lasting[Any]([read])
    assert written_as(lasting, lambda _: [written]) is not lasting
    assert (
        written_as(Lasting[Any]([read]), lambda items: [msgspec.json.decode(msgspec.json.encode(items[0]))])[0] is read
    )
