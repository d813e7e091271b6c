"""Settings: places laid over each other, each value with its origin, and names that mean nothing refused."""

from pathlib import Path
from typing import Any

import pytest

from legato.cli.settings.files import load, user_file
from legato.cli.settings.layers import every_setting, merge, read_environment, read_file, read_flags, unknown_variables
from legato.cli.settings.schema import ENVIRONMENT, Settings
from legato.cli.settings.trust import Trust
from legato.cli.settings.writing import EXAMPLE, add_rule, write_file
from legato.errors import ConfigError
from legato.model.hashing import digest
from program import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def write_trusted(home: Home, text: str) -> Path:
    """A project's file that its user trusts."""
    path = home.work / "legato.toml"
    path.write_text(text)
    Trust().remember(home.work, digest(path.read_bytes()))
    return path


def flags(**values: Any) -> dict[str, tuple[str, Any]]:
    return {name.replace("__", "."): (f"--{name}", value) for name, value in values.items()}


# --- the order of places ---


def test_without_any_place_the_built_in_settings_hold(home: Home):
    loaded = load()

    assert loaded.origins == {}
    assert loaded.settings.approval == Settings().approval
    assert loaded.settings.options.stream


def test_a_later_place_wins_and_every_value_knows_where_it_is_from(home: Home, monkeypatch: pytest.MonkeyPatch):
    home.configure('model = "a/user"\nsystem = "user"\n[limits]\nmax_turns = 1\nparallel = 3\n')
    write_trusted(home, 'model = "b/project"\nappend_system = "project"\n')
    monkeypatch.setenv("LEGATO_MODEL", "c/environment")
    monkeypatch.setenv("LEGATO_MAX_TURNS", "5")
    loaded = load(flags=flags(model="d/flag", limits__max_turns=None))

    assert loaded.settings.model == "d/flag"
    assert (loaded.settings.limits.max_turns, loaded.settings.limits.parallel) == (5, 3)
    assert loaded.origins == {
        "model": "the flag --model",
        "system": str(home.settings),
        "limits.max_turns": "the environment variable LEGATO_MAX_TURNS",
        "limits.parallel": str(home.settings),
        "append_system": str(home.work / "legato.toml"),
    }


def test_each_place_counts_where_no_later_one_speaks(home: Home, monkeypatch: pytest.MonkeyPatch):
    home.configure('model = "a/user"')
    assert load().settings.model == "a/user"
    write_trusted(home, 'model = "b/project"')
    assert load().settings.model == "b/project"
    monkeypatch.setenv("LEGATO_MODEL", "c/environment")
    assert load().settings.model == "c/environment"


def test_model_and_route_both_say_who_answers_so_the_later_one_wins(home: Home):
    home.configure('route = "work"')
    loaded = load(flags=flags(model="a/b"))

    assert (loaded.settings.model, loaded.settings.route) == ("a/b", None)
    assert "route" not in loaded.origins


def test_model_and_route_in_one_place_contradict_each_other(home: Home):
    home.configure('model = "a/b"\nroute = "work"')

    with pytest.raises(ConfigError, match="model and route both say who answers"):
        load()


def test_named_things_are_joined_name_by_name_and_may_have_dots(home: Home):
    home.configure('[keys]\nopenai = "$A"\n[profiles."fast.one"]\nroutes = ["a/b"]\n[options.extra]\n"x.y" = 1\n')
    write_trusted(home, '[profiles.other]\nroutes = ["c/d"]\n')
    loaded = load()

    assert loaded.settings.profiles == {"fast.one": {"routes": ["a/b"]}, "other": {"routes": ["c/d"]}}
    assert loaded.settings.options.extra == {"x.y": 1}
    assert loaded.origins["profiles.fast.one"] == str(home.settings)


@pytest.mark.parametrize("table", ["keys", "endpoints"])
def test_a_provider_that_does_not_exist_has_no_key_and_no_endpoint(home: Home, table: str):
    home.configure(f'[{table}]\nopnai = "http://127.0.0.1:1/v1"\n')
    with pytest.raises(ConfigError) as refused:
        load()

    told = f"{home.settings}: {table}.opnai: there is no provider 'opnai'; did you mean 'openai'?"
    assert str(refused.value) == told


