"""Credentials beside keys: each source, in its order, and what is said where one fails."""

from __future__ import annotations

import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from legato.errors import ConfigError, LegatoError, Unauthorized
from legato.model import Target
from legato.model.secrets import KEEPERS
from legato.request import Catalogue, default_catalogue
from legato.session import World
from legato.transport import HttpTransport, Key, KeyRing, WireRequest
from legato.transport.credentials import account_of, commands, find_authoriser

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 5, 1, tzinfo=UTC).timestamp()
AWS = {"AWS_REGION": "eu-central-1"}
AWS_KEYS = {**AWS, "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "very-secret-key"}
GOOGLE = {"GOOGLE_CLOUD_PROJECT": "mine"}
AZURE = {"AZURE_RESOURCE_NAME": "team"}
BEDROCK, VERTEX, AZURE_GPT = "bedrock/amazon.nova-pro-v1:0", "vertex/gemini-2.5-pro", "azure/my-gpt"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def printing(text: str, tally: Path | None = None) -> str:
    """A command that prints `text`, and a line into `tally`."""
    script = 'printf %s "$0"' + (f"; printf 'ran ' >> {shlex.quote(str(tally))}" if tally else "")
    return shlex.join(["sh", "-c", script, text])


def catalogue(provider: str, **fields: str) -> Catalogue:
    return default_catalogue().extended({"providers": {provider: fields}}) if fields else default_catalogue()


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def world(route: str, environment: dict[str, str], clock: Clock | None = None, **fields: str) -> World:
    known = catalogue(route.partition("/")[0], **fields)
    return World(catalogue=known, keys=KeyRing({}, environment, known), clock=clock or Clock())


async def sent(route: str, here: World, **headers: str) -> WireRequest:
    return await here.outgoing(here.target(route), b"{}", stream=False, headers=headers)


def shown(request: WireRequest) -> dict[str, str]:
    return {name: value.reveal() for name, value in request.secrets.items()}


# --- Bedrock ----------------------------------------------------------------------------------------------------------


async def test_a_bearer_key_goes_before_the_keys_that_sign():
    request = await sent(BEDROCK, world(BEDROCK, {**AWS_KEYS, "AWS_BEARER_TOKEN_BEDROCK": "bedrock-key"}))

    assert shown(request) == {"authorization": "Bearer bedrock-key"}


async def test_the_keys_of_the_environment_sign_with_the_time_of_the_clock():
    request = await sent(BEDROCK, world(BEDROCK, {**AWS_KEYS, "AWS_SESSION_TOKEN": "session-token"}))

    headers = shown(request)
    proof = headers.pop("authorization")
    assert headers == {"x-amz-date": "20260501T000000Z", "x-amz-security-token": "session-token"}
    assert proof.startswith(
        "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260501/eu-central-1/bedrock/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature="
    )


@pytest.mark.parametrize("name", ["default", "work"])
async def test_a_profile_of_the_shared_files_signs(tmp_path: Path, name: str):
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text(
        "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = a\n"
        "[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key = b%c\n"
    )
    chosen = {} if name == "default" else {"AWS_PROFILE": name}
    request = await sent(BEDROCK, world(BEDROCK, {**AWS, "HOME": str(tmp_path), **chosen}))

    assert f"Credential=AKIA{name.upper()}/" in shown(request)["authorization"]


async def test_a_profile_may_name_a_command(tmp_path: Path):
    printed = json.dumps({"Version": 1, "AccessKeyId": "ASIAPRINTED", "SecretAccessKey": "s", "SessionToken": "t"})
    config = tmp_path / "config"
    config.write_text(f"[profile work]\ncredential_process = {printing(printed)}\n")
    here = world(BEDROCK, {**AWS, "AWS_PROFILE": "work", "AWS_CONFIG_FILE": str(config)})
    request = await sent(BEDROCK, here)

    assert "Credential=ASIAPRINTED/" in shown(request)["authorization"]
    assert shown(request)["x-amz-security-token"] == "t"


async def test_a_profile_that_no_file_has_is_named_with_what_to_do(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"AWS_PROFILE names 'gone'.*aws configure export-credentials --profile gone"):
        await sent(BEDROCK, world(BEDROCK, {**AWS, "AWS_PROFILE": "gone", "HOME": str(tmp_path)}))


async def test_what_a_command_lends_is_asked_for_again_shortly_before_it_expires(tmp_path: Path):
    tally, clock = tmp_path / "tally", Clock()
    printed = {
        "Version": 1,
        "AccessKeyId": "ASIALENT",
        "SecretAccessKey": "s",
        "Expiration": datetime.fromtimestamp(NOW + 3600, UTC).isoformat(),
    }
    command = printing(json.dumps(printed), tally)
    here = world(BEDROCK, AWS_KEYS, clock, token_command=command)
    for seconds in (0, 3000, 3550):
        clock.now = NOW + seconds
        assert "Credential=ASIALENT/" in shown(await sent(BEDROCK, here))["authorization"]

    assert tally.read_text() == "ran ran "


async def test_credentials_that_have_expired_already_are_refused():
    printed = {"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "s", "Expiration": "2020-01-01T00:00:00Z"}
    with pytest.raises(Unauthorized, match=r"have expired already \(2020-01-01 .*\); sign in again"):
        await sent(BEDROCK, world(BEDROCK, AWS, token_command=printing(json.dumps(printed))))


@pytest.mark.parametrize(
    "printed", ["no json", "{}", '{"Version": 2, "AccessKeyId": "a", "SecretAccessKey": "sesame"}']
)
async def test_what_is_no_set_of_credentials_is_refused_without_showing_it(printed: str):
    with pytest.raises(Unauthorized, match="is no JSON with Version 1, AccessKeyId") as caught:
        await sent(BEDROCK, world(BEDROCK, AWS, token_command=printing(printed)))
    assert "sesame" not in str(caught.value)


# --- Vertex and Azure -------------------------------------------------------------------------------------------------


async def test_a_token_in_a_variable_is_sent_to_vertex():
    request = await sent(VERTEX, world(VERTEX, {**GOOGLE, "GOOGLE_ACCESS_TOKEN": "ya29.variable"}))

    assert shown(request) == {"authorization": "Bearer ya29.variable"}


async def test_a_command_of_the_configuration_goes_before_the_environment(tmp_path: Path):
    tally, clock = tmp_path / "tally", Clock()
    environment = {**GOOGLE, "GOOGLE_ACCESS_TOKEN": "ya29.variable"}
    here = world(VERTEX, environment, clock, token_command=printing("ya29.printed", tally))
    for seconds in (0, 200, 400):
        clock.now = NOW + seconds
        assert shown(await sent(VERTEX, here)) == {"authorization": "Bearer ya29.printed"}

    assert tally.read_text() == "ran ran "  # nothing says when it expires, so it is kept for a few minutes


async def test_googles_library_is_asked_where_it_is_installed(monkeypatch: pytest.MonkeyPatch):
    class Credentials:
        token = None
        expiry = datetime(2026, 5, 1, 1)

        def refresh(self, _request: object) -> None:
            self.token = "ya29.library"

    library: Any = ModuleType("google.auth")
    library.default = lambda scopes: (Credentials(), scopes)
    requests: Any = ModuleType("google.auth.transport.requests")
    requests.Request = object
    monkeypatch.setitem(sys.modules, "google.auth", library)
    monkeypatch.setitem(sys.modules, "google.auth.transport.requests", requests)
    monkeypatch.setattr("legato.transport.credentials.tokens.find_spec", lambda name: name)
    here = world(VERTEX, {**GOOGLE, "HOME": "/nowhere"})

    assert shown(await sent(VERTEX, here)) == {"authorization": "Bearer ya29.library"}
    lent = here.keys.lent("vertex", now=NOW)
    assert lent is not None
    assert (lent.values, lent.expires) == ((Key("ya29.library"),), NOW + 3600)


async def test_a_library_that_fails_is_told_by_the_kind_of_its_error(monkeypatch: pytest.MonkeyPatch):
    def fail(scopes: list[str]) -> None:
        raise RuntimeError("token ya29.leaked is bad")

    library: Any = ModuleType("google.auth")
    library.default = fail
    monkeypatch.setitem(sys.modules, "google.auth", library)
    monkeypatch.setattr("legato.transport.credentials.tokens.find_spec", lambda name: name)

    with pytest.raises(Unauthorized, match=r"gave no token for vertex \(RuntimeError\)") as caught:
        await sent(VERTEX, world(VERTEX, {**GOOGLE, "HOME": "/nowhere"}))
    assert "ya29.leaked" not in str(caught.value)


def test_no_library_is_asked_for_a_token_to_another_host(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("legato.transport.credentials.tokens.find_spec", lambda name: name)
    known = default_catalogue()
    keys = KeyRing({}, {**GOOGLE, "HOME": "/nowhere"})
    own = known.fill(known.resolve(VERTEX), keys.environment)
    other = known.resolve(VERTEX, endpoint="http://127.0.0.1:1/v1")

    sources = [find_authoriser(target, known.providers["vertex"], keys) for target in (own, other)]
    assert [one and one.lender.source for one in sources] == ["google-auth", None]


@pytest.mark.parametrize(
    ("environment", "headers"),
    [
        ({"AZURE_OPENAI_API_KEY": "azure-key"}, {"api-key": "azure-key"}),
        ({"AZURE_OPENAI_AD_TOKEN": "entra-token"}, {"authorization": "Bearer entra-token"}),
    ],
)
async def test_azure_takes_a_key_or_a_token(environment: dict[str, str], headers: dict[str, str]):
    assert shown(await sent(AZURE_GPT, world(AZURE_GPT, {**AZURE, **environment}))) == headers


async def test_a_command_may_print_a_token_with_its_end(tmp_path: Path):
    printed = json.dumps({"accessToken": "entra-printed", "expires_on": NOW + 5000})
    here = world(AZURE_GPT, AZURE, token_command=printing(printed))

    assert shown(await sent(AZURE_GPT, here)) == {"authorization": "Bearer entra-printed"}
    lent = here.keys.lent("azure", now=NOW)
    assert lent is not None
    assert lent.expires == NOW + 5000


# --- a file that somebody keeps up to date ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "held",
    [
        "ya29.held\n",
        '{"access_token": "ya29.held", "token_type": "Bearer"}',
        '{"token": "ya29.held", "expiry": "2026-05-01T01:00:00.000000Z", "refresh_token": "1//0"}',
        '{"token": "ya29.held", "expiry": "2026-05-01T01:00:00"}',
        '{"accessToken": "ya29.held", "expires_on": 1777597200}',
    ],
)
@pytest.mark.parametrize(("route", "environment"), [(VERTEX, GOOGLE), (AZURE_GPT, AZURE)])
async def test_a_token_is_read_from_a_file(tmp_path: Path, route: str, environment: dict[str, str], held: str):
    file = tmp_path / "token"
    file.write_text(held)
    here = world(route, {**environment, "GOOGLE_ACCESS_TOKEN": "ya29.variable"}, token_file=str(file))

    assert shown(await sent(route, here)) == {"authorization": "Bearer ya29.held"}


async def test_a_file_that_changes_is_read_again_at_once(tmp_path: Path):
    file = tmp_path / "token"
    here = world(VERTEX, GOOGLE, token_file=str(file))
    for token in ("ya29.first", "ya29.second"):
        file.write_text(token)
        assert shown(await sent(VERTEX, here)) == {"authorization": f"Bearer {token}"}
    assert "ya29.second" in here.keys.secrets()


async def test_keys_that_sign_may_stand_in_a_file_too(tmp_path: Path):
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"Version": 1, "AccessKeyId": "ASIAFILE", "SecretAccessKey": "s"}))
    request = await sent(BEDROCK, world(BEDROCK, AWS_KEYS, token_file=str(file)))

    assert "Credential=ASIAFILE/" in shown(request)["authorization"]


