"""The clouds on this machine: what we send there, streamed and whole, and that the vendors' own clients send the same."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any

import openai
import pytest
from anthropic.lib.bedrock import AnthropicBedrock
from anthropic.lib.vertex import AnthropicVertex
from anyio.from_thread import start_blocking_portal
from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials

from legato import Conversation, Options, parse, render
from legato.request import default_catalogue
from legato.session import Session, World
from legato.simulation import SimulatedWorld, base_urls, serve
from legato.tools import Approval, Mode
from legato.transport import HttpTransport, KeyRing
from loopback import PATIENT
from simulation_support import running

AWS_KEYS = {"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-key"}
GOOGLE_TOKEN = {"GOOGLE_ACCESS_TOKEN": "ya29.token", "GOOGLE_CLOUD_PROJECT": "mine"}
AZURE_KEY = {"AZURE_OPENAI_API_KEY": "azure-key", "AZURE_RESOURCE_NAME": "team"}
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

CLOUDS = [
    pytest.param("bedrock-anthropic", CLAUDE, AWS_KEYS, id="claude-at-bedrock"),
    pytest.param("vertex", "gemini-3-pro-preview", GOOGLE_TOKEN, id="gemini-at-vertex"),
    pytest.param("vertex-anthropic", "claude-sonnet-4-5@20250929", GOOGLE_TOKEN, id="claude-at-vertex"),
    pytest.param("azure", "my-gpt", AZURE_KEY, id="azure"),
    pytest.param("azure-responses", "my-gpt", AZURE_KEY, id="azure-responses"),
    pytest.param("azure-deployments", "my-gpt", AZURE_KEY, id="azure-deployments"),
]


pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def _served(world: SimulatedWorld) -> AsyncIterator[dict[str, str]]:
    async with running(world) as port:
        yield base_urls("127.0.0.1", port)


def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


@pytest.mark.parametrize(("provider", "model", "environment"), CLOUDS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_session_with_tools_runs_in_every_cloud(
    provider: str, model: str, environment: dict[str, str], stream: bool
):
    simulated = SimulatedWorld(needs_keys=True)
    async with _served(simulated) as urls, HttpTransport(PATIENT) as transport:
        world = World(transport=transport, keys=KeyRing({}, environment), endpoints=urls)
        options = Options(stream=stream)
        approval = Approval(mode=Mode.NEVER)
        async with Session(
            f"{provider}/{model}", world=world, tools=[double], options=options, approval=approval
        ) as session:
            result = await session.send("use double on 21")

    assert result.text == 'double returned: "2".'
    assert simulated.refusals == []
    assert len(simulated.requests) == 2


async def test_claude_at_bedrock_and_vertex_is_asked_without_a_model_in_the_body():
    simulated = SimulatedWorld()
    async with _served(simulated) as urls, HttpTransport(PATIENT) as transport:
        for provider, model, environment in (
            ("bedrock-anthropic", CLAUDE, AWS_KEYS),
            ("vertex-anthropic", "claude-sonnet-4-5@20250929", GOOGLE_TOKEN),
        ):
            world = World(transport=transport, keys=KeyRing({}, environment), endpoints=urls)
            async with Session(f"{provider}/{model}", world=world) as session:
                await session.send("hello")

    sent = [(one.path, {name: one.json.get(name) for name in _TELLING}) for one in simulated.requests]
    assert sent == [
        (
            f"/bedrock-anthropic/model/{CLAUDE}/invoke-with-response-stream",
            {"anthropic_version": "bedrock-2023-05-31", "model": None, "stream": None},
        ),
        (
            "/vertex-anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
            {"anthropic_version": "vertex-2023-10-16", "model": None, "stream": True},
        ),
    ]


_TELLING = ("anthropic_version", "model", "stream")


# --- the vendors' clients ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[SimulatedWorld, dict[str, str]]]:
    with pytest.MonkeyPatch.context() as patched:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
            patched.delenv(name, raising=False)
            patched.delenv(name.lower(), raising=False)
        world = SimulatedWorld(needs_keys=True)
        with start_blocking_portal() as portal:
            task, port = portal.start_task(partial(serve, world=world), "127.0.0.1", 0)
            yield world, base_urls("127.0.0.1", port)
            task.cancel()


def _request(route: str) -> Any:
    talk = Conversation()
    talk.human("hello there")
    target = default_catalogue().resolve(route)
    request = render(talk, target, tools=[double], options=Options(stream=False))
    request.verify()
    return request


def _is_what_we_send(world: SimulatedWorld, request: Any) -> None:
    seen = world.requests[-1]
    assert seen.refusal is None
    assert seen.json == json.loads(request.json())


def test_anthropics_client_for_vertex_sends_what_we_send(server: tuple[SimulatedWorld, dict[str, str]]):
    world, urls = server
    request = _request("vertex-anthropic/claude-sonnet-4-5@20250929")
    with AnthropicVertex(
        region="global", project_id="mine", access_token="ya29.token", base_url=urls["vertex-anthropic"], max_retries=0
    ) as client:
        answer = request.decode(client.messages.create(**request.sdk()))

    assert answer.text
    _is_what_we_send(world, request)
    assert world.requests[-1].path.endswith("/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict")


def test_anthropics_client_for_vertex_streams_what_we_can_read(server: tuple[SimulatedWorld, dict[str, str]]):
    _, urls = server
    request = _request("vertex-anthropic/claude-sonnet-4-5@20250929")
    with AnthropicVertex(
        region="global", project_id="mine", access_token="ya29.token", base_url=urls["vertex-anthropic"], max_retries=0
    ) as client:
        decoder = request.decoder()
        for event in client.messages.create(**request.sdk(), stream=True):
            decoder.event(event)

    assert decoder.finish().text


def test_anthropics_client_for_bedrock_sends_what_we_send(server: tuple[SimulatedWorld, dict[str, str]]):
    world, urls = server
    request = _request(f"bedrock-anthropic/{CLAUDE}")
    with AnthropicBedrock(
        api_key="bedrock-key", aws_region="eu-central-1", base_url=urls["bedrock-anthropic"], max_retries=0
    ) as client:
        answer = request.decode(client.messages.create(**request.sdk()))

    assert answer.text
    _is_what_we_send(world, request)
    assert world.requests[-1].path == f"/bedrock-anthropic/model/{CLAUDE}/invoke"


def test_anthropics_client_for_bedrock_streams_what_we_can_read(server: tuple[SimulatedWorld, dict[str, str]]):
    """It takes AWS's frames apart with AWS's own parser."""
    world, urls = server
    request = _request(f"bedrock-anthropic/{CLAUDE}")
    with AnthropicBedrock(
        aws_access_key="AKIAEXAMPLE",
        aws_secret_key="secret-key",
        aws_region="eu-central-1",
        base_url=urls["bedrock-anthropic"],
        max_retries=0,
    ) as client:
        decoder = request.decoder()
        with client.messages.stream(**request.sdk()) as stream:
            for event in stream:
                decoder.event(event)
            whole = stream.get_final_message()

    assert request.decode(whole).text
    assert decoder.finish().text == request.decode(whole).text
    assert world.requests[-1].path == f"/bedrock-anthropic/model/{CLAUDE}/invoke-with-response-stream"
    assert world.requests[-1].refusal is None


@pytest.fixture(scope="module")
def aws(server: tuple[SimulatedWorld, dict[str, str]]) -> Iterator[Any]:
    """AWS's own client, asking the server on this machine."""
    boto3: Any = import_module("boto3")  # it has no types
    client = boto3.client(
        "bedrock-runtime",
        region_name="eu-central-1",
        endpoint_url=server[1]["bedrock"],
        aws_access_key_id="AKIAEXAMPLE",
        aws_secret_access_key="secret-key",
    )
    yield client
    client.close()


