"""inspect: the conversation turn by turn on the terminal, and beside the request on a page."""

from pathlib import Path
from unittest.mock import patch

from file_samples import (
    ClaudeSession,
    anthropic_body,
    chat_body,
    legato,
    open_session,
    save,
    use,
    used,
)
from legato.errors import RenderError
from legato.model import CallId, Code, HostedTool, Media, MediaKind
from legato.model.codec import dump_log
from legato.model.records import Compacted, CompactionKind
from legato.request.request import Request
from page_support import read_page

from builders import ai, call, instruction, result, talk, user

# --- the terminal -----------------------------------------------------------------------------------------------------


def test_the_conversation_is_told_turn_by_turn_with_every_call_and_decision(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    result = legato("inspect", path)

    assert result.exit_code == 0
    assert result.stdout == (
        f"{path}: claude-code, 2 turns, 2 calls (1 complete, 1 pending)\n"
        "\n"
        "turn 1\n"
        "human  line 1\n"
        "  Read a, then b.\n"
        "model  line 2, claude-sonnet-4-5\n"
        '  Read {"path":"a"}\n'
        "    id: hist_tool_a, in the file toolu_a\n"
        "    state: complete, completion: success, result at line 3\n"
        "    → text of a\n"
        "model  line 4, claude-sonnet-4-5\n"
        '  Read {"path":"b"}\n'
        "    id: hist_tool_b, in the file toolu_b\n"
        "    state: pending, completion: synthetic (missing-in-import)\n"
        "    → [No result: the transcript that this call was imported from holds no result for it. "
        "Whether the tool ran is not known.]\n"
        "    ! rendering: closed missing-in-import (hist_tool_b)\n"
        "\n"
        "turn 2\n"
        "human  line 5\n"
        "  Never mind.\n"
        "model  line 6, claude-sonnet-4-5\n"
        "  All right.\n"
    )


def test_a_target_adds_the_ids_that_it_sees(tmp_path: Path):
    result = legato("inspect", save(tmp_path / "session.jsonl", open_session()), "--for", "kimi")

    assert "id: hist_tool_a, in the file toolu_a, sent as functions.Read:0\n" in result.stdout
    assert "id: hist_tool_b, in the file toolu_b, sent as functions.Read:1\n" in result.stdout


def test_what_a_request_leaves_out_is_shown_as_left_out(tmp_path: Path):
    session = ClaudeSession().user("Go.").model({"type": "thinking", "thinking": "hm", "signature": ""}).user("Well?")

    shown = legato("inspect", save(tmp_path / "session.jsonl", session.records)).stdout

    assert "model  line 2, claude-sonnet-4-5, left out of every request\n  [thinking] hm\n" in shown
    assert "! canonical-state: dropped nothing-visible\n" in shown


def test_a_result_without_a_call_is_shown(tmp_path: Path):
    session = ClaudeSession().user("Go.").user([used("toolu_x", "whose?")]).records

    shown = legato("inspect", save(tmp_path / "session.jsonl", session)).stdout

    assert "result without a call  line 2\n" in shown
    assert "quoted result-without-call (hist_tool_x)" in shown


def test_long_texts_are_shortened_unless_all_is_asked_for(tmp_path: Path):
    path = save(tmp_path / "body.json", anthropic_body(("user", "word " * 1_000)))

    assert len(legato("inspect", path).stdout) < 600
    assert "word " * 900 in legato("inspect", path, "--full").stdout


def test_texts_cannot_reach_the_terminal_and_secrets_are_hidden(tmp_path: Path):
    blocks = [{"type": "text", "text": "\x1b]0;title\x07 sk-a1b2c3d4e5f6"}, use("toolu_a", password="letmein")]
    body = anthropic_body(("user", "Go."), ("assistant", blocks), ("user", [used("toolu_a", "ok")]))

    shown = legato("inspect", save(tmp_path / "body.json", body)).stdout

    assert "\x1b" not in shown
    assert "\\x1b]0;title\\x07 [hidden]" in shown
    assert '{"password":"[hidden]"}' in shown


def test_media_code_and_hosted_tools_are_shown_and_compactions_named(tmp_path: Path):
    conversation = talk(
        user("Look.", Media(MediaKind.IMAGE, "image/png", data="aGVsbG8gdGhlcmU=")),
        ai(Code("print(1)"), HostedTool("web_search", {"query": "x"}), call("a")),
        result("a", "a long output"),
        instruction("Be brief."),
        user("And?"),
    )
    conversation.apply([Compacted(kind=CompactionKind.STUB, text="[stub]", window=10**9, call=CallId("hist_tool_a"))])
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(dump_log(conversation.log)))

    shown = legato("inspect", path, "--for", "anthropic").stdout

    assert "  [media] [image, image/png, 12 bytes]\n" in shown
    assert "  [code] print(1)\n" in shown
    assert '  [hosted] web_search {"query":"x"}\n' in shown
    assert "instruction  line 5\n  Be brief.\n" in shown
    assert "    → a long output\n" in shown
    assert "! rendering: compacted stub (hist_tool_a)\n" in shown


