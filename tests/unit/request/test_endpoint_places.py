"""Endpoints with places: who fills them, in which order, and what is said of one that nobody fills."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from legato import resolve
from legato.errors import ConfigError
from legato.model import Dialect, Platform
from legato.request import default_catalogue

_AWS = {"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "us-east-1"}


def _endpoint(route: str, environment: dict[str, str], said: dict[str, Any] | None = None) -> str:
    provider = route.partition("/")[0]
    catalogue = default_catalogue().extended({"providers": {provider: said}}) if said else default_catalogue()
    return catalogue.fill(catalogue.resolve(route), environment).endpoint


@pytest.mark.parametrize(
    ("route", "environment", "said", "endpoint"),
    [
        ("bedrock/m", _AWS, None, "https://bedrock-runtime.eu-central-1.amazonaws.com"),
        ("bedrock/m", {"AWS_DEFAULT_REGION": "us-east-1"}, None, "https://bedrock-runtime.us-east-1.amazonaws.com"),
        ("bedrock/m", _AWS, {"region": "ap-south-1"}, "https://bedrock-runtime.ap-south-1.amazonaws.com"),
        (
            "vertex/m",
            {"GOOGLE_CLOUD_PROJECT": "mine"},
            None,
            "https://aiplatform.googleapis.com/v1/projects/mine/locations/global/publishers/google",
        ),
        (
            "vertex/m",
            {"GOOGLE_CLOUD_PROJECT": "mine", "GOOGLE_CLOUD_LOCATION": "europe-west1"},
            None,
            "https://europe-west1-aiplatform.googleapis.com/v1/projects/mine/locations/europe-west1/publishers/google",
        ),
        (
            "vertex-anthropic/m",
            {"ANTHROPIC_VERTEX_PROJECT_ID": "mine", "CLOUD_ML_REGION": "eu"},
            None,
            "https://aiplatform.eu.rep.googleapis.com/v1/projects/mine/locations/eu/publishers/anthropic",
        ),
        ("azure/m", {"AZURE_RESOURCE_NAME": "team"}, None, "https://team.openai.azure.com/openai/v1"),
        (
            "azure-responses/m",
            {"AZURE_OPENAI_ENDPOINT": "https://team.services.ai.azure.com/"},
            None,
            "https://team.services.ai.azure.com/openai/v1",
        ),
        (
            "azure-deployments/m",
            {"AZURE_RESOURCE_NAME": "team"},
            {"api_version": "2025-01-01-preview"},
            "https://team.openai.azure.com/openai?api-version=2025-01-01-preview",
        ),
    ],
)
def test_a_place_is_filled_by_the_configuration_then_the_environment_then_a_default(
    route: str, environment: dict[str, str], said: dict[str, Any] | None, endpoint: str
):
    assert _endpoint(route, environment, said) == endpoint


@pytest.mark.parametrize(
    ("route", "told"),
    [
        (
            "bedrock/m",
            (
                "the endpoint of bedrock needs a region: set AWS_REGION or AWS_DEFAULT_REGION, "
                'or write region = "..." under [providers.bedrock] in the configuration'
            ),
        ),
        (
            "vertex/m",
            (
                "the endpoint of vertex needs a project: set GOOGLE_CLOUD_PROJECT, "
                'or write project = "..." under [providers.vertex] in the configuration'
            ),
        ),
        (
            "azure/m",
            (
                "the endpoint of azure needs a resource: set AZURE_RESOURCE_NAME, "
                'or write resource = "..." under [providers.azure] in the configuration'
            ),
        ),
    ],
)
def test_a_missing_place_is_named_with_its_variables_and_its_setting(route: str, told: str):
    with pytest.raises(ConfigError, match=f"^{re.escape(told)}$"):
        _endpoint(route, {})


def test_without_an_environment_a_route_resolves_and_keeps_its_places():
    target = resolve("bedrock-anthropic/us.anthropic.claude-sonnet-4-5-20250929-v1:0")

    assert (target.dialect, target.platform, target.endpoint) == (
        Dialect.ANTHROPIC,
        Platform.BEDROCK,
        "https://bedrock-runtime.{region}.amazonaws.com",
    )


@given(st.text(min_size=1).filter(str.strip))
def test_no_value_leaves_its_part_of_the_endpoint(value: str):
    try:
        filled = _endpoint("bedrock/m", {"AWS_REGION": value})
    except ConfigError:
        return
    assert re.fullmatch(r"https://bedrock-runtime\.[A-Za-z0-9._~-]+\.amazonaws\.com", filled)


def test_a_place_that_the_endpoint_does_not_have_is_refused_with_what_may_be_meant():
    with pytest.raises(
        ConfigError, match=r"no field 'regoin', and the endpoint has no such place; did you mean 'region'\?"
    ):
        default_catalogue().extended({"providers": {"bedrock": {"regoin": "eu-central-1"}}})


def test_a_users_own_endpoint_may_have_places():
    catalogue = default_catalogue().extended(
        {
            "providers": {
                "mine": {
                    "dialect": "openai_chat",
                    "profile": "strict",
                    "endpoint": "https://{tenant}.example/v1",
                    "tenant": "blue",
                }
            }
        }
    )
    assert catalogue.fill(catalogue.resolve("mine/m"), {}).endpoint == "https://blue.example/v1"


@pytest.mark.parametrize(
    ("route", "like"),
    [
        ("bedrock-anthropic/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4-5-20250929"),
        ("bedrock-anthropic/anthropic.claude-opus-4-8-v1:0", "anthropic/claude-opus-4-8"),
        ("vertex-anthropic/claude-sonnet-4-5@20250929", "anthropic/claude-sonnet-4-5-20250929"),
    ],
)
def test_a_model_in_a_cloud_has_the_capabilities_of_its_family_but_not_its_prices(route: str, like: str):
    unpriced = dict.fromkeys(("price_input", "price_output", "price_cache_read", "price_cache_write"))
    assert resolve(route).capabilities == replace(resolve(like).capabilities, **unpriced)


@pytest.mark.parametrize(
    ("route", "window"),
    [
        ("openrouter/anthropic/claude-sonnet-4.5", 200_000),
        ("openrouter/openai/gpt-5.1", 400_000),
        ("openrouter/google/gemini-2.5-pro", 1_048_576),
        ("bedrock/us.anthropic.claude-3-7-sonnet-20250219-v1:0", 200_000),
    ],
)
def test_a_model_behind_a_router_has_the_window_of_its_family(route: str, window: int):
    assert resolve(route).capabilities.window == window
