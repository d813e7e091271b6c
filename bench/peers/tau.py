"""tau: its message objects, through its repair and into its Anthropic payload, as before each of its requests.

The library asks for Python 3.12 because of its `type` statements. On 3.11 they are spelled as the assignments that
they stand for while it is imported; nothing that is measured is touched by that.
"""

# What this imports lives in another environment than the one that is checked.
# pyright: reportMissingImports=false

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import re
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

_ALIAS = re.compile(r"^type (\w+) = (.*?)(?=^\S(?<![\])])|\Z)", re.DOTALL | re.MULTILINE)


def _older_spelling(source: str) -> str:
    """`source` with `type X = ...` as a call that Python 3.11 has from a library; recursive ones by name."""
    if not _ALIAS.search(source):
        return source

    def respell(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip()
        value = repr(value) if re.search(rf"\b{name}\b", value) else value
        return f"{name} = __import__('typing_extensions').TypeAliasType({name!r}, {value})\n\n"

    return _ALIAS.sub(respell, source)


class _OlderLoader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        return super().source_to_code(_older_spelling(bytes(data).decode()).encode(), path)

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class _OlderFinder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith("tau_"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            spec.loader = _OlderLoader(fullname, spec.origin)
        return spec


if sys.version_info < (3, 12):
    sys.meta_path.insert(0, _OlderFinder())

from tau_agent.loop import _provider_context  # noqa: E402  # after the finder
from tau_agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage  # noqa: E402
from tau_ai.anthropic import _build_messages_payload  # noqa: E402

DISTRIBUTION = "tau-ai"
MODEL = "claude-sonnet-4-5"


def load(messages: list[dict[str, Any]]) -> list[Any]:
    names: dict[str, str] = {}
    loaded: list[Any] = []
    for message in messages:
        match message["role"]:
            case "assistant":
                content: list[Any] = [TextContent(text=message["content"])]
                for call in message["tool_calls"]:
                    function = call["function"]
                    names[call["id"]] = function["name"]
                    given = json.loads(function["arguments"])
                    content.append(ToolCall(id=call["id"], name=function["name"], arguments=given))
                loaded.append(AssistantMessage(content=content))
            case "tool":
                call_id = message["tool_call_id"]
                output = [TextContent(text=message["content"])]
                loaded.append(ToolResultMessage(tool_call_id=call_id, tool_name=names[call_id], content=output))
            case _:
                loaded.append(UserMessage(content=message["content"]))
    return loaded


def repair_and_convert(objects: list[Any]) -> object:
    return _build_messages_payload(model=MODEL, system="", messages=_provider_context(objects), tools=[])


CONVERTERS = {"tau": (repair_and_convert, True)}
