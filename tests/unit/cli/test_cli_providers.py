"""Who answers, with which keys, and what is asked before."""

import io
from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec
import pytest

from legato.cli.async_main import run_async
from legato.cli.chat.instructions import nearest_agents, system_prompt
from legato.cli.chat.mcp_servers import ask_for_servers, find_servers, left_out, show
from legato.cli.providers import (
    NotConfigured,
    catalogue_of,
    credentials_of,
    find_profile,
    initial_profile,
    open_world,
    resolve_route,
    resumed_profile,
)
from legato.cli.settings.files import load
from legato.cli.settings.project import ask_to_trust, withheld_note
from legato.cli.settings.project_files import Found, ProjectFile
from legato.cli.settings.schema import Settings, build
from legato.cli.settings.trust import Trust
from legato.cli.terminal.screen import Screen
from legato.errors import ConfigError, UnknownTarget
from legato.routing import Policy, only
from legato.session import World
from legato.simulation import SimulatedTransport
from legato.tools.mcp import McpServer
from legato.transport import Bounds, HttpTransport, Timeouts, Transport
from program import Answers, Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def settings(**table: object) -> Settings:
    return build(table, "a test")


PROFILES = {"work": {"policy": "failover", "routes": ["mistral/mistral-large-latest", "kimi/kimi-k2-thinking"]}}

# --- who answers ---


def test_the_model_that_was_named_answers():
    assert initial_profile(settings(model="kimi/kimi-k2-thinking"), {}) == only("kimi/kimi-k2-thinking")


def test_a_profile_chooses_among_its_routes():
    profile = initial_profile(settings(route="work", profiles=PROFILES), {})

    assert (profile.name, profile.policy, len(profile.routes)) == ("work", Policy.FAILOVER, 2)


def test_with_a_key_and_nothing_else_that_provider_answers():
    assert initial_profile(Settings(), {"MISTRAL_API_KEY": "k"}).routes[0].name == "mistral/mistral-large-latest"
    assert initial_profile(Settings(), {"GROQ_API_KEY": "k"}).routes[0].name.startswith("groq/")


def test_a_route_whose_endpoint_is_not_whole_is_refused_before_anything_is_sent():
    with pytest.raises(ConfigError, match=r"needs a region: set AWS_REGION or AWS_DEFAULT_REGION, or write region"):
        initial_profile(settings(model="bedrock/amazon.nova-pro-v1:0"), {})
    route = "bedrock/amazon.nova-pro-v1:0"
    assert initial_profile(settings(model=route), {"AWS_REGION": "eu-central-1"}) == only(route)
    assert initial_profile(settings(model=route, providers={"bedrock": {"region": "eu-central-1"}}), {}) == only(route)
    assert initial_profile(settings(model=route, endpoints={"bedrock": "http://127.0.0.1:1"}), {}) == only(route)
    assert initial_profile(settings(model=route, simulate=True), {}) == only(route)


def test_a_key_without_the_rest_of_its_endpoint_chooses_nobody():
    with pytest.raises(NotConfigured):
        initial_profile(Settings(), {"AZURE_OPENAI_API_KEY": "k"})
    answering = initial_profile(Settings(), {"AZURE_OPENAI_API_KEY": "k", "AZURE_RESOURCE_NAME": "team"})
    assert answering.routes[0].name == "azure/gpt-4.1"


def test_where_credentials_are_found_is_told_without_showing_them(tmp_path: Path):
    def found(route: str, environment: dict[str, str], **table: object) -> str:
        given = settings(**table)
        return credentials_of(given, resolve_route(given, route, environment), environment)

    aws = {"AWS_REGION": "eu-central-1"}
    keys = {**aws, "AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "secret"}
    bedrock = "bedrock/amazon.nova-pro-v1:0"
    command = {"bedrock": {"token_command": "aws configure export-credentials"}}
    assert [
        found(bedrock, aws),
        found(bedrock, keys),
        found(bedrock, {**keys, "AWS_BEARER_TOKEN_BEDROCK": "bearer"}),
        found(bedrock, keys, providers=command),
        found(bedrock, {**aws, "MINE": "x"}, keys={"bedrock": "$MINE"}),
        found("openai/gpt-4o", {"OPENAI_API_KEY": "k"}),
        found("openai/gpt-4o", {}),
    ] == ["", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "token_command", "$MINE", "OPENAI_API_KEY", ""]


def test_without_any_key_a_person_is_told_what_to_do():
    with pytest.raises(NotConfigured, match="--simulate"):
        initial_profile(Settings(), {})


def test_simulated_providers_need_no_key():
    assert initial_profile(settings(simulate=True), {}).routes[0].name == "anthropic/claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"route": "wrok", "profiles": PROFILES}, "did you mean 'work'"),
        ({"route": "zzz", "profiles": PROFILES}, "there are work"),
        ({"route": "zzz"}, "none is configured"),
    ],
)
def test_a_profile_that_does_not_exist_is_an_error_that_helps(table: dict[str, object], told: str):
    with pytest.raises(ConfigError, match=told):
        initial_profile(settings(**table), {})


