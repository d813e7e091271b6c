"""For the tests of the chat dialect: targets, contexts, whole bodies put together, and the vendors' types as judges."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import (
    MistralRequestValidatorV3,
    MistralRequestValidatorV11,
    MistralRequestValidatorV13,
    ValidationMode,
)
from mistralai.client.models import ChatCompletionRequest as HostedRequest
from openai.types.chat import ChatCompletionMessageParam
from openai.types.chat.completion_create_params import CompletionCreateParams
from pydantic import TypeAdapter

from legato.model import (
    CallId,
    Capabilities,
    Decision,
    Dialect,
    Foreign,
    IdScheme,
    NameRule,
    Options,
    Target,
    ToolCall,
    ToolSpec,
)
from legato.transcript.units import Completion, CompletionKind, Exchange, Unit
from legato.wire.context import EncodeContext, End, Thoughts
from legato.wire.ids import IdTable
from legato.wire.names import NameTable
from legato.wire.openai_chat import DIALECT
from legato.wire.options import Envelope

_CAPABILITIES: dict[str, dict[str, Any]] = {
    "openai": {"developer_role": True},
    "kimi": {"id_scheme": IdScheme.KIMI, "name_rule": NameRule.KIMI, "reasoning_field": True},
    "mistral": {"id_scheme": IdScheme.NINE, "user_after_tool": False, "middle_system": False},
    "deepseek": {"images": False, "reasoning_field": True},
    "strict": {},
}
PROFILES = tuple(_CAPABILITIES)


def target(profile: str = "openai", **capabilities: Any) -> Target:
    return Target(
        dialect=Dialect.OPENAI_CHAT,
        profile=profile,
        provider=profile,
        model=f"{profile}-model",
        endpoint=f"https://api.{profile}.example/v1",
        capabilities=Capabilities(**{**_CAPABILITIES.get(profile, {}), **capabilities}),
    )


def call(name: str = "read", stem: str = "a", /, **fields: Any) -> ToolCall:
    return ToolCall(name, fields.pop("arguments", {"path": "a"}), f"call_{stem}", CallId(f"hist_tool_{stem}"), **fields)


def success(stem: str = "a", /, result: Any = "done", **fields: Any) -> Completion:
    return Completion(CallId(f"hist_tool_{stem}"), CompletionKind.SUCCESS, result=result, **fields)


def failure(stem: str = "a", /, error: str = "boom", **fields: Any) -> Completion:
    return Completion(CallId(f"hist_tool_{stem}"), CompletionKind.ERROR, error=error, **fields)


def closed(stem: str = "a", /, **fields: Any) -> Completion:
    return Completion(CallId(f"hist_tool_{stem}"), CompletionKind.SYNTHETIC, **fields)


def context(
    to: Target,
    units: Sequence[Unit] = (),
    *,
    home: bool = False,
    thinking_on: bool = False,
    foreign: Foreign = Foreign.DROP,
) -> EncodeContext:
    names = NameTable(to.capabilities.name_rule)
    ids = IdTable(to.capabilities.id_scheme, names)
    ids.extend([one for unit in units if isinstance(unit, Exchange) for one in unit.calls])
    return EncodeContext(to, ids, names, lambda _origin: home, thinking_on, foreign)


def printed(
    units: Sequence[Unit],
    to: Target,
    *,
    system: str = "",
    tools: Sequence[ToolSpec] = (),
    options: Options = Options(),
    keep_thinking: bool = True,
    **details: Any,
) -> tuple[dict[str, Any], list[Decision]]:
    """The whole body that the assembler would make, and every decision on the way."""
    speaking = context(to, units, **details)
    called = [(one.name, one.namespace) for unit in units if isinstance(unit, Exchange) for one in unit.calls]
    encoder = DIALECT.encoder(speaking)
    top = DIALECT.head(Envelope(system, tools, options, called), speaking)
    messages: list[Any] = list(top.first)
    decisions = list(top.decisions)
    end = End.START
    for unit in units:
        encoded = encoder.encode(unit, end, Thoughts.SHOWN if keep_thinking else Thoughts.HELD_BACK)
        messages += encoded.messages
        decisions += encoded.decisions
        end = encoded.end
    last = encoder.tail(end)
    messages += last.messages
    return {**top.fields, "messages": messages}, decisions + list(last.decisions)


def messages(units: Sequence[Unit], to: Target, **how: Any) -> list[Any]:
    return printed(units, to, **how)[0]["messages"]


def decided(units: Sequence[Unit], to: Target, **how: Any) -> list[tuple[str, str]]:
    return [(str(one.action), one.reason) for one in printed(units, to, **how)[1]]


_OPENAI_MESSAGE = TypeAdapter[Any](ChatCompletionMessageParam)
_OPENAI_BODY = TypeAdapter[Any](CompletionCreateParams)


def assert_openai_types_accept(body: dict[str, Any]) -> None:
    """The official client's request types take `body`. They check lists lazily, so every list is walked."""
    _walk(_OPENAI_BODY.validate_python(body))
    for message in body["messages"]:
        read = _OPENAI_MESSAGE.validate_python(message)
        _walk(read)
        assert set(message) == set(read), f"fields that the client does not know: {set(message) - set(read)}"


def _walk(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            _walk(item)
    elif not isinstance(value, str) and hasattr(value, "__iter__"):
        for item in value:
            _walk(item)


def assert_mistral_accepts(body: dict[str, Any], *, oldest: bool = False) -> None:
    """Mistral's own validators take `body`; `oldest` adds the one for models that take text or calls, not both."""
    HostedRequest.model_validate(body)
    fields = {**body, "messages": [_with_plain_thinking(message) for message in body["messages"]]}
    fields.pop("stream", None)
    validators = [MistralRequestValidatorV11, MistralRequestValidatorV13]
    for validator in [*validators, MistralRequestValidatorV3] if oldest else validators:
        request: Any = ChatCompletionRequest.model_validate(fields)
        validator(ValidationMode.serving).validate_request(request)
    roles = [message["role"] for message in body["messages"]]
    assert ("tool", "user") not in list(itertools.pairwise(roles)), "older servers refuse user after tool"


def assert_valid(body: dict[str, Any], to: Target) -> None:
    """Our rules find nothing to refuse, and the vendor's own types agree."""
    assert [found for found in DIALECT.check(body, to) if found.severity == "refused"] == []
    if to.profile == "mistral":
        assert_mistral_accepts(body)
    elif to.profile == "openai":
        assert_openai_types_accept(body)


def _with_plain_thinking(message: dict[str, Any]) -> dict[str, Any]:
    """The validators have the thinking of a chunk as a string, where the hosted service has a list."""
    if not isinstance(message["content"], list):
        return message
    return {
        **message,
        "content": [
            {"type": "thinking", "thinking": part["thinking"][0]["text"]} if part["type"] == "thinking" else part
            for part in message["content"]
        ],
    }