async def test_the_file_that_gcloud_is_told_of_is_read_for_vertex_alone(tmp_path: Path):
    file = tmp_path / "token"
    file.write_text("ya29.gcloud")
    environment = {**GOOGLE, "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(file)}
    assert shown(await sent(VERTEX, world(VERTEX, environment))) == {"authorization": "Bearer ya29.gcloud"}

    elsewhere = world(VERTEX, environment)
    target = elsewhere.catalogue.resolve(VERTEX, endpoint="http://127.0.0.1:1/v1")
    assert find_authoriser(target, elsewhere.catalogue.providers["vertex"], elsewhere.keys) is None


@pytest.mark.parametrize(
    ("route", "header"),
    [("openai/gpt-5.1", ("authorization", "Bearer held")), ("anthropic/claude-opus-4-8", ("x-api-key", "held"))],
)
async def test_any_provider_may_be_lent_its_key(tmp_path: Path, route: str, header: tuple[str, str]):
    (tmp_path / "token").write_text("held")
    here = world(route, {"OPENAI_API_KEY": "of-the-environment"}, token_file=str(tmp_path / "token"))

    assert shown(await sent(route, here)) == dict([header])


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (None, "token, does not exist; see to what writes it, or correct token_file"),
        (" \n", "token, is empty; see to what writes it"),
        ("x" * 70_000, "is longer than 65,536 bytes"),
        (
            "sesame\nsesame",
            "what the token file of vertex holds is empty or holds characters that a header cannot carry",
        ),
        ('{"key": "sesame"}', "is JSON without accessToken, access_token or token; give the token alone"),
        ('{"refresh_token": "sesame"}', "name it in GOOGLE_APPLICATION_CREDENTIALS"),
        (
            '{"token": "sesame", "expiry": "2026-04-30T23:00:00Z"}',
            r"token_file lends for vertex have expired already \(2026-04-30 23:00:00\+00:00\); see to what writes the file",
        ),
    ],
)
async def test_a_file_without_a_good_token_is_named_and_not_shown(tmp_path: Path, held: str | None, told: str):
    file = tmp_path / "token"
    if held is not None:
        file.write_text(held)
    with pytest.raises((Unauthorized, ConfigError), match=told) as caught:
        await sent(VERTEX, world(VERTEX, GOOGLE, token_file=str(file)))
    assert "sesame" not in str(caught.value)


