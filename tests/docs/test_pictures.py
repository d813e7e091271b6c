"""Pictures in the documentation can be read by everybody, and what they show is what comes out."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from documentation_support import ROOT
from legato import Conversation, render
from legato.model import ClosureReason, Entry, Speaker, ToolResponse

from builders import ai, call

IDEA = ROOT / "docs" / "idea.svg"
_SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("picture", sorted((ROOT / "docs").glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_is_well_formed_and_loads_nothing_from_elsewhere(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == f"{_SVG}svg"
    assert re.findall(r"<script|<image|@import", text) == []


def test_the_picture_of_the_idea_describes_itself_and_is_for_light_and_dark() -> None:
    picture = ElementTree.parse(IDEA).getroot()
    told = {element.get("id"): element.text for element in picture if element.tag in (f"{_SVG}title", f"{_SVG}desc")}
    assert all(told[name] for name in (picture.get("aria-labelledby") or "").split())
    light, _, dark = IDEA.read_text(encoding="utf-8").partition("@media (prefers-color-scheme: dark)")
    coloured = set(re.findall(r"\.(\w+) \{ fill: #", light))
    assert coloured - set(re.findall(r"\.(\w+) \{ fill: #", dark)) == {"tip"}, "the grey of arrows is for both"


def test_the_picture_of_the_idea_shows_the_ids_and_texts_that_are_sent() -> None:
    shown = " ".join(element.text or "" for element in ElementTree.parse(IDEA).getroot().iter(f"{_SVG}text"))
    talk = Conversation()
    talk.human("use read_file on notes.txt")
    answer = talk.record(
        ai(call("toolu_01", "read_file", path="notes.txt"), call("toolu_02", "read_file", path="more.txt"))
    )
    first, second = answer.calls
    talk.result(first, "The rehearsal is on Thursday.")
    cancelled = ToolResponse(call_id=second.id, tool_name="read_file", reason=ClosureReason.CANCELLED_RUNNING)
    talk.record(Entry(Speaker.TOOL, (cancelled,)))
    talk.human("never mind. what does it say?")
    openai = render(talk, "openai/gpt-4o").body["messages"]
    mistral = render(talk, "mistral/mistral-large-latest").body["messages"]
    results = [message for message in openai if message["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == re.findall(r"tool  (call_\d+):", shown)
    quoted = re.search(r"call_02: (.+?) …", shown)
    assert quoted is not None
    assert results[1]["content"].startswith(quoted[1])
    assert [message["tool_call_id"] for message in mistral if message["role"] == "tool"][:1] == re.findall(
        r"tool  (\w{9}):", shown
    )
