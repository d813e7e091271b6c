"""A request that is read and rendered for the same provider again has every field that it had.

The bodies are those of real clients and of exchanges that live providers accepted, where the samples are at hand, and
any fields that a provider may invent. Messages are not compared here: what becomes of them is tested elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from legato import render, resolve
from legato.model import Dialect, Target
from legato.request import parse
from legato.wire.dialects import dialect_parts
from rule_targets import target_of_exchange

from builders import ROUTES, talk, user

SAMPLES = Path(__file__).parents[2].parent / "shared/samples"
needs_samples = pytest.mark.skipif(not SAMPLES.exists(), reason="the samples are not beside this checkout")

ABOUT_THE_CONVERSATION = frozenset(
    {"messages", "input", "contents", "system", "systemInstruction", "system_instruction", "instructions"}
)
DECIDED_BY_US = frozenset({"model", "store", "stream", "stream_options"})
SAME = {
    # Google takes names in both spellings, and a schema in two forms.
    "parameters_json_schema": "parametersJsonSchema",
    "parameters": "parametersJsonSchema",
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
    "seed": "random_seed",
}
EXPLAINED = {
    # a field that is not as it was -> the decision that says so
    "max_tokens": "max-tokens",
    "thinking": "thinking-budget",
    "reasoning_effort": "effort",
    "generationConfig": "effort",
    "output_config": "effort",
    "reasoning": "effort",
    "tools": "schema-types",
}


def lost(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """What `before` has and `after` has not. Marks for the cache are placed anew; what is empty says nothing."""
    if isinstance(before, dict):
        for name, value in before.items():
            kept = after if isinstance(after, dict) else {}
            if name != "cache_control" and value not in (None, "", {}, []):
                yield from lost(value, kept.get(name, kept.get(SAME.get(name, ""))), f"{path}.{name}")
    elif isinstance(before, list):
        for place, value in enumerate(before):
            kept = after if isinstance(after, list) else []
            if isinstance(value, dict):
                yield from lost(value, kept[place] if place < len(kept) else None, f"{path}[{place}]")
            elif value not in kept:
                yield f"{path}[{place}]"
    elif path.endswith("thinkingLevel"):  # Google takes the word in capitals too
        yield from () if str(before).lower() == after else (path,)
    elif before != after:
        yield path


def lost_around(body: dict[str, Any], target: Target) -> list[str]:
    """The fields around the conversation that go missing without a decision that says so."""
    parsed = parse(body, target)
    request = render(parsed.conversation(), target, tools=parsed.tools, options=parsed.options)
    decided = {decision.reason for decision in request.report.decisions}
    fields = {name: value for name, value in body.items() if name not in ABOUT_THE_CONVERSATION | DECIDED_BY_US}
    after = dict(request.body)
    if target.dialect is Dialect.GEMINI:
        fields["tools"], after["tools"] = by_name(body.get("tools")), by_name(after.get("tools"))
    paths = lost(fields, after)
    return [path for path in paths if EXPLAINED.get(path.split(".")[1].split("[")[0]) not in decided]


def by_name(tools: Any) -> dict[str, Any]:
    """Google's tools, which may be declared in one object or in several."""
    found: dict[str, Any] = {}
    for tool in tools if isinstance(tools, list) else [tools or {}]:
        for kind, value in tool.items():
            is_list = kind in ("functionDeclarations", "function_declarations")
            found |= {one["name"]: one for one in value} if is_list else {kind: value}
    return found