def test_a_provider_of_ones_own_has_a_key_and_an_endpoint(home: Home):
    mine = '[providers.mine]\ndialect = "openai_chat"\nprofile = "strict"\nendpoint = "http://127.0.0.1:9/v1"\n'
    home.configure(f'{mine}[keys]\nmine = "$A"\n[endpoints]\nmine = "http://127.0.0.1:8/v1"\n')

    assert load().settings.keys == {"mine": "$A"}


def test_rules_of_all_places_hold_together(home: Home):
    home.configure('[approval]\ndeny = ["shell(git push *)"]')
    (home.work / "legato.toml").write_text('[approval]\ndeny = ["shell(rm *)"]')
    loaded = load()

    assert loaded.settings.approval.deny == ("shell(git push *)", "shell(rm *)")
    assert loaded.origins["approval.deny"] == f"{home.settings}, {home.work / 'legato.toml'}"


# --- what is refused ---


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('modle = "a/b"', "there is no setting 'modle'; did you mean 'model'?"),
        ('[approval]\nmdoe = "ask"', "there is no setting 'approval.mdoe'; did you mean 'approval.mode'?"),
        ("max_turns = 3", "there is no setting 'max_turns'; did you mean 'limits.max_turns'?"),
        ("[mcp]\nzzz = 1", "there is no setting 'mcp.zzz'; known here are enabled, seconds"),
        ('[limits]\nmax_turns = "many"', "limits.max_turns: expected a whole number, got text"),
        (
            '[approval]\nmode = "maybe"',
            "approval.mode: it cannot be 'maybe'; it is one of ask, edits, plan, never",
        ),
        ('[profiles.p]\npolicy = "any"\nroutes = ["a/b"]', "profiles.p.policy: there is no 'any'; it is one of manual"),
        ("simulate = 3", "simulate: expected true or false, got a whole number"),
        ("[history]\nlow_mark = 2.0", "low_mark"),
        ('[history]\nsummarization_model = "foo"', "history.summarization_model: no provider 'foo' in 'foo'"),
        ('[approval]\ndeny = ["write"]\nallow = ["shell("]', "approval.allow: 'shell(' is no rule; write `tool`"),
        ("[limits]\nmax_turns = 0", "limits.max_turns: expected a whole number of at least 1"),
        ("[limits]\nmax_cost = nan", "limits.max_cost: expected a number of at least 0.0"),
        ("[limits]\nmax_cost = -1", "limits.max_cost: expected a number of at least 0.0"),
        ("[limits]\nparallel = 0", "limits.parallel: expected a whole number of at least 1"),
        ("[limits]\ngrace = -1.0", "limits.grace: expected a number of at least 0.0"),
        ("[timeouts]\nconnect = 0", "timeouts.connect: expected a number above 0.0"),
        ("[approval]\ntimeout = nan", "approval.timeout: expected a number above 0.0"),
        ("[mcp]\nseconds = -1", "mcp.seconds: expected a number above 0.0"),
        ("[tools]\nshell_seconds = 0", "tools.shell_seconds: expected a whole number of at least 1"),
        ("[show]\nlines = -1", "show.lines: expected a whole number of at least 0"),
        ("[serve]\nprot = 1", "there is no setting 'serve.prot'; did you mean 'serve.port'?"),
        ("[serve]\nport = 65536", "serve.port: expected a whole number of at most 65535"),
        ("[serve.limits]\nconcurrent = 0", "serve.limits.concurrent: expected a whole number of at least 1"),
        ("[serve.keys.a]\ndigest = []", "there is no setting 'serve.keys.a.digest'; did you mean"),
        ('[serve.keys.a]\ndigests = ["k"]', "serve.keys.a.digests[0]: expected text matching regex"),
        ("[serve.keys.a]", "serve.keys.a: object missing required field `digests`"),
        ('[serve.models]\n"gpt-4.*" = 1', "serve.models.gpt-4.*: expected text, got a whole number"),
        ("model = ", "not TOML"),
    ],
)
def test_what_means_nothing_is_an_error_with_its_place_and_what_is_near(home: Home, text: str, told: str):
    home.configure(text)

    with pytest.raises(ConfigError) as caught:
        load()
    assert caught.value.message.startswith(str(home.settings))
    assert told in caught.value.message


