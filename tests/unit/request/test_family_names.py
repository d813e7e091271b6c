"""A model is recognised by its vendor's name, whatever a cloud or a router puts around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.request.family_names import family_name


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-5.1", "gpt-5.1"),
        ("openai/gpt-5.1", "gpt-5.1"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929"),
        ("us-gov.anthropic.claude-3-7-sonnet-20250219-v1:0", "claude-3-7-sonnet-20250219"),
        ("global.anthropic.claude-opus-4-8", "claude-opus-4-8"),
        ("anthropic.claude-3-haiku-20240307-v1:0:200k", "claude-3-haiku-20240307"),
        ("apac.amazon.nova-pro-v1:0", "nova-pro"),
        ("eu.meta.llama3-2-3b-instruct-v1:0", "llama3-2-3b-instruct"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss-120b-1"),
        ("deepseek.v3-v1:0", "v3"),
        ("arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0", "nova-lite"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"),
        ("claude-opus-4-8@default", "claude-opus-4-8"),
        ("publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("accounts/fireworks/models/kimi-k2-instruct", "kimi-k2-instruct"),
        ("z-ai/glm-4.6:free", "glm-4.6"),
        ("deepseek-ai/DeepSeek-V3.2", "deepseek-v3.2"),
        ("qwen3:8b", "qwen3"),
        ("mistral.example", "example"),
        ("amazing.model", "amazing.model"),
        ("meta." * 5_000 + "x", "x"),
        ("", ""),
    ],
)
def test_the_name_is_the_vendors_own(model: str, name: str):
    assert family_name(model) == name


_PARTS = ["us.", "anthropic.", "meta.", "claude-4", "-v1:0", "@", "20250929", ":", "/", "free", "-v2", "X", " ", "."]


@given(st.lists(st.sampled_from(_PARTS), max_size=8).map("".join) | st.text(max_size=20))
def test_a_vendors_own_name_stays_as_it_is(model: str):
    assert family_name(family_name(model)) == family_name(model)