NOVA = "bedrock/amazon.nova-pro-v1:0"


def test_awss_client_sends_what_we_send_and_reads_what_is_answered(
    server: tuple[SimulatedWorld, dict[str, str]], aws: Any
):
    world, _ = server
    request = _request(NOVA)
    answered = aws.converse(**request.sdk())

    assert request.decode(answered).text == answered["output"]["message"]["content"][0]["text"] != ""
    assert answered["usage"]["totalTokens"] > 0
    _is_what_we_send(world, request)


def test_awss_client_streams_what_we_can_read(server: tuple[SimulatedWorld, dict[str, str]], aws: Any):
    world, _ = server
    talk = Conversation()
    talk.human("use double on 21")
    request = render(talk, default_catalogue().resolve(NOVA), tools=[double])
    decoder = request.decoder()
    kinds: list[str] = []
    for event in aws.converse_stream(**request.sdk())["stream"]:
        kinds += event
        decoder.event(event)
    answer = decoder.finish()

    assert [call.name for call in answer.calls] == ["double"]
    assert (kinds[0], kinds[-2:]) == ("messageStart", ["messageStop", "metadata"])
    assert world.requests[-1].refusal is None


def test_awss_client_knows_our_refusals_by_their_names(aws: Any):
    errors: Any = import_module("botocore.exceptions")
    with pytest.raises(errors.ClientError) as caught:
        aws.converse(modelId="amazon.nova-pro-v1:0", messages=[{"role": "assistant", "content": [{"text": "hi"}]}])

    told = caught.value.response
    assert (told["Error"]["Code"], told["ResponseMetadata"]["HTTPStatusCode"]) == ("ValidationException", 400)
    assert told["ResponseMetadata"]["RequestId"]


def test_openais_client_for_azure_sends_what_we_send(server: tuple[SimulatedWorld, dict[str, str]]):
    world, urls = server
    request = _request("azure-deployments/my-gpt")
    with openai.AzureOpenAI(
        api_key="azure-key",
        api_version="2024-10-21",
        base_url=urls["azure-deployments"].partition("?")[0],  # the client brings the version
        max_retries=0,
    ) as client:
        answer = request.decode(client.chat.completions.create(**request.sdk()))

    assert answer.text
    _is_what_we_send(world, request)
    assert world.requests[-1].path == "/azure-deployments/openai/deployments/my-gpt/chat/completions"


def test_googles_client_for_vertex_sends_what_we_send(server: tuple[SimulatedWorld, dict[str, str]]):
    world, urls = server
    request = _request("vertex/gemini-3-pro-preview")
    client = genai.Client(
        vertexai=True,
        project="mine",
        location="global",
        credentials=Credentials("ya29.token"),
        http_options=types.HttpOptions(base_url=urls["vertex"].removesuffix("/v1"), api_version="v1"),
    )
    answer = request.decode(client.models.generate_content(**request.sdk()))
    client.close()

    assert answer.text
    # The client writes some names in snake case, and a config even if it is empty.
    assert parse(world.requests[-1].json, request.target) == parse(request.copy(), request.target)
    assert world.requests[-1].path.endswith("/publishers/google/models/gemini-3-pro-preview:generateContent")
