"""The page in a browser: what is to be seen, where the keys lead, what hostile content can do (nothing)."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chromium import Chromium
from file_samples import ClaudeSession, open_session, save, use, used
from legato.files import write_page, write_pages
from page_support import hostile_session, long_session, read_page, session_with_subagent

Show = Callable[..., Path]


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def png(width: int, height: int) -> str:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    pixels = zlib.compress((b"\0" + b"\x80\x40\xc0" * width) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return base64.b64encode(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    ).decode()


def numbered(browser: Chromium) -> list[int]:
    """The numbers of the entries that are in the document, in order."""
    return browser.run("[...document.querySelectorAll('#list article[id^=entry-]')].map((a) => Number(a.id.slice(6)))")


def here(browser: Chromium) -> str:
    return browser.run("document.querySelector('.here')?.id ?? ''")


def top_of(browser: Chromium, element: str) -> float:
    """How far below the upper edge of the list an element begins."""
    list_top = "document.getElementById('list').getBoundingClientRect().top"
    return browser.run(f"document.getElementById('{element}').getBoundingClientRect().top - {list_top}")


def shown_text(browser: Chromium, selector: str) -> str:
    return browser.run(f"document.querySelector({json.dumps(selector)}).innerText")


def many(count: int = 300) -> list[dict[str, Any]]:
    """Turns of very different heights; every hundredth call has no result."""
    session = ClaudeSession()
    for number in range(count):
        session.user(f"Question {number}").model(
            text("word " * (number * 37 % 900)), use(f"toolu_{number}", "Bash", command=f"echo {number}")
        )
        if number % 100 != 99:
            session.user([used(f"toolu_{number}", f"needle-{number}\n" * (number % 30))])
    for number, record in enumerate(session.records):
        record["timestamp"] = f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    return session.records


# --- what is to be seen -----------------------------------------------------------------------------------------------


def test_the_page_shows_the_conversation_under_its_own_policy(browser: Chromium, show: Show):
    show(open_session(), target="mistral")  # Claude Code itself leaves the open call out

    assert browser.complaints() == []
    assert numbered(browser)[:4] == [1, 2, 3, 4]  # what is far below is not in the document yet
    assert "Read a, then b." in shown_text(browser, "#entry-1")
    facts = shown_text(browser, "#facts")
    assert facts.startswith("1 error")
    assert all(part in facts for part in ("claude-code", "claude-sonnet-4-5", "1 Jan 2025", "2 turns", "2 calls"))


def test_a_damaged_entry_says_what_is_wrong_and_what_is_done_about_it(browser: Chromium, show: Show):
    show(open_session(), target="mistral")

    said = shown_text(browser, "#entry-3")
    for part in (
        "has no result",
        "session/open-call",
        "no result in the file",
        "hist_tool_b",
        "toolu_b",
        "closed missing",
    ):
        assert part in said
    assert browser.run("getComputedStyle(document.querySelector('#entry-3 .said')).borderLeftColor") == browser.run(
        "getComputedStyle(document.querySelector('#entry-3 .remarks strong')).color"
    )


def test_the_strip_is_red_where_an_entry_is_damaged(browser: Chromium, show: Show):
    show(open_session(), target="mistral")

    reds = browser.run(
        """(() => {
          const canvas = document.getElementById("strip");
          const { data, width } = canvas.getContext("2d").getImageData(0, 20, canvas.width, 1);
          const step = 26;
          return Array.from({ length: 5 }, (_, n) => {
            const at = 4 * Math.floor((n + 0.4) * step);
            return data[at] > 150 && data[at + 1] < 90 && data[at + 2] < 90;
          });
        })()"""
    )
    assert reds == [False, False, True, False, False]


def test_markdown_is_rendered_and_commands_changes_and_images_are_shown_as_such(browser: Chromium, show: Show):
    session = ClaudeSession().user(
        [
            text("See `this`:"),
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(40, 20)}},
        ]
    )
    session.model(
        text(
            "# Head\n\nSome **bold** and *soft* [words](https://example.com).\n\n1. one\n2. two\n   - deep\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nprint(1)\n```\n\n> quoted"
        ),
        use("toolu_1", "Bash", command="ls -l\necho done", description="List"),
        use("toolu_2", "Edit", file_path="/a.py", old_string="one\ntwo\nthree", new_string="one\n2\nthree"),
        use(
            "toolu_3",
            "TodoWrite",
            todos=[{"content": "First", "status": "completed"}, {"content": "Then", "status": "pending"}],
        ),
    )
    session.user([used("toolu_1", "\x1b[31mred\x1b[0m"), used("toolu_2"), used("toolu_3")])
    session.user("<command-name>/review</command-name><command-args>all of it</command-args>")
    show(session.records)

    found = browser.run(
        """(() => {
          const at = (selector) => document.querySelector(selector)?.innerText.trim() ?? null;
          return {
            head: at("#entry-2 h3"), bold: at("#entry-2 strong"), soft: at("#entry-2 em"), deep: at("#entry-2 ol ul li"),
            cell: at("#entry-2 td"), code: at("#entry-2 pre.code"), quote: at("#entry-2 blockquote"),
            link: document.querySelector("#entry-2 a[target]")?.href, rel: document.querySelector("#entry-2 a[target]")?.rel,
            shell: at("#entry-2 pre.shell"), gone: at(".difference .gone"), new: at(".difference .new"),
            todos: [...document.querySelectorAll(".todos li")].map((item) => item.className), output: at(".output pre"),
            image: document.querySelector("#entry-1 img")?.naturalWidth, command: at("#entry-3 .command"),
          };
        })()"""
    )
    assert found == {
        "head": "Head", "bold": "bold", "soft": "soft", "deep": "deep", "cell": "1", "code": "print(1)", "quote": "quoted",
        "link": "https://example.com/", "rel": "noopener noreferrer nofollow", "shell": "ls -l\necho done",
        "gone": "- two", "new": "+ 2", "todos": ["done", "open"], "output": "red", "image": 40,
        "command": "/review all of it",
    }  # fmt: skip


def test_what_is_sent_stands_beside_what_was_said(browser: Chromium, show: Show):
    path = show(open_session(), target="mistral")

    assert browser.run("document.getElementById('wire').getAttribute('aria-pressed')") == "true"
    sent = json.loads(browser.run("document.querySelector('#entry-2 .wire pre').textContent"))
    assert [sent] == read_page(path).wire(1)[:1]
    left, right = browser.run(
        "['said', 'wire'].map((c) => document.querySelector(`#entry-2 .${c}`).getBoundingClientRect().left)"
    )
    assert left < right


def test_a_subagent_is_where_it_was_asked_for_and_opens(browser: Chromium, show: Show):
    show(session_with_subagent())

    assert numbered(browser) == [1, 2, 5]
    browser.run("document.querySelector('.subagent button').click()")
    assert numbered(browser) == [1, 2, 3, 4, 5]
    assert "I see nothing." in shown_text(browser, "#entry-4")


def test_long_texts_are_folded_and_unfold_in_portions(browser: Chromium, show: Show):
    session = ClaudeSession().user("Go.").model(use("toolu_1", "Bash", command="cat"))
    show(session.user([used("toolu_1", "\n".join(f"line {number}" for number in range(9_000)))]).records)

    def shown() -> int:
        return browser.run("document.querySelector('.output pre').textContent.split('\\n').length")

    folded = shown()
    browser.run("document.querySelector('.output .fold button').click()")
    once = shown()
    browser.run("document.querySelector('.output .fold button').click()")
    assert folded <= 12 < once < shown()
    browser.run("[...document.querySelectorAll('.output .fold button')].at(-1).click()")
    assert shown() == folded


# --- hostile content --------------------------------------------------------------------------------------------------


def test_hostile_content_is_text_and_nothing_else(browser: Chromium, show: Show):
    count = len(read_page(show(hostile_session())).entries)
    browser.run("document.getElementById('expand').click()")
    if browser.run("!document.getElementById('wire').hidden"):
        browser.run("document.getElementById('wire').click()")

    seen: list[str] = []
    assert count >= 5
    for number in range(1, count + 1):
        browser.run(f"location.hash = '#entry-{number}'")
        browser.wait_for(f"document.getElementById('entry-{number}') !== null")
        seen.append(shown_text(browser, f"#entry-{number}"))
        addresses = browser.run("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))")
        assert all(address.startswith(("#", "https://example.com/")) for address in addresses)
        assert browser.run("[...document.querySelectorAll('[src]')].every((e) => e.src.startsWith('data:image/'))")
        assert browser.run("document.querySelectorAll('*').length") < 5_000
    assert "run" not in browser.run("document.title.split('[')[0].split('</')[0]")
    assert browser.run("document.title") != "run"
    assert browser.run("[...document.scripts].filter((s) => s.type !== 'application/json').length") == 1
    assert "<script>document.title = 'run'</script>" in seen[0]
    assert all(escape in seen[0] for escape in (r"\u202e", r"\u2028", r"\x1b"))
    assert not any(mark in "".join(seen) for mark in "\u202e\u2028\x1b")
    assert browser.complaints() == []


def test_a_script_that_gets_into_the_page_does_not_run(browser: Chromium, show: Show):
    show(open_session())

    browser.run(
        """(() => {
          const script = document.createElement("script");
          script.textContent = "document.title = 'run'";
          document.body.append(script);
          const image = new Image();
          image.src = "https://example.com/pixel.png";
          document.body.append(image);
          try { eval("document.title = 'run'"); } catch {}
        })()"""
    )

    browser.wait_for("document.title !== ''")
    assert browser.run("document.title") != "run"


# --- where the keys lead ----------------------------------------------------------------------------------------------


def test_keys_walk_entries_damage_and_prompts(browser: Chromium, show: Show):
    show(many())

    walked: list[str] = []
    for key in ("j", "j", "k", "n", "n", "p", "]", "[", "[", "G"):
        browser.press(key)
        walked.append(here(browser).removeprefix("entry-"))
    assert walked == ["1", "2", "1", "200", "400", "200", "201", "199", "197", "600"]
    assert browser.run("document.activeElement.id") == "entry-600"
    browser.press("g")
    assert browser.run("document.getElementById('list').scrollTop") == 0


@pytest.mark.parametrize(("target", "colour"), [("mistral", "--error"), ("anthropic", "--risk")])
def test_a_turn_is_marked_in_the_colour_of_what_is_wrong_in_it(target: str, colour: str, browser: Chromium, show: Show):
    show(open_session(), target=target)

    marked = "[...document.querySelectorAll('.prompt')].map((row) => row.querySelector('.damage')"
    marks = browser.run(f"{marked} && getComputedStyle(row.querySelector('.damage')).color)")
    wanted = browser.run(
        f"(() => {{ const probe = document.body.appendChild(document.createElement('i'));"
        f"probe.style.color = 'var({colour})'; return getComputedStyle(probe).color; }})()"
    )
    assert marks == [wanted, None]


def test_search_finds_entries_that_are_not_in_the_document_and_walks_them(browser: Chromium, show: Show):
    show(many())

    browser.press("/")
    assert browser.run("document.activeElement.id") == "search"
    for key in "NEEDLE-25":
        browser.press(key)
    browser.wait_for("document.getElementById('matches').value === '11'")  # 25, and 250 to 259
    browser.press("Enter")
    browser.wait_for("document.querySelector('.here') !== null")
    first = here(browser)
    browser.press("Enter")
    assert (first, here(browser)) == ("entry-52", "entry-502")
    assert browser.run("document.getElementById('matches').value") == "2 of 11"
    assert browser.run("CSS.highlights.get('match').size") > 0
    browser.press("Escape")
    assert browser.run("document.getElementById('search').value + document.getElementById('matches').value") == ""


@pytest.mark.parametrize("wanted", ['"quoted" \\ back', "<b>", "tab\there", "ünï", "a\u2028b"])
def test_search_finds_what_json_writes_in_another_way(wanted: str, browser: Chromium, show: Show):
    show(ClaudeSession().user("Nothing.").model(text(f"before {wanted} after")).records)

    browser.run(f"document.getElementById('search').value = {json.dumps(wanted)}")
    browser.run("document.getElementById('search').dispatchEvent(new Event('input'))")

    browser.wait_for("document.getElementById('matches').value === '1'")


def test_anchors_lead_to_entries_and_prompts_that_are_not_in_the_document(browser: Chromium, show: Show):
    path = show(many(), hash_="#turn-250")

    assert here(browser) == "entry-499"
    assert abs(top_of(browser, "entry-499")) < 2
    browser.run("location.hash = '#entry-42'")
    browser.wait_for("document.querySelector('.here')?.id === 'entry-42'")
    assert abs(top_of(browser, "entry-42")) < 2
    assert path.exists()


def test_expanding_keeps_the_entry_in_its_place(browser: Chromium, show: Show):
    show(many(), hash_="#entry-300")

    browser.press("e")
    assert abs(top_of(browser, "entry-300")) < 2
    browser.press("E")
    assert abs(top_of(browser, "entry-300")) < 2
    assert browser.run("document.getElementById('expand').textContent") == "Collapse all"


def test_help_theme_and_request_have_keys(browser: Chromium, show: Show):
    show(open_session())

    browser.press("?")
    assert browser.run("document.getElementById('keys').open")
    browser.press("Escape")
    assert not browser.run("document.getElementById('keys').open")
    browser.press("t")
    assert browser.run("document.documentElement.dataset.theme") == "dark"
    browser.press("w")
    assert browser.run("document.querySelectorAll('.wire pre').length") > 0


def test_the_strip_is_a_slider_for_the_keyboard(browser: Chromium, show: Show):
    show(many())

    browser.run("document.getElementById('strip').focus()")
    browser.press("End")
    assert browser.run("document.getElementById('strip').getAttribute('aria-valuenow')") == "600"
    browser.press("Home")
    browser.press("ArrowRight")
    assert browser.run("document.getElementById('strip').getAttribute('aria-valuetext')").startswith("#2, model")
    assert browser.run("document.activeElement.id") == "strip"


def test_every_control_has_a_name_and_tab_reaches_it(browser: Chromium, show: Show):
    show(many(3))

    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    asked = {"button", "searchbox", "combobox", "checkbox", "slider", "link", "navigation", "main", "feed", "article"}
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and node.get("role", {}).get("value") in asked
    ]
    assert [role for role, name in found if not name] == []
    assert {"searchbox", "slider", "navigation", "main", "feed", "article", "combobox", "checkbox"} <= {
        role for role, _ in found
    }
    browser.run("document.activeElement.blur(); document.body.tabIndex = -1; document.body.focus()")
    reached: list[str] = []
    for _ in range(13):
        browser.press("Tab")
        reached.append(browser.run("document.activeElement.id || document.activeElement.className"))
    assert reached[0] == "skip"
    assert {"search", "show-human", "tool", "label", "expand", "wire", "strip"} <= set(reached)


def test_an_anchor_far_down_holds_while_the_browser_still_reads_the_page(browser: Chromium, tmp_path: Path):
    long_session(tmp_path / "long.jsonl", 12_000_000)
    summary = write_page(tmp_path / "long.jsonl", tmp_path / "long.html")
    last = f"entry-{summary.entries - 30}"
    browser.open(f"{(tmp_path / 'long.html').as_uri()}#{last}")
    browser.wait_for("document.documentElement.dataset.ready === 'all'")

    assert (here(browser), abs(top_of(browser, last)) < 2) == (last, True)
    assert browser.run("document.activeElement.id") == last
    assert browser.run("document.querySelectorAll('.waiting').length") == 0


def test_the_focus_stays_where_a_text_is_unfolded(browser: Chromium, show: Show):
    session = ClaudeSession().user("Go.").model(use("toolu_1", "Bash", command="cat"))
    session.user([used("toolu_1", "line\n" * 900)])
    show(session.model(text("Done.")).records)

    browser.run("document.querySelector('.output .fold button').focus()")
    browser.press("Enter")
    assert browser.run("document.activeElement.textContent") == "Show less"
    browser.press("Enter")
    assert browser.run("document.activeElement.textContent").startswith("Show all 901 lines")


# --- filters ----------------------------------------------------------------------------------------------------------


def test_filters_narrow_by_role_tool_and_finding(browser: Chromium, show: Show):
    show(many(20))

    browser.run("document.getElementById('show-human').click()")
    assert all(number % 2 == 0 for number in numbered(browser))
    browser.run("document.getElementById('show-human').click()")
    choose = "(id, value) => { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event('change')); }"
    browser.run(f"({choose})('tool', 'Bash')")
    assert all(number % 2 == 0 for number in numbered(browser))
    browser.press("Escape")
    assert numbered(browser)[:3] == [1, 2, 3]


def test_only_what_is_damaged_can_be_shown(browser: Chromium, show: Show):
    show(many())

    browser.press("f")
    assert browser.run("document.activeElement.id") == "label"
    browser.run(
        "(() => { const e = document.getElementById('label'); e.value = '*'; e.dispatchEvent(new Event('change')); })()"
    )
    assert numbered(browser) == [200, 400, 600]


# --- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window_shows_everything_without_scrolling_sideways(scheme: str, browser: Chromium, show: Show):
    browser.resize(400, 800)
    browser.prefer(scheme)
    show(many(), hash_="#entry-300")

    assert abs(top_of(browser, "entry-300")) < 2
    widths = browser.run("[document.documentElement.scrollWidth, document.getElementById('list').scrollWidth]")
    assert max(widths) <= 400
    browser.press("j")
    assert (here(browser), abs(top_of(browser, "entry-301")) < 2) == ("entry-301", True)
    browser.run("document.getElementById('open-prompts').click()")
    browser.run("[...document.querySelectorAll('.prompt')].at(-1).click()")
    assert not browser.run("document.getElementById('prompts').classList.contains('open')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(scheme: str, browser: Chromium, show: Show):
    browser.prefer(scheme)
    show(open_session())

    ratios = browser.run(
        """(() => {
          const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
          const behind = (element) => {
            for (let at = element; at; at = at.parentElement) {
              const colour = parse(getComputedStyle(at).backgroundColor);
              if (colour.length === 3 || colour[3] === 1) return colour;
            }
            return [255, 255, 255];
          };
          const light = ([r, g, b]) => {
            const part = (value) => ((value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
            return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
          };
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          const low = [];
          while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, noscript, style, .skip")) continue;
            const [one, other] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
            const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
            if (ratio < 4.5) low.push([element.className, walker.currentNode.data.slice(0, 30), Math.round(ratio * 10) / 10]);
          }
          return low;
        })()"""
    )
    assert ratios == []


def test_only_what_is_in_sight_is_in_the_document_wherever_the_reader_goes(browser: Chromium, tmp_path: Path):
    long_session(tmp_path / "long.jsonl", 4_000_000)
    write_page(tmp_path / "long.jsonl", tmp_path / "long.html")
    browser.open((tmp_path / "long.html").as_uri())
    browser.wait_for("document.documentElement.dataset.ready === 'all'")
    browser.run("document.getElementById('expand').click()")
    browser.run("document.getElementById('wire').click()")

    most, gaps = browser.run(
        """(async () => {
          const list = document.getElementById("list");
          let most = 0, gaps = 0;
          for (let share = 0; share <= 1; share += 0.04) {
            list.scrollTop = share * list.scrollHeight;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            most = Math.max(most, document.querySelectorAll("*").length);
            const box = list.getBoundingClientRect();
            for (const y of [box.top + 5, box.top + box.height / 2, box.bottom - 5]) {
              if (!document.elementFromPoint(box.left + box.width / 2, y)?.closest("article, .rows")) gaps += 1;
            }
          }
          return [most, gaps];
        })()"""
    )
    assert most < 5_000
    assert gaps == 0
    assert browser.complaints() == []


def test_what_is_printed_is_in_the_document(browser: Chromium, show: Show):
    show(many(50))

    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert numbered(browser) == list(range(1, 101))
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert len(numbered(browser)) < 100
    show(many(300))
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert "400 of 601 entries are printed" in shown_text(browser, ".printed")


def test_without_scripts_the_page_says_what_it_needs(browser: Chromium, show: Show):
    path = show(open_session())
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(path.as_uri())
        assert "Allow scripts for this file" in browser.run("document.querySelector('noscript').innerText")
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)


# --- a folder ---------------------------------------------------------------------------------------------------------


def test_the_list_of_a_folder_sorts_narrows_and_leads_to_pages(browser: Chromium, tmp_path: Path):
    (tmp_path / "in").mkdir()
    save(tmp_path / "in" / "clean session.jsonl", session_with_subagent())
    late = ClaudeSession().user("Read a, then b.").model(use("toolu_a")).user("Wait.").user([used("toolu_a", "late")])
    save(tmp_path / "in" / "broken.jsonl", late.records)
    written = write_pages(tmp_path / "in", tmp_path / "out")
    browser.open(written.index.as_uri())
    browser.wait_for("document.documentElement.dataset.ready === 'all'")

    def titles() -> list[str]:
        return browser.run("[...document.querySelectorAll('tbody a')].map((a) => a.textContent)")

    assert sorted(titles()) == ["Go.", "Read a, then b."]
    browser.run("document.querySelector('th button').click()")
    assert titles() == ["Go.", "Read a, then b."]
    browser.run("document.querySelector('th button').click()")
    assert titles() == ["Read a, then b.", "Go."]
    browser.run("document.getElementById('damaged').click()")
    assert titles() == ["Read a, then b."]
    browser.run("document.querySelector('tbody a').click()")
    browser.wait_for("document.getElementById('entry-1') !== null")
    assert browser.complaints() == []
