"""`legato models`: what is listed, chosen and sorted, and how it compares with a provider's own list."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import msgspec
import pytest

from legato.cli.models import KeyState, Sort, Wanted, as_lines, choose_models, fits, short_count
from legato.model import ThinkingMode
from legato.request import default_catalogue
from legato.request.model_list import ListedModel, current_model, list_models
from legato.wire.hosting import Retirement
from program import Home

PLAIN = {
    "anthropic/claude-opus-4-8": ListedModel(
        route="anthropic/claude-opus-4-8",
        window=1_000_000,
        max_output=128_000,
        takes=("images", "documents"),
        thinking=ThinkingMode.ADAPTIVE,
        efforts=("low", "medium", "high", "xhigh", "max"),
        price_input=5.0,
        price_output=25.0,
        priced="2026-10-10",
    ),
    "ollama/qwen3": ListedModel(
        route="ollama/qwen3", window=32_768, max_output=8_192, assumed=("max_output",), takes=("images",)
    ),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


# --- the list ---------------------------------------------------------------------------------------------------------


def test_what_is_known_of_a_model_and_what_is_assumed_are_told_apart():
    listed = {model.route: model for model in list_models(default_catalogue())}

    assert {route: listed[route] for route in PLAIN} == PLAIN


def test_every_provider_with_models_of_its_own_is_listed_and_each_route_once():
    routes = [model.route for model in list_models(default_catalogue())]

    assert len(routes) == len(set(routes))
    assert {route.partition("/")[0] for route in routes} >= set(default_catalogue().providers) - {
        "llamacpp", "lmstudio", "vllm", "vercel",
    }  # fmt: skip


def test_a_users_family_that_spells_names_out_is_listed():
    catalogue = default_catalogue().extended(
        {"families": [{"name": "f", "match": ["mine", "his-*"], "on": ["ollama"], "capabilities": {"window": 5_000}}]}
    )
    mine = [model for model in list_models(catalogue) if model.provider == "ollama"]

    assert [(model.route, model.window) for model in mine] == [("ollama/mine", 5_000), ("ollama/qwen3", 32_768)]


@pytest.mark.parametrize(
    ("provider", "today", "model"),
    [
        ("gemini", "2026-03-08", "gemini-3-pro-preview"),
        ("gemini", "2026-03-09", "gemini-3.1-pro-preview"),
        ("deepseek", "2026-07-24", "deepseek-flash"),
        ("openai", "2027-03-31", "gpt-5.1"),
        ("openai", "2027-04-01", "gpt-5.5"),
        ("vllm", "2027-04-01", "any"),
    ],
)
def test_who_is_asked_where_nobody_is_named_has_not_ended(provider: str, today: str, model: str):
    assert current_model(default_catalogue(), provider, today) == model


def listed(**changes: object) -> ListedModel:
    return msgspec.structs.replace(PLAIN["ollama/qwen3"], **changes)


MODELS = [
    listed(route="a/small", window=10, max_output=3, price_input=2.0, price_output=2.0),
    listed(route="b/large", window=30, max_output=1, thinking=ThinkingMode.SWITCH, takes=()),
    listed(route="a/middle", window=20, max_output=2, price_input=1.0, price_output=1.0, tools=False),
    listed(route="c/free", window=5, max_output=9, price_input=0.0, price_output=0.0),
]


@pytest.mark.parametrize(
    ("sort", "routes"),
    [
        (Sort.NAME, ["a/middle", "a/small", "b/large", "c/free"]),
        (Sort.WINDOW, ["b/large", "a/middle", "a/small", "c/free"]),
        (Sort.OUTPUT, ["c/free", "a/small", "a/middle", "b/large"]),
        (Sort.PRICE, ["c/free", "a/middle", "a/small", "b/large"]),
    ],
)
def test_models_are_sorted_and_an_unknown_price_is_not_a_low_one(sort: Sort, routes: list[str]):
    assert [model.route for model in choose_models(MODELS, Wanted(), sort)] == routes


@pytest.mark.parametrize(
    ("wanted", "routes"),
    [
        (Wanted(pattern="LAR"), ["b/large"]),
        (Wanted(provider="a"), ["a/middle", "a/small"]),
        (Wanted(tools=True), ["a/small", "b/large", "c/free"]),
        (Wanted(thinking=True), ["b/large"]),
        (Wanted(images=True), ["a/middle", "a/small", "c/free"]),
        (Wanted(images=True, thinking=True), []),
    ],
)
def test_models_are_chosen_by_what_is_wanted(wanted: Wanted, routes: list[str]):
    assert [model.route for model in choose_models(MODELS, wanted, Sort.NAME)] == routes


@pytest.mark.parametrize(
    ("pattern", "route", "is_fitting"),
    [
        ("opus", "anthropic/claude-opus-4-8", True),
        ("claude-*", "openrouter/anthropic/claude-opus-4-8", True),
        ("claude-*", "bedrock/us.anthropic.claude-opus-4-8-v1:0", True),
        ("anthropic/*", "anthropic/claude-opus-4-8", True),
        ("opus*", "anthropic/claude-opus-4-8", False),
        ("gpt", "anthropic/claude-opus-4-8", False),
    ],
)
def test_a_pattern_is_a_part_of_the_name_or_fits_all_of_it(pattern: str, route: str, is_fitting: bool):
    assert fits(route, pattern) is is_fitting


@pytest.mark.parametrize(("count", "shown"), [(999, "999"), (8_192, "8k"), (262_144, "262k"), (1_048_576, "1M")])
def test_tokens_are_short(count: int, shown: str):
    assert short_count(count) == shown


def test_the_table_keeps_to_its_width_and_cuts_no_route():
    long = listed(
        route="fireworks/accounts/fireworks/models/gpt-oss-20b", ends=Retirement((), "", "2026-10", instead="another")
    )
    models = [*list_models(default_catalogue()), long]
    lines = list(as_lines(models, lambda _: KeyState.MISSING, width=80, today=date(2026, 11, 16)))

    assert max(len(line) for line in lines) <= 80
    told = "\n".join(lines)
    assert [model.route for model in models if model.route not in told] == []


def test_a_model_says_whether_it_ends_or_has_ended():
    days = ("2026-11-15", "2026-11-16", "2026-11-17", "2026-12")
    ends = [listed(route="a/b", ends=Retirement((), "", day, instead="c")) for day in days]
    lines = list(as_lines(ends, lambda _: KeyState.FOUND, width=80, today=date(2026, 11, 16)))

    assert [line.strip() for line in lines[2::2]] == [
        "ended 2026-11-15; use c", "ended 2026-11-16; use c", "ends 2026-11-17; use c", "ends 2026-12; use c",
    ]  # fmt: skip


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_shows_keys_prices_and_what_is_unknown(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    shown = home.legato("models", "--sort", "window").stdout.splitlines()

    assert shown[0].split() == ["route", "window", "out", "takes", "thinks", "$", "in/out", "seen"]
    assert "+ anthropic/claude-opus-4-8 1M 128k id adaptive 5/25 2026-10" in [" ".join(line.split()) for line in shown]
    assert "- xai/grok-4 256k 8k? i - unknown" in [" ".join(line.split()) for line in shown]
    assert "sk-ant" not in "\n".join(shown)


def test_the_same_as_json_has_null_for_a_price_that_is_not_known(home: Home):
    told = home.legato("models", "ollama/", "--json").stdout.splitlines()

    assert [msgspec.json.decode(line) for line in told] == [
        {**msgspec.json.decode(msgspec.json.encode(PLAIN["ollama/qwen3"])), "key": "not needed"}
    ]
    assert '"price_input":null,"price_output":null' in told[0]


def test_the_same_as_json_says_when_a_model_ends_and_where_that_is_written(home: Home):
    (told,) = home.legato("models", "claude-sonnet-4-5", "--provider", "anthropic", "--json").stdout.splitlines()

    assert msgspec.json.decode(told)["ends"] == {
        "retires": "2026-11-30", "deprecated": "", "instead": "claude-sonnet-5-5",
        "source": "https://platform.claude.com/docs/en/models/sonnet-4-5/overview",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("claude-opos-4-8",),
            "legato: no model of the catalogue fits 'claude-opos-4-8'; did you mean claude-opus-4-8",
        ),
        (("zzzzz",), "legato: no model of the catalogue fits 'zzzzz'; `legato models` lists all of them"),
        (
            ("--provider", "antropic"),
            "legato: no model of a provider 'antropic' is known; did you mean anthropic or ",
        ),
        (("--check", "antropic"), "legato: there is no provider 'antropic'; did you mean 'anthropic'?"),
        (("--check",), "legato: there is no key, so nobody can be asked; `legato doctor` shows which are looked for"),
        (("gpt", "--check", "openai"), "legato: --check compares whole providers; leave out the pattern"),
    ],
)
def test_what_fits_nothing_says_what_is_near(home: Home, arguments: tuple[str, ...], told: str):
    done = home.legato("models", *arguments)

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(told)


# --- the comparison ---------------------------------------------------------------------------------------------------


class _Answering(http.server.BaseHTTPRequestHandler):
    """Answers every request alike, and remembers what it was asked."""

    status = 200
    body = b""
    asked: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("authorization", "")))
        self.send_response(self.status)
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as the base class names it
        """Say nothing."""


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server on this machine that gives one answer to everybody: its URL, and what it was asked."""
    asked: list[tuple[str, str]] = []
    kind = type("Answering", (_Answering,), {"status": status, "body": body, "asked": asked})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_check_says_what_is_gone_new_different_and_ending(home: Home):
    listed = {
        "data": [
            {"id": "grok-5", "object": "model"},
            {"id": "grok-4", "context_window": 512_000, "shutdown_date": "2027-02-03"},
            {"id": "grok-4-0709"},
            {"id": 7},
            "not an object",
        ]
    }
    with answering(msgspec.json.encode(listed)) as (url, asked):
        home.configure(
            f'[endpoints]\nxai = "{url}"\n[keys]\nxai = "sk-secret-12345"\n'
            '[[families]]\nname = "f"\nmatch = ["grok-3"]\non = ["xai"]\ncapabilities = {}\n'
        )
        done = home.legato("models", "--check", "xai")

    assert done.stdout.splitlines() == [
        "xai: lists 4 models",
        "  gone (1)",
        "    grok-3",
        "  new (2)",
        "    grok-5   not an object",
        "  differs (1)",
        "    grok-4: window 512k, not 256k",
        "  ends (1)",
        "    grok-4 2027-02-03",
    ]
    assert (done.exit_code, done.stderr) == (3, "")
    assert asked == [("/v1/models", "Bearer sk-secret-12345")]


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, b"hello", "cannot be used: it is not valid JSON"),
        (200, b"<!doctype html><p>Sign in</p>", "cannot be used: it is a web page; check the endpoint"),
        (200, b'{"object": "list"}', "cannot be used: it is JSON, but no list of models; check the endpoint"),
        (200, b"[" * 5_000, "cannot be used: it is "),
        (200, b"", "cannot be used: it is "),
        (401, b'{"error": {"message": "Incorrect API key provided"}}', "did not accept the key"),
        (404, b"<html>nothing here</html>", "Check the endpoint"),
        (302, b"", "xai"),
        (503, b"", "failed or is too busy"),
    ],
)
def test_an_odd_answer_to_a_check_is_one_line_and_no_traceback(home: Home, status: int, body: bytes, told: str):
    with answering(body, status) as (url, _):
        home.configure(f'[endpoints]\nxai = "{url}"\n[keys]\nxai = "sk-secret-12345"\n')
        done = home.legato("models", "--check", "xai")

    assert told in done.stdout
    assert done.stdout.startswith("xai: ")
    assert done.stdout.count("\n") == 1
    assert (done.exit_code, "Traceback" in done.stderr, "sk-secret" in done.output) == (4, False, False)