async def test_a_folder_is_no_token_file(tmp_path: Path):
    with pytest.raises(Unauthorized, match=r"cannot be read \(Is a directory\)"):
        await sent(VERTEX, world(VERTEX, GOOGLE, token_file=str(tmp_path)))


async def test_half_a_path_is_refused():
    with pytest.raises(ConfigError, match="the token file tokens/vertex is not named by a whole path"):
        await sent(VERTEX, world(VERTEX, GOOGLE, token_file="tokens/vertex"))


async def test_a_command_and_a_file_are_one_too_many():
    with pytest.raises(ConfigError, match="names a token_command and a token_file; keep one"):
        await sent(VERTEX, world(VERTEX, GOOGLE, token_file="/a", token_command="b"))


# --- what goes wrong, and what nobody sees ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/no/such/program --token sesame", "it cannot be started"),
        ("sh -c 'echo sesame; exit 1'", "it ended with 1"),
        ("sh -c :", "it printed nothing"),
    ],
)
async def test_a_command_that_fails_is_told_without_its_words(command: str, told: str):
    with pytest.raises(Unauthorized, match=told) as caught:
        await sent(VERTEX, world(VERTEX, GOOGLE, token_command=command))
    assert "sesame" not in str(caught.value)


async def test_a_command_has_a_time_limit():
    with pytest.raises(Unauthorized, match=r"it took longer than 0\.01 seconds"):
        await commands.read_command("sleep 600", provider="vertex", seconds=0.01)