def test_a_file_that_is_named_and_not_there_is_an_error(home: Home, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ConfigError, match="does not exist"):
        load(config=home.root / "none.toml")
    monkeypatch.setenv("LEGATO_CONFIG", str(home.root / "other.toml"))
    with pytest.raises(ConfigError, match=r"other\.toml does not exist"):
        load()


def test_a_file_that_is_no_text_is_an_error(home: Home):
    home.configure("")
    home.settings.write_bytes(b"\xff\xfe")

    with pytest.raises(ConfigError, match="cannot be read"):
        load()


def test_a_capability_that_does_not_exist_is_refused_with_its_file_and_key(home: Home):
    home.configure("[providers.openai]\ncapabilities = { windwo = 32000 }\n")

    with pytest.raises(ConfigError) as raised:
        load()

    assert raised.value.message == (
        f"{home.settings}: providers.openai.capabilities: there is no capability 'windwo'; did you mean 'window'?"
    )


def test_a_field_that_a_provider_does_not_have_is_refused_with_its_file(home: Home):
    home.configure('[providers.anthropic]\nbase_url = "http://127.0.0.1:1"\n')

    with pytest.raises(ConfigError) as raised:
        load()

    assert raised.value.message.startswith(f"{home.settings}: providers.anthropic: there is no field 'base_url'")


@pytest.mark.parametrize("cost", ["-1", "nan"])
def test_a_limit_that_limits_nothing_is_refused_wherever_it_is_set(cost: str):
    told = r"limits\.max_cost: expected a number of at least 0\.0"
    with pytest.raises(ConfigError, match=f"the environment variable LEGATO_MAX_COST: {told}"):
        read_environment({"LEGATO_MAX_COST": cost})
    with pytest.raises(ConfigError, match=f"the flag --limits__max_cost: {told}"):
        read_flags(flags(limits__max_cost=float(cost)))


def test_a_number_in_the_environment_that_is_none_is_an_error():
    with pytest.raises(ConfigError, match=r"LEGATO_MAX_TURNS: limits\.max_turns: expected a whole number"):
        read_environment({"LEGATO_MAX_TURNS": "few"})


@pytest.mark.parametrize(
    ("word", "value"), [("yes", True), ("on", True), ("1", True), ("TRUE", True), ("no", False), ("off", False)]
)
def test_a_switch_in_the_environment_takes_the_words_that_people_use(home: Home, word: str, value: bool):
    assert load(environment={"LEGATO_SIMULATE": word}).settings.simulate is value


def test_a_word_in_the_environment_that_is_none_of_the_possible_ones_is_told_with_them():
    with pytest.raises(ConfigError) as caught:
        read_environment({"LEGATO_APPROVAL": "foo"})
    assert caught.value.message == (
        "the environment variable LEGATO_APPROVAL: approval.mode: it cannot be 'foo'; it is one of ask, edits, "
        "plan, never"
    )


def test_a_variable_that_sets_nothing_is_told_with_the_nearest_one_that_does():
    variables = {"LEGATO_MODLE": "a/b", "LEGATO_QQ": "1", "LEGATO_DEBUG": "1", "LEGATO_MODEL": "", "OTHER": "1"}

    known = ", ".join([*ENVIRONMENT, "LEGATO_CONFIG", "LEGATO_DEBUG"])
    assert read_environment(variables) == []
    assert unknown_variables(variables) == (
        "the environment variable LEGATO_MODLE sets nothing; did you mean LEGATO_MODEL?",
        f"the environment variable LEGATO_QQ sets nothing; known are {known}",
    )