def test_one_of_several_conversations_can_be_picked(tmp_path: Path):
    bodies = [{"messages": chat_body(call_id)["messages"]} for call_id in ("call_1", "call_2")]
    path = save(tmp_path / "many.jsonl", bodies)

    assert legato("inspect", path).exit_code == 2
    assert "in the file call_2" in legato("inspect", path, "--pick", "2").stdout


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_is_written_and_told_about(tmp_path: Path):
    path, out = save(tmp_path / "session.jsonl", open_session()), tmp_path / "page.html"

    result = legato("inspect", path, "--html", out, "--for", "mistral")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"{path}: 2 turns, 2 calls, 1 error, shown in {out}\n"
    assert read_page(out).outline["wire"]["route"] == "mistral/mistral-large-latest"


def test_the_page_goes_to_standard_output_if_asked(tmp_path: Path):
    result = legato("inspect", save(tmp_path / "session.jsonl", open_session()), "--html", "-")

    assert read_page(result.stdout).outline["turns"] == 2


def test_a_conversation_that_its_own_provider_would_refuse_has_a_page_and_one_that_was_asked_for_is_an_error(
    tmp_path: Path,
):
    """No body is known that its own provider would still refuse, so the gate is told to refuse this one."""
    refused = RenderError("this request would be refused: max_tokens", layer="wire")
    path = save(tmp_path / "body.json", anthropic_body(("user", "Hi.")))

    with patch.object(Request, "verify", side_effect=refused):
        own = legato("inspect", path, "--html", tmp_path / "page.html")
        asked = legato("inspect", path, "--html", tmp_path / "other.html", "--for", "anthropic")

    assert (own.exit_code, asked.exit_code) == (0, 1)
    assert "max_tokens" in read_page(tmp_path / "page.html").outline["unsent"]
    assert not (tmp_path / "other.html").exists()


def test_one_of_several_conversations_is_picked_for_the_page(tmp_path: Path):
    bodies = [{"messages": chat_body(call_id)["messages"]} for call_id in ("call_1", "call_2")]
    path, out = save(tmp_path / "many.jsonl", bodies), tmp_path / "page.html"

    refused = legato("inspect", path, "--html", out)
    picked = legato("inspect", path, "--html", out, "--pick", "2")

    assert (refused.exit_code, "choose one with --pick N" in refused.stderr) == (2, True)
    assert picked.exit_code == 0
    assert read_page(out).calls[0]["wireId"] == "call_2"


def test_a_folder_becomes_a_folder_of_pages(tmp_path: Path):
    (tmp_path / "in").mkdir()
    save(tmp_path / "in" / "one.jsonl", open_session())
    save(tmp_path / "in" / "other.json", {"answer": 42})

    result = legato("inspect", tmp_path / "in", "--html", tmp_path / "out")

    index = tmp_path / "out" / "index.html"
    assert result.stderr == f"{tmp_path / 'in'}: 1 page; 1 file passed over; open {index}\n"
    assert sorted(path.name for path in index.parent.iterdir()) == ["index.html", "one.html"]


def test_impossible_places_and_combinations_are_refused(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    for arguments, said in (
        ([path, "--html", tmp_path / "no" / "page.html"], "there is no directory"),
        ([path, "--html", path], "this is the input itself"),
        ([tmp_path], "this is a directory; name a file in it; or see all of them in a browser with --html OUT"),
        ([tmp_path, "--html", path], "this is a file; name a folder"),
        ([tmp_path, "--html", tmp_path / "out", "--pick", "2"], "are for one file"),
    ):
        result = legato("inspect", *arguments)
        assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert [item.name for item in tmp_path.iterdir()] == ["session.jsonl"]