@pytest.mark.parametrize(
    ("route", "environment", "told"),
    [
        (BEDROCK, {}, "the endpoint of bedrock needs a region: set AWS_REGION or AWS_DEFAULT_REGION"),
        (BEDROCK, AWS, "there is no key for bedrock: set AWS_BEARER_TOKEN_BEDROCK, or .*AWS_ACCESS_KEY_ID"),
        (VERTEX, {}, "the endpoint of vertex needs a project: set GOOGLE_CLOUD_PROJECT"),
        (AZURE_GPT, AZURE, "there is no key for azure: set AZURE_OPENAI_API_KEY, or .*AZURE_OPENAI_AD_TOKEN"),
    ],
)
async def test_nothing_leaves_without_a_whole_endpoint_and_credentials(
    route: str, environment: dict[str, str], told: str
):
    async with HttpTransport() as transport:
        with pytest.raises(LegatoError, match=told):
            await transport.send(await sent(route, world(route, environment)))


async def test_what_was_lent_is_hidden_wherever_it_stands():
    here = world(VERTEX, GOOGLE, token_command=printing("ya29.lent-and-secret"))
    request = await sent(VERTEX, here)

    assert here.keys in KEEPERS
    assert "ya29.lent-and-secret" in here.keys.secrets()
    assert "ya29.lent-and-secret" not in repr(request) + repr(here.keys) + repr(here.keys.lent("vertex", now=NOW))


async def test_a_header_of_the_route_takes_the_place_of_what_is_lent():
    here = world(VERTEX, GOOGLE, token_command="/no/such/program")

    assert shown(await sent(VERTEX, here, Authorization="Bearer gateway")) == {"authorization": "Bearer gateway"}


def test_an_account_lasts_longer_than_a_token():
    def account(route: str, environment: dict[str, str]) -> str:
        target: Target = default_catalogue().resolve(route)
        return account_of(target, KeyRing({}, environment))

    assert account(VERTEX, {"GOOGLE_ACCESS_TOKEN": "one"}) == account(VERTEX, {"GOOGLE_ACCESS_TOKEN": "two"})
    assert account(BEDROCK, AWS_KEYS) == Key("AKIAEXAMPLE").account
    lent = {**AWS_KEYS, "AWS_SESSION_TOKEN": "hourly"}
    assert account(BEDROCK, lent) == account(BEDROCK, {**lent, "AWS_ACCESS_KEY_ID": "ASIAOTHER"})