def test_providers_that_fail_do_not_keep_others_from_being_compared(home: Home):
    with answering(b'[{"id": "grok-4"}]') as (url, _):
        home.configure(
            f'[endpoints]\nxai = "{url}"\nzai = "http://127.0.0.1:1/v1"\n[keys]\nxai = "sk-one-12345"\nzai = "sk-two-1234"\n'
        )
        told = [msgspec.json.decode(line) for line in home.legato("models", "--check", "--json").stdout.splitlines()]

    assert [(one["provider"], one["listed"], one["error"] is None) for one in told] == [
        ("xai", 1, True),
        ("zai", 0, False),
    ]


def test_simulated_providers_list_what_the_catalogue_knows(home: Home):
    home.configure("simulate = true\n")
    done = home.legato("models", "--check", "--json")
    told = [msgspec.json.decode(line) for line in done.stdout.splitlines()]

    assert {one["provider"] for one in told} == set(default_catalogue().providers)
    assert {one["provider"]: one["gone"] + one["differs"] for one in told if one["gone"] or one["differs"]} == {}
    # Where these take requests there is no list that could be asked for, and a check says so.
    assert {one["provider"]: one["error"] for one in told if one["error"]} == {
        name: f"{name} has no list of models that could be asked for"
        for name in ("bedrock", "bedrock-anthropic", "vercel", "vertex-anthropic")
    }