def bodies() -> Iterator[tuple[str, dict[str, Any], Target]]:
    for file in sorted((SAMPLES / "clients").glob("*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines()):
            sent = json.loads(line)
            yield f"{file.stem} {number}", sent["body"], target_of_client(sent)
    accepted = SAMPLES / "provider-exchanges/accepted_tool_turns.jsonl"
    for number, line in enumerate(accepted.read_text().splitlines()):
        sent = json.loads(line)
        target = target_of_exchange(sent["host"], sent["path"], sent["request"].get("model", ""))
        if target is not None:
            yield f"accepted {number}", sent["request"], target


def target_of_client(sent: dict[str, Any]) -> Target:
    model: str = sent["body"].get("model") or sent["path"].partition("models/")[2].partition(":")[0]
    provider = {"openai-chat": "openai"}.get(sent["surface"], sent["surface"])
    if sent["surface"] == "openai-chat":
        provider = next((name for name in ("qwen", "kimi", "mistral", "deepseek") if name in model), provider)
    return resolve(f"{provider}/{model}")


@needs_samples
def test_no_field_of_a_real_request_is_lost_on_its_way_to_the_same_provider() -> None:
    found = {name: paths for name, body, target in bodies() if (paths := lost_around(body, target))}
    assert found == {}


@needs_samples
def test_the_control_items_of_a_real_client_never_speak() -> None:
    triggered = [
        (body, target) for _, body, target in bodies() if "compaction_trigger" in json.dumps(body.get("input"))
    ]
    assert triggered
    for body, target in triggered:
        parsed = parse(body, target)
        assert {"type": "compaction_trigger"} in render(parsed.conversation(), target).body["input"]
        for route in ROUTES:
            if resolve(route).dialect is not Dialect.OPENAI_RESPONSES:
                assert "compaction_trigger" not in render(parsed.conversation(), route).json().decode()


NAMES = st.sampled_from(["zzUnknown", "serviceTier", "betas", "userLocation", "labels"])
VALUES = st.recursive(
    st.booleans() | st.integers(-5, 5) | st.text(alphabet="abc", min_size=1, max_size=4),
    lambda inner: st.lists(inner, min_size=1, max_size=2) | st.dictionaries(NAMES, inner, min_size=1, max_size=2),
    max_leaves=4,
)
FIELDS = st.dictionaries(NAMES, VALUES, max_size=3)
SETTINGS: dict[Dialect, dict[str, Any]] = {
    Dialect.ANTHROPIC: {
        "max_tokens": 2000,
        "thinking": {"type": "enabled", "budget_tokens": 1500},
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "metadata": {"user_id": "u"},
        "stop_sequences": ["END"],
    },
    Dialect.GEMINI: {
        "generationConfig": {
            "topP": 0.5,
            "topK": 3,
            "seed": 1,
            "stopSequences": ["END"],
            "responseMimeType": "application/json",
            "responseJsonSchema": {"type": "object"},
            "thinkingConfig": {"includeThoughts": False},
        },
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}},
    },
    Dialect.OPENAI_CHAT: {
        "top_p": 0.5,
        "seed": 1,
        "stop": ["END"],
        "parallel_tool_calls": False,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
    },
    Dialect.OPENAI_RESPONSES: {
        "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}},
        "reasoning": {"effort": "low", "summary": "detailed"},
        "metadata": {"a": "b"},
        "include": ["web_search_call.action.sources"],
        "parallel_tool_calls": False,
    },
    Dialect.BEDROCK: {
        "inferenceConfig": {"maxTokens": 2000, "topP": 0.96, "stopSequences": ["END"]},
        "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1500}, "top_k": 3},
        "outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"schema": "{}"}}}},
        "requestMetadata": {"a": "b"},
        "guardrailConfig": {"guardrailIdentifier": "g", "guardrailVersion": "1"},
    },
    Dialect.VERCEL: {
        "topP": 0.5,
        "topK": 3,
        "seed": 1,
        "stopSequences": ["END"],
        "responseFormat": {"type": "json", "schema": {"type": "object"}},
        "providerOptions": {"openai": {"user": "u"}},
    },
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def definition(dialect: Dialect, own: dict[str, Any]) -> Any:
    """A tool with fields of its own, as the dialect defines it."""
    match dialect:
        case Dialect.ANTHROPIC:
            return [{**own, "name": "f", "description": "F.", "input_schema": SCHEMA, "strict": True}]
        case Dialect.GEMINI:
            return [{"functionDeclarations": [{**own, "name": "f", "description": "F.", "parameters": SCHEMA}]}]
        case Dialect.OPENAI_CHAT:
            function = {**own, "name": "f", "description": "F.", "parameters": SCHEMA, "strict": True}
            return [{**own, "type": "function", "function": function}]
        case Dialect.OPENAI_RESPONSES:
            tool = {**own, "type": "function", "name": "f", "description": "F.", "parameters": SCHEMA, "strict": True}
            return [tool, {"type": "namespace", "name": "n", "description": "N.", "tools": [tool]}]
        case Dialect.BEDROCK:
            spec = {**own, "name": "f", "description": "F.", "inputSchema": {"json": SCHEMA}, "strict": True}
            return [{"toolSpec": spec}, {"systemTool": {"name": "nova_grounding"}}]
        case Dialect.VERCEL:
            return {"f": {**own, "description": "F.", "inputSchema": SCHEMA, "strict": True}}


def joined(settings_: dict[str, Any], inside: dict[str, Any]) -> dict[str, Any]:
    """`settings_` with fields that nobody knows in each of their objects, and beside them."""
    objects = {
        name: {**inside, **value} if isinstance(value, dict) and name != "metadata" else value
        for name, value in settings_.items()
    }
    return {**inside, **objects}


@pytest.mark.parametrize("route", ROUTES)
@settings(max_examples=25)
@given(inside=FIELDS, own=FIELDS)
def test_fields_that_nobody_knows_go_home(route: str, inside: dict[str, Any], own: dict[str, Any]) -> None:
    target = resolve(route)
    messages = dialect_parts(target.dialect).messages_field
    said = render(talk(user("hi")), target).copy()[messages]
    body = {
        messages: said,
        "tools": definition(target.dialect, own),
        **joined(SETTINGS[target.dialect], inside),
    }
    assert lost_around(body, target) == []
