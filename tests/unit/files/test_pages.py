"""Pages: what Python writes into them. How they behave in a browser is in tests/browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from file_samples import OPEN_BODY, ClaudeSession, anthropic_body, chat_body, open_session, pi_session, save, use, used
from legato.errors import FormatError, SeveralConversations
from legato.files import convert, page, write_page, write_pages
from legato.formats.targets import WIRE
from page_support import HOSTILE, attributes, elements, hostile_session, long_session, read_page, session_with_subagent

ERROR, RISK, MADE, MOVED, LEFT_OUT, THINKS, FAILED, SAYS, CALLS = (1 << bit for bit in range(9))


def moved_session() -> list[dict[str, Any]]:
    session = ClaudeSession().user("Go.").model(use("toolu_a"), use("toolu_b")).user("Wait.")
    return session.user([used("toolu_a", "late")]).model({"type": "text", "text": "Done."}).records


# --- what is on it ----------------------------------------------------------------------------------------------------


def test_the_outline_tells_of_every_entry_who_when_and_what_is_remarkable(tmp_path: Path):
    outline = read_page(page(save(tmp_path / "session.jsonl", moved_session()))).outline

    assert [outline["speakers"][code] for code in outline["columns"]["speaker"]] == ["human", "model", "human", "model"]
    assert outline["columns"]["at"] == [1735689600, 1735689601, 1735689602, 1735689604]
    assert outline["columns"]["marks"] == [SAYS, ERROR | RISK | MADE | MOVED | CALLS, SAYS, SAYS]
    assert outline["prompts"] == [[0, "Go."], [2, "Wait."]]
    assert outline["tools"] == {"read": [1]}
    assert outline["labels"]["session/open-call"] == [1]
    assert outline["labels"]["moved late-result"] == [1]
    assert (outline["turns"], outline["states"]) == (2, {"complete": 1, "pending": 1})


def test_an_entry_has_what_lint_found_and_what_was_decided_about_its_calls(tmp_path: Path):
    data = read_page(page(save(tmp_path / "session.jsonl", moved_session())))

    assert [(found["level"], found["rule"]) for found in data.entries[1]["findings"]] == [
        ("error", "session/late-result"),
        ("risky", "session/open-call"),
    ]
    late, missing = data.calls
    assert (late["completion"], late["resultPlace"]) == ("success", "line 4")
    assert (missing["completion"], missing["reason"], missing["state"]) == ("synthetic", "missing-in-import", "pending")
    assert missing["decisions"] == ["rendering: closed missing-in-import (hist_tool_b)"]


def test_a_finding_inside_a_message_is_at_its_entry(tmp_path: Path):
    data = read_page(page(save(tmp_path / "body.json", OPEN_BODY)))

    assert [entry.get("findings", [{}])[0].get("place") for entry in data.entries if entry.get("findings")] == [
        "messages[1].content[2]"
    ]
    assert data.outline["findings"] == []


def test_a_finding_about_no_entry_is_at_the_file(tmp_path: Path):
    data = read_page(page(save(tmp_path / "body.json", anthropic_body(("user", "Hi."), max_tokens=0))))

    assert [found["place"] for found in data.outline["findings"]] == ["max_tokens"]


def test_a_torn_line_is_told_with_the_entry_before_it(tmp_path: Path):
    *before, last = (json.dumps(record).encode() for record in open_session())
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\n".join([*before, last[:40], last]) + b"\n")
    data = read_page(page(path))

    assert not data.outline["findings"]
    found = [(number, one["place"]) for number, entry in enumerate(data.entries) for one in entry.get("findings", [])]
    assert (len(data.entries) - 2, f"line {len(before) + 1}") in found


@pytest.mark.parametrize(
    "surroundings",
    [
        "<environment_context>\n<cwd>/home/user</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /home/user\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<system-reminder>\nThe todo list is empty.\n</system-reminder>",
    ],
)
def test_a_page_is_named_by_what_a_person_said_and_not_by_what_a_program_put_there(surroundings: str, tmp_path: Path):
    apart = ClaudeSession().user(surroundings).user("Sort the songs.").records
    together = ClaudeSession().user(f"{surroundings}\nSort the songs.").records

    for records in (apart, together):
        path = save(tmp_path / "session.jsonl", records)
        assert read_page(page(path)).outline["title"] == "Sort the songs."
        assert "Sort the songs." in [text for _, text in read_page(page(path)).outline["prompts"]]


@pytest.mark.parametrize("target", [*WIRE, "gemini/gemini-2.5-pro"])
def test_beside_each_entry_is_what_is_sent_of_it(target: str, tmp_path: Path):
    data = read_page(page(save(tmp_path / "session.jsonl", open_session()), target=target))

    sent = [json.dumps(data.wire(number)) for number in range(len(data.entries))]
    assert data.outline["wire"]["route"].partition("/")[0] == target.partition("/")[0].removesuffix("-chat")
    assert "Read a, then b." in sent[0]
    assert "text of a" in sent[1]
    assert "No result" in sent[2]
    assert "Never mind." in sent[3]
    assert all(call.get("sentId") or target.startswith("gemini") for call in data.calls)


def test_what_is_sent_as_it_was_said_is_in_the_page_once(tmp_path: Path):
    text, path, result = "A" * 5_000, "B" * 5_000, "C" * 5_000
    body = anthropic_body(
        ("user", text), ("assistant", [use("toolu_a", path=path)]), ("user", [used("toolu_a", result)])
    )

    data = read_page(page(save(tmp_path / "body.json", body)))

    assert [data.text.count(value) for value in (text, path, result)] == [1, 1, 1]
    assert data.wire(1)[0]["content"][0]["input"] == {"path": path}
    assert data.wire(1)[1]["content"][0]["content"] == result


def test_arguments_that_look_like_a_reference_are_sent_as_they_are(tmp_path: Path):
    body = anthropic_body(
        ("user", "Go."), ("assistant", [{**use("toolu_a"), "input": {"$x": [0, "text"]}}]), ("user", [used("toolu_a")])
    )

    data = read_page(page(save(tmp_path / "body.json", body), target="gemini"))

    assert data.wire(1)[0]["parts"][0]["functionCall"]["args"] == {"$x": [0, "text"]}


def test_times_tokens_and_cost_are_there_where_the_file_tells(tmp_path: Path):
    session = ClaudeSession().user("Go.")
    usage = {"input_tokens": 1_000, "cache_read_input_tokens": 9_000, "output_tokens": 100}
    session.add("assistant", [use("toolu_a")], id="m", model="claude-sonnet-4-5", usage=usage).user([used("toolu_a")])

    data = read_page(page(save(tmp_path / "session.jsonl", session.records)))

    assert data.outline["times"] == [1735689600, 1735689602]
    assert data.entries[1]["usage"] == {"input": 10_000, "output": 100, "cache_read": 9_000}
    assert data.entries[1]["cost"] == pytest.approx(1_000 * 3e-6 + 9_000 * 0.3e-6 + 100 * 15e-6)
    assert data.calls[0]["took"] == 1
    assert data.outline["cost"] == data.entries[1]["cost"]


def test_a_file_that_tells_no_times_and_no_tokens_has_none(tmp_path: Path):
    data = read_page(page(save(tmp_path / "body.json", OPEN_BODY)))

    assert (data.outline["times"], data.outline["usage"], data.outline["cost"]) == ([None, None], None, None)
    assert set(data.outline["columns"]["at"]) == {None}


def test_tokens_that_are_all_zero_are_not_known(tmp_path: Path):
    written = convert(save(tmp_path / "body.json", OPEN_BODY), "claude-code").data
    data = read_page(page(written))

    assert (data.outline["usage"], data.outline["cost"]) == (None, None)
    assert not any(entry.get("usage") or entry.get("cost") is not None for entry in data.entries)


def test_tokens_of_a_model_without_a_price_have_no_cost(tmp_path: Path):
    session = ClaudeSession().user("Go.")
    session.add("assistant", [{"type": "text", "text": "Ok."}], id="m", model="mystery-1", usage={"output_tokens": 5})

    outline = read_page(page(save(tmp_path / "session.jsonl", session.records))).outline

    assert (outline["cost"], outline["unpriced"]) == (None, 1)


def test_the_conversation_of_a_subagent_is_where_it_was_asked_for(tmp_path: Path):
    data = read_page(page(save(tmp_path / "session.jsonl", session_with_subagent())))

    assert data.outline["columns"]["agent"] == [0, 0, 1, 1, 0]
    assert data.outline["agents"] == [{"name": "a1", "first": 2}]
    assert data.entries[3]["blocks"][0]["text"] == "I see nothing."


def test_a_subagent_in_a_file_of_its_own_is_there_too(tmp_path: Path):
    *main, first, second = session_with_subagent()
    path = save(tmp_path / "session.jsonl", main)
    (tmp_path / "session" / "subagents").mkdir(parents=True)
    save(tmp_path / "session" / "subagents" / "agent-b2.jsonl", [first, second])

    outline = read_page(page(path)).outline

    assert (outline["columns"]["agent"], outline["agents"][0]["name"]) == ([0, 0, 1, 1, 0], "b2")


def test_images_are_there_and_other_media_are_named(tmp_path: Path):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    data = read_page(page(save(tmp_path / "session.jsonl", ClaudeSession().user([image]).records)))

    assert data.entries[0]["blocks"][0]["media"] == {"kind": "image", "mime": "image/png", "data": "aGVsbG8="}


@pytest.mark.parametrize(
    ("provider", "model", "route"),
    [("p", "m", "openai/gpt-5.1"), ("anthropic", "claude-opus-4-5", "anthropic/claude-opus-4-5")],
)
def test_a_page_for_a_neutral_format_is_for_who_answered_or_else_for_chat_completions(
    provider: str, model: str, route: str, tmp_path: Path
):
    records = pi_session()
    records[2]["message"] |= {"provider": provider, "model": model}

    assert read_page(page(save(tmp_path / "session.jsonl", records))).outline["wire"]["route"] == route


def test_a_text_that_is_too_long_is_cut_and_says_so(tmp_path: Path):
    data = read_page(page(save(tmp_path / "body.json", anthropic_body(("user", "x" * 1_500_000)))))

    assert data.entries[0]["blocks"][0]["text"].endswith("… [500,000 more characters]")


# --- what it must not do ----------------------------------------------------------------------------------------------


def test_whatever_a_conversation_holds_is_data(tmp_path: Path):
    data = read_page(page(save(tmp_path / "session.jsonl", hostile_session())))  # counts the scripts, too

    counts = elements(data.text)
    assert not {"img", "iframe", "object", "link"} & counts.keys()
    assert not [name for name, _ in attributes(data.text) if name.startswith("on") or name in ("style", "src")]
    assert "<script>document" not in data.text
    said = data.entries[0]["blocks"][0]["text"]
    assert said.startswith(HOSTILE[:200])


def test_the_policy_allows_one_script_and_one_style_by_their_hashes(tmp_path: Path):
    text = page(save(tmp_path / "session.jsonl", open_session()))

    def hashed(tag: str) -> str:
        (inner,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        return base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()

    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashed('style')}'; script-src 'sha256-{hashed('script')}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"\beval\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|new Function", text)
    assert not re.search(r"url\(|@import", text)


def test_secrets_are_hidden_on_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "opensesame99")
    long = "use opensesame99 " * 20
    body = anthropic_body(
        ("user", long),
        ("assistant", [use("toolu_a", token="letmein", note="opensesame99 " * 20)]),
        ("user", [used("toolu_a", "Authorization: Bearer abc123def456")]),
        system="the word is opensesame99",
    )

    for target in ("openai-responses", "anthropic", "gemini"):
        text = page(save(tmp_path / "body.json", body), target=target)
        assert not re.search("opensesame99|letmein|abc123def456", text)


def test_half_of_a_surrogate_pair_is_shown_as_an_escape():
    body = json.dumps(anthropic_body(("user", "a \ud800 b"))).encode()

    said = read_page(page(body)).entries[0]["blocks"][0]["text"]

    assert said in ("a \\ud800 b", "a \ufffd b")


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_page_is_written_in_chunks_and_says_what_is_on_it(tmp_path: Path):
    long_session(tmp_path / "long.jsonl", 1_500_000)

    summary = write_page(tmp_path / "long.jsonl", tmp_path / "long.html")

    data = read_page(tmp_path / "long.html")
    assert len(data.outline["chunks"]) > 3
    assert (summary.entries, summary.calls) == (len(data.entries), len(data.calls))
    assert (summary.title.partition(".")[0], summary.models) == ("Please do step 1", ("claude-sonnet-4-5",))


def test_a_page_replaces_nothing_unless_it_may(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())
    (tmp_path / "page.html").write_text("mine")

    with pytest.raises(FormatError, match="exists already"):
        write_page(path, tmp_path / "page.html")
    with pytest.raises(FormatError, match="the input itself"):
        write_page(path, path, overwrite=True)
    write_page(path, tmp_path / "page.html", overwrite=True)

    assert read_page(tmp_path / "page.html").outline["turns"] == 2


def test_one_conversation_of_several_is_picked(tmp_path: Path):
    path = save(tmp_path / "many.jsonl", [chat_body("a"), chat_body("b")])

    with pytest.raises(SeveralConversations):
        page(path)
    assert read_page(page(path, pick=2)).calls[0]["wireId"] == "b"


def _rows(index: Path) -> dict[str, Any]:
    (found,) = re.findall(r'id="sessions">([^<]*)</script>', index.read_text())
    return json.loads(found)


def test_the_sessions_of_a_folder_get_a_page_each_and_a_list(tmp_path: Path):
    source, out = tmp_path / "in", tmp_path / "out"
    (source / "a").mkdir(parents=True)
    save(source / "a" / "one.jsonl", moved_session())
    save(source / "a one.jsonl", session_with_subagent())
    (source / "notes.json").write_text('{"answer": 42}')

    written = write_pages(source, out)

    assert sorted(path.name for path in out.iterdir()) == ["a-one-2.html", "a-one.html", "index.html"]
    listed = _rows(written.index)
    assert [(row["page"], row["title"], row["errors"]) for row in listed["rows"]] == [
        ("a-one.html", "Go.", 0),
        ("a-one-2.html", "Go.", 1),
    ]
    assert [file for file, _ in listed["unread"]] == [unread.file for unread in written.unread] == ["notes.json"]
    assert read_page(out / "a-one-2.html").outline["turns"] == 2


def test_the_file_of_a_subagent_has_no_page_of_its_own(tmp_path: Path):
    *main, first, second = session_with_subagent()
    (tmp_path / "in" / "s" / "subagents").mkdir(parents=True)
    save(tmp_path / "in" / "s.jsonl", main)
    save(tmp_path / "in" / "s" / "subagents" / "agent-b2.jsonl", [first, second])

    written = write_pages(tmp_path / "in", tmp_path / "out")

    assert [summary.entries for summary in written.pages] == [5]


def test_a_folder_that_cannot_be_read_or_written_is_refused(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    path = save(tmp_path / "full" / "s.jsonl", open_session())

    for folder, output, said in (
        (tmp_path / "none", tmp_path / "out", "cannot be read"),
        (tmp_path / "empty", tmp_path / "out", "there are no files in it"),
        (tmp_path / "full", path, "this is a file"),
    ):
        with pytest.raises(FormatError, match=said):
            write_pages(folder, output)
    write_pages(tmp_path / "full", tmp_path / "out")
    with pytest.raises(FormatError, match="exists already"):
        write_pages(tmp_path / "full", tmp_path / "out")
