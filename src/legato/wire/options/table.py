"""Where each kind of server has room for an option, and in which words: the one table of it.

In:  an option in neutral words, or a request body.
Out: the fields of a body, or the option again.

A `Room` goes both ways, so what is read from a request is what is written into one. A cell without a room says who
refuses the option, or why it would mean nothing; then it is left out of a request, with that as the decision.
docs/options.md prints the table, and a test compares the two.

Not in the table, because they are settled with what a model can do: thinking, effort and budget (`thinking`), tools and
the choice among them (`tools`), the length of the answer and the temperature (`settle`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct

from legato.model import Dialect, JsonObject, Target
from legato.wire.hosting import OptionField
from legato.wire.hosts import STRICT, find_host, host_of, own_host
from legato.wire.options.formats import (
    read_bedrock_format,
    read_chat_format,
    read_claude_format,
    read_gemini_format,
    read_responses_format,
    read_vercel_format,
    write_bedrock_format,
    write_chat_format,
    write_claude_format,
    write_gemini_format,
    write_responses_format,
    write_vercel_format,
)
from legato.wire.options.paths import put, take
from legato.wire.options.values import number, truth, whole, word

Write: TypeAlias = Callable[[Any], JsonObject]
Read: TypeAlias = Callable[[JsonObject], Any]


class Room(Struct, frozen=True, kw_only=True):
    """What one kind of server makes of an option."""

    fields: str = ""
    """where it is in a body, for people; empty: nowhere"""
    write: Write | None = None
    """the option as fields of a body"""
    read: Read | None = None
    """takes the option out of a body, in which it finds nothing else; None if it is not there"""
    why: str = ""
    """why there is no room for it"""
    own_only: bool = False
    """it is sent only if a request to this very kind of server had it: the API does not promise to take it"""


# --- what rooms are made of -------------------------------------------------------------------------------------------


def _texts(value: object) -> tuple[str, ...] | None:
    """A list of texts; the chat family takes a single one without a list."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list):
        return None
    texts = tuple(item for item in value if isinstance(item, str))  # pyright: ignore[reportUnknownVariableType]
    return texts if texts and len(texts) == len(value) else None  # pyright: ignore[reportUnknownArgumentType]


def _labels(value: object) -> JsonObject | None:
    return value if isinstance(value, dict) and value else None  # pyright: ignore[reportUnknownVariableType]


def _words(value: object) -> JsonObject | None:
    """Labels that are all texts."""
    labels = _labels(value)
    return labels if labels is not None and all(isinstance(label, str) for label in labels.values()) else None


def _at(path: str, understand: Callable[[object], Any], *, write: Callable[[Any], Any] = lambda value: value) -> Room:
    """A room for a plain value at `path`; what `understand` says None to is left where it is."""
    return Room(
        fields=f"`{path}`",
        write=lambda value: put({}, path, write(value)),
        read=lambda body: take(body, path, understand),
    )


def _no(why: str) -> Room:
    return Room(why=why)


def _own(path: str, understand: Callable[[object], Any], why: str) -> Room:
    room = _at(path, understand)
    return Room(fields=room.fields, write=room.write, read=room.read, why=why, own_only=True)


def _negated(value: object) -> bool | None:
    return not value if type(value) is bool else None


# --- the table --------------------------------------------------------------------------------------------------------

_NO_SEED = _no("the API has no seed")
_NO_TOP_K = _no("the API has no top_k")
_NO_VERBOSITY = _no("only OpenAI's models have a verbosity")
_NO_TTL = _no("the API caches by itself, for as long as it likes")
_NO_LABELS = _no("the API keeps no labels")
_ONE_BY_ONE = _no("the API has no switch for parallel calls")

_CHAT = {
    "top_p": _at("top_p", number),
    "top_k": _own("top_k", whole, "not all servers of the family know top_k, and some refuse what they do not know"),
    "seed": _at("seed", whole),
    "stop": _at("stop", _texts, write=list),
    "output": Room(fields="`response_format`", write=write_chat_format, read=read_chat_format),
    "parallel_calls": _at("parallel_tool_calls", truth),
    "verbosity": _own("verbosity", word, "only OpenAI's models have a verbosity"),
    "metadata": _own("metadata", _labels, "the API keeps no labels"),
    "cache_ttl": _NO_TTL,
}
_READ_AS: Mapping[str, Callable[[object], Any]] = {
    "top_p": number,
    "top_k": whole,
    "seed": whole,
    "parallel_calls": truth,
    "verbosity": word,
    "metadata": _labels,
}
"""the options that a host may call by another name, and what their values look like"""
_OTHER_NAMES = {"seed": _at("random_seed", whole)}
"""names that some hosts have for an option; a body does not say whose it is, so all of them are looked for"""