def test_a_variable_that_sets_nothing_does_not_end_the_program(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LEGATO_STROE", "elsewhere")
    told = "legato: the environment variable LEGATO_STROE sets nothing; did you mean LEGATO_STORE?"

    asked, listed = home.legato("--simulate", "-p", "hello"), home.legato("sessions")

    assert (asked.exit_code, listed.exit_code) == (0, 0)
    assert told in asked.stderr.splitlines()
    assert told in listed.stderr.splitlines()


@pytest.mark.parametrize("variable", sorted(ENVIRONMENT))
def test_every_variable_sets_a_setting_that_exists(variable: str):
    names = dict(every_setting(Settings()))
    assert ENVIRONMENT[variable] in names


def test_a_flag_of_the_wrong_kind_is_an_error():
    with pytest.raises(ConfigError, match=r"the flag --limits__max_turns: limits\.max_turns"):
        read_flags(flags(limits__max_turns="x"))


# --- the project ---


def test_a_project_is_found_upward(home: Home):
    deep = home.work / "a" / "b"
    deep.mkdir(parents=True)
    project = write_trusted(home, 'model = "a/b"')

    assert load(folder=deep).project_file == project
    assert load(folder=deep).settings.model == "a/b"


def test_the_users_own_file_is_no_project(home: Home, monkeypatch: pytest.MonkeyPatch):
    mine = home.work / ".legato.toml"
    mine.write_text('system = "mine"')
    monkeypatch.setenv("LEGATO_CONFIG", str(mine))

    assert load().settings.system == "mine"
    assert load().project_file is None


def test_a_trusted_file_is_known_in_its_own_folder_only(home: Home, tmp_path: Path):
    one, other = tmp_path / "one", tmp_path / "other"
    trust = Trust()
    trust.remember(one, "digest")
    trust.remember(one, "digest")

    assert trust.knows(one, "digest")
    assert not trust.knows(other, "digest")
    assert not trust.knows(one, "another")
    assert trust.path.stat().st_mode & 0o077 == 0


def test_agreements_that_cannot_be_read_count_as_none(home: Home):
    trust = Trust()
    trust.remember(home.work, "digest")
    trust.path.write_text("{")

    assert not trust.knows(home.work, "digest")


# --- writing ---


def test_a_rule_is_added_and_comments_stay(home: Home):
    home.configure('# mine\nmodel = "a/b" # why\n\n[approval]\n# these are safe\nallow = ["shell(ls *)"]\n')
    add_rule(home.settings, "allow", "shell(git status *)")
    add_rule(home.settings, "allow", "shell(git status *)")

    assert home.settings.read_text() == (
        '# mine\nmodel = "a/b" # why\n\n[approval]\n# these are safe\nallow = ["shell(ls *)", "shell(git status *)"]\n'
    )
    assert load().settings.approval.allow == ("shell(ls *)", "shell(git status *)")


def test_a_rule_begins_a_file_that_is_not_there(home: Home):
    add_rule(home.settings, "allow", "shell(ls)")

    assert load().settings.approval.allow == ("shell(ls)",)
    assert home.settings.stat().st_mode & 0o077 == 0


def test_a_rule_is_not_added_to_a_file_that_cannot_be_read(home: Home):
    home.configure("model = ")

    with pytest.raises(ConfigError, match="cannot be changed"):
        add_rule(home.settings, "allow", "shell(ls)")
    assert home.settings.read_text() == "model = "


def test_a_link_to_a_settings_file_stays_a_link(home: Home):
    real = home.root / "dotfiles.toml"
    real.write_text("")
    home.settings.parent.mkdir(parents=True)
    home.settings.symlink_to(real)
    write_file(home.settings, 'model = "a/b"\n')

    assert home.settings.is_symlink()
    assert real.read_text() == 'model = "a/b"\n'


def test_a_folder_that_cannot_be_written_is_an_error(home: Home):
    blocked = home.root / "file"
    blocked.write_text("")

    with pytest.raises(ConfigError, match="cannot be written"):
        write_file(blocked / "config.toml", "")


def test_the_example_is_a_settings_file_that_sets_nothing_and_works_when_uncommented(home: Home):
    home.configure(EXAMPLE)
    assert read_file(home.settings).values == {}
    lines = [
        line.removeprefix("# ")
        for line in EXAMPLE.splitlines()
        if line.startswith(("# [", "# mode", "# policy", "# routes", "# allow"))
    ]
    home.configure("\n".join(line for line in lines if not line.startswith("model")))
    assert load().settings.approval.allow == ("shell(git status *)", "write(docs/**)")


def test_the_place_of_the_users_file_follows_the_platform(home: Home):
    assert user_file() == home.settings
    assert user_file(Path("~/x.toml")) == home.root / "x.toml"


def test_settings_survive_being_listed_and_merged_again():
    assert merge([]).settings == merge([]).settings
    assert dict(every_setting(merge([]).settings))["options.stream"] is True