def test_a_route_that_names_nothing_is_refused_at_once():
    with pytest.raises(UnknownTarget, match="mistral"):
        initial_profile(settings(model="mistrall/x"), {})


def test_a_stored_session_goes_on_where_it_was():
    mine = settings(route="work", profiles=PROFILES)

    assert resumed_profile(mine, "kimi/kimi-k2-thinking") == find_profile(mine, "work")
    assert resumed_profile(mine, "groq/x") == only("groq/x")
    assert resumed_profile(mine, "") is None
    assert resumed_profile(mine, "gone/model") is None


def test_settings_add_to_the_catalogue():
    mine = settings(
        providers={"mine": {"dialect": "openai_chat", "profile": "strict", "endpoint": "http://127.0.0.1:1/v1"}}
    )

    assert catalogue_of(mine).resolve("mine/x").endpoint == "http://127.0.0.1:1/v1"


def test_a_simulated_world_holds_no_keys_and_a_real_one_the_users(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1")

    async def world(mine: Settings) -> World:
        async with open_world(mine) as made:
            return made

    simulated, real = (
        anyio.run(world, settings(simulate=True)),
        anyio.run(world, settings(endpoints={"openai": "http://x"})),
    )
    assert isinstance(simulated.transport, SimulatedTransport)
    assert simulated.keys.find("openai") is None
    assert isinstance(real.transport, HttpTransport)
    assert real.keys.find("openai") is not None
    assert real.target("openai/gpt-5.1").endpoint == "http://x"


def test_limits_on_answers_are_settings():
    mine = build({"timeouts": {"whole": 60.0, "between_deltas": 30.0}, "bounds": {"stream": 5_000, "calls": 3}}, "here")

    async def transport() -> Transport:
        async with open_world(mine) as made:
            return made.transport

    made = anyio.run(transport)
    assert isinstance(made, HttpTransport)
    assert made.timeouts == Timeouts(whole=60.0, between_deltas=30.0)
    assert made.bounds == Bounds(stream=5_000, calls=3)
    with pytest.raises(ConfigError, match=r"here: bounds\.stream: expected a whole number of at least 1"):
        build({"bounds": {"stream": 0}}, "here")


# --- what the model is told ---


def test_the_nearest_agents_file_wins(home: Home):
    deep = home.work / "a" / "b"
    deep.mkdir(parents=True)
    (home.work / "AGENTS.md").write_text("outer rules")
    assert nearest_agents(deep) == Found(ProjectFile(home.work / "AGENTS.md", b"outer rules", 11))
    (home.work / "a" / "AGENTS.md").write_text("inner rules")
    prompt = system_prompt(Settings(), deep)

    assert "inner rules" in prompt
    assert "outer rules" not in prompt
    assert str(deep) in prompt


def test_the_system_prompt_can_be_replaced_and_added_to(home: Home):
    assert system_prompt(settings(system="Be brief.", append_system="And kind."), home.work) == "Be brief.\n\nAnd kind."


def test_a_huge_agents_file_is_cut(home: Home):
    (home.work / "AGENTS.md").write_text("x" * 100_000)

    assert system_prompt(Settings(), home.work).endswith("[cut: the file has 100,000 bytes]")


# --- what is asked before ---


def servers_file(home: Home, **servers: object) -> None:
    (home.work / ".mcp.json").write_bytes(msgspec.json.encode({"mcpServers": servers}))


def agree(home: Home, *answers: str) -> tuple[list[str], str]:
    import io

    stream = io.StringIO()

    async def main() -> list[McpServer]:
        return await ask_for_servers(find_servers(home.work), screen=Screen(stream), reader=Answers(*answers))

    return [server.name for server in anyio.run(main)], stream.getvalue()


def test_a_server_is_asked_for_once_and_again_when_it_changes(home: Home):
    servers_file(home, one={"command": "run-one", "args": ["--fast"], "env": {"A": "b\u202e"}})
    names, told = agree(home, "y")

    assert names == ["one"]
    assert "  │ run-one --fast\n  │ A=b\\u202e\n" in told
    assert agree(home) == (["one"], "")
    servers_file(home, one={"command": "run-one", "args": ["--other"]})
    assert [server.name for server in find_servers(home.work).unknown] == ["one"]


def test_once_is_not_remembered_and_no_means_no(home: Home):
    servers_file(home, one={"command": "a"}, two={"url": "http://127.0.0.1:1/"}, three={"command": "c"})
    names, told = agree(home, "o", "what", "n")

    assert names == ["one"]
    assert "two is not started." in told
    assert len(find_servers(home.work).unknown) == 3
    assert left_out(find_servers(home.work).unknown).startswith(
        "not started, because nobody agreed to it yet: one, two"
    )


def test_what_a_server_would_do_is_shown_whole():
    server = McpServer(name="x", url="http://h/", headers={"k": "v"}, cwd="/tmp")

    stream = io.StringIO()
    show(server, Screen(stream))

    assert stream.getvalue().splitlines() == [
        ".mcp.json of this project wants to reach the MCP server x:", "  │ http://h/", "  │ in /tmp", "  │ k: v",
    ]  # fmt: skip


def test_without_a_file_there_are_no_servers(home: Home):
    assert agree(home) == ([], "")


def test_a_project_is_trusted_after_a_yes(home: Home):
    (home.work / "legato.toml").write_text('[approval]\nmode = "never"\n')
    stream = io.StringIO()

    def ask(*answers: str) -> bool:
        return run_async(lambda: ask_to_trust(load(), screen=Screen(stream), reader=Answers(*answers)))

    assert not ask("n")
    assert not ask()
    assert "approval.mode" in withheld_note(load())
    assert ask("?", "y")
    assert '  │ approval.mode = "never"\n' in stream.getvalue()
    assert not ask()
    assert load().settings.approval.mode == "never"


class WhileReading:
    """Somebody who says yes, while something is done to the file that they were shown."""

    def __init__(self, change: Callable[[], object]) -> None:
        self._change = change

    async def line(self, question: str, *, default: str = "") -> str:
        self._change()
        return "y"


def test_a_yes_holds_for_what_was_shown_and_not_for_what_the_file_has_become(home: Home):
    project = home.work / "legato.toml"
    shown, other = '[approval]\nallow = ["shell(make test)"]\n', '[approval]\nallow = ["shell"]\n'
    project.write_text(shown)

    reader = WhileReading(lambda: project.write_text(other))
    assert run_async(lambda: ask_to_trust(load(), screen=Screen(io.StringIO()), reader=reader))
    assert load().withheld == {"approval.allow": ["shell"]}

    stream = io.StringIO()
    assert not run_async(lambda: ask_to_trust(load(), screen=Screen(stream), reader=Answers("n")))
    assert '  │ approval.allow = ["shell"]\n' in stream.getvalue()
    project.write_text(shown)
    assert load().settings.approval.allow == ("shell(make test)",)


def test_a_file_that_changes_while_it_is_agreed_to_is_told_of(home: Home, monkeypatch: pytest.MonkeyPatch):
    project = home.work / "legato.toml"
    project.write_text('[approval]\nallow = ["shell(make test)"]\n')
    remember = Trust.remember

    def change_first(self: Trust, place: Path, what: str) -> None:
        project.write_text('[approval]\nallow = ["shell"]\n')
        remember(self, place, what)

    monkeypatch.setattr(Trust, "remember", change_first)
    result = home.legato("config", "trust", "--yes")
    assert (result.exit_code, "changed meanwhile" in result.stderr) == (1, True)
    assert load().withheld == {"approval.allow": ["shell"]}


def test_all_that_a_file_sets_is_shown_before_it_is_trusted(home: Home):
    (home.work / "legato.toml").write_text('color = "never"\nsystem = "\\u202eobey\\u001b[2J"\n')
    stream = io.StringIO()
    assert not run_async(lambda: ask_to_trust(load(), screen=Screen(stream), reader=Answers("n")))
    assert stream.getvalue().splitlines() == [
        f"{home.work / 'legato.toml'} wants to set:",
        r'  │ system = "\u202eobey\u001b[2J"',
        "It also sets, which needs no trust:",
        '  │ color = "never"',
    ]


def test_an_error_leaves_a_task_group_as_itself():
    async def fail() -> None:
        async with anyio.create_task_group():
            raise ConfigError("no")

    with pytest.raises(ConfigError, match="no"):
        run_async(fail)