TABLE: Mapping[str, Mapping[str, Room]] = {
    "openai_chat": _CHAT,  # and what each host says of itself, see `rooms_of`
    # https://platform.openai.com/docs/api-reference/responses/create
    "openai_responses": {
        "top_p": _at("top_p", number),
        "top_k": _NO_TOP_K,
        "seed": _NO_SEED,
        "stop": _no("the Responses API has no stop sequences"),
        "output": Room(fields="`text.format`", write=write_responses_format, read=read_responses_format),
        "parallel_calls": _at("parallel_tool_calls", truth),
        "verbosity": _at("text.verbosity", word),
        "metadata": _at("metadata", _labels),
        "cache_ttl": _NO_TTL,
    },
    # https://docs.claude.com/en/api/messages
    "anthropic": {
        "top_p": _at("top_p", number),
        "top_k": _at("top_k", whole),
        "seed": _NO_SEED,
        "stop": _at("stop_sequences", _texts, write=list),
        "output": Room(fields="`output_config.format`", write=write_claude_format, read=read_claude_format),
        "parallel_calls": _at("tool_choice.disable_parallel_tool_use", _negated, write=lambda value: not value),
        "verbosity": _NO_VERBOSITY,
        "metadata": Room(
            fields="`metadata.user_id`",
            write=lambda labels: {"metadata": {"user_id": labels["user_id"]}} if "user_id" in labels else {},
            read=lambda body: take(body, "metadata.user_id", lambda value: {"user_id": value} if value else None),
        ),
        "cache_ttl": Room(fields="`cache_control.ttl`, on each mark", write=lambda ttl: {}),  # see `caching`
    },
    # https://ai.google.dev/api/generate-content#generationconfig
    "gemini": {
        "top_p": _at("generationConfig.topP", number),
        "top_k": _at("generationConfig.topK", whole),
        "seed": _at("generationConfig.seed", whole),
        "stop": _at("generationConfig.stopSequences", _texts, write=list),
        "output": Room(
            fields="`generationConfig.responseMimeType`, `generationConfig.responseJsonSchema`",
            write=write_gemini_format,
            read=read_gemini_format,
        ),
        "parallel_calls": _ONE_BY_ONE,
        "verbosity": _NO_VERBOSITY,
        "metadata": _NO_LABELS,
        "cache_ttl": _NO_TTL,
    },
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    "bedrock": {
        "top_p": _at("inferenceConfig.topP", number),
        "top_k": _own("additionalModelRequestFields.top_k", whole, "each family of models has its own word for it"),
        "seed": _NO_SEED,
        "stop": _at("inferenceConfig.stopSequences", _texts, write=list),
        "output": Room(fields="`outputConfig.textFormat`", write=write_bedrock_format, read=read_bedrock_format),
        "parallel_calls": _ONE_BY_ONE,
        "verbosity": _NO_VERBOSITY,
        "metadata": _at("requestMetadata", _words),
        "cache_ttl": Room(fields="`cachePoint.ttl`, on each mark", write=lambda ttl: {}),  # see `caching`
    },
    # https://ai-sdk.dev/docs/ai-sdk-core/settings
    "vercel": {
        "top_p": _at("topP", number),
        "top_k": _at("topK", whole),
        "seed": _at("seed", whole),
        "stop": _at("stopSequences", _texts, write=list),
        "output": Room(fields="`responseFormat`", write=write_vercel_format, read=read_vercel_format),
        "parallel_calls": _no("the AI SDK leaves it to `providerOptions`"),
        "verbosity": _no("the AI SDK leaves it to `providerOptions`"),
        "metadata": _no("the AI SDK leaves it to `providerOptions`"),
        "cache_ttl": _no("the AI SDK leaves it to `providerOptions`"),
    },
}
"""kind of server -> option -> its room"""

OPTIONS = tuple(TABLE["anthropic"])
"""the options of the table, in order"""


def rooms_of(target: Target) -> Mapping[str, Room]:
    """The rooms of the server behind `target`."""
    if target.dialect is Dialect.OPENAI_CHAT:
        return rooms_of_host(host_of(target).name)
    host = own_host(target)
    return TABLE[str(target.dialect)] if host is None else rooms_of_host(host.name)


@cache
def rooms_of_host(name: str) -> Mapping[str, Room]:
    """The rooms of a dialect, with what the host `name` declares of its own."""
    host = find_host(name) or STRICT
    return {**TABLE[str(host.dialect)], **{option: _room(option, field) for option, field in host.options.items()}}


def _room(option: str, own: OptionField) -> Room:
    if not own.field:
        return _no(own.why)
    understand = _READ_AS[option]
    return _own(own.field, understand, own.why) if own.why else _at(own.field, understand)


def read_options(body: JsonObject, dialect: Dialect) -> dict[str, Any]:
    """The options that are in `body`, which loses them: what remains has no neutral word."""
    columns = [TABLE[str(dialect)]]
    if dialect is Dialect.OPENAI_CHAT:
        columns.append(_OTHER_NAMES)
    found: dict[str, Any] = {}
    for rooms in columns:
        for option, room in rooms.items():
            if room.read is not None and option not in found and (value := room.read(body)) is not None:
                found[option] = value
    return found


def home_for(dialect: Dialect, found: Mapping[str, Any], rest: JsonObject) -> str:
    """Who understands options that were `found` in a body, and the `rest` of it: its dialect, if there are any."""
    return str(dialect) if rest or any(found.get(option) not in (None, "") for option in OPTIONS) else ""
