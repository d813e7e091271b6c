"""LiteLLM: chat messages are its own form; it repairs when `modify_params` is set."""

# What this imports lives in another environment than the one that is checked.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import copy
import json
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network for prices while it is imported

import litellm
import pydantic_core
from litellm.litellm_core_utils.prompt_templates.factory import anthropic_messages_pt

DISTRIBUTION = "litellm"
MODEL = "claude-sonnet-4-5"


def load(messages: list[dict[str, Any]]) -> list[Any]:
    return messages


def fresh(objects: list[Any]) -> list[Any]:
    """It writes into the messages that it is given."""
    return copy.deepcopy(objects)


def convert(objects: list[Any]) -> object:
    litellm.modify_params = False
    return anthropic_messages_pt(objects, MODEL, "anthropic")


def repair_and_convert(objects: list[Any]) -> object:
    litellm.modify_params = True
    return anthropic_messages_pt(objects, MODEL, "anthropic")


def parse_and_convert(data: bytes) -> object:
    """With the parser that it uses itself for the arguments of calls."""
    return convert(json.loads(data))


def parse_fast_and_convert(data: bytes) -> object:
    """With the fastest parser among its dependencies."""
    return convert(pydantic_core.from_json(data))


CONVERTERS = {"LiteLLM": (convert, False), "LiteLLM, repairing": (repair_and_convert, True)}
FROM_JSON = {"LiteLLM, from JSON": parse_and_convert, "LiteLLM, from JSON by pydantic": parse_fast_and_convert}
