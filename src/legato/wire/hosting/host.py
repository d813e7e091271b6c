"""A host: everything that Legato knows about one server of a dialect that others made, declared in one place.

A file of `wire.hosts` declares one, and everything else looks it up there:

    the catalogue          endpoint, keys, capabilities, models, known
    the encoder            style or messages_style, options
    the rules              acceptance, rules; of the Messages API, capabilities
    the simulation         server
    the reader of errors   rules, words, server.says
    the docs               title, sources

The defaults are what every compatible server accepts, so a fact that is not known is simply left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from legato.model import Dialect, JsonObject
from legato.wire.hosting.acceptance import Acceptance
from legato.wire.hosting.known import KnownModels
from legato.wire.hosting.server import ServerHabits
from legato.wire.hosting.style import STRICT_STYLE, MessagesStyle, OptionField, RequestStyle


class Citation(NamedTuple):
    """Where a fact is known from."""

    url: str
    """a page of documentation, or a public issue as `owner/repo#1`"""
    fact: str
    """one sentence: what it says there"""


class Models(NamedTuple):
    """Models of a host with something in common: patterns for their names, and what they accept."""

    name: str
    match: tuple[str, ...]
    capabilities: Mapping[str, Any]


Check: TypeAlias = Callable[[JsonObject], Iterable[tuple[str, str]]]
"""an object of a request -> what is wrong with it: the field, and what to say of it"""


class HostRule(Struct, frozen=True, kw_only=True):
    """Something that this host in particular refuses, or at least dislikes."""

    id: str
    """without the host's name, which goes before it"""
    check: str = ""
    """which check reports it: one of `wire.openai_chat.rules.checks`; empty: it brings its own"""
    in_message: Check | None = None
    """its own check of one message"""
    in_head: Check | None = None
    """its own check of the fields beside the messages"""
    says: str
    """what it asks, in our words"""
    sources: tuple[str, ...]
    error: str = ""
    """what the host says, as a template (see `wire.rules`); empty where its words are not known"""
    code: str = ""
    """the host's own name or number for the error"""
    is_risky: bool = False
    """only some models or versions refuse it, or the model suffers from it"""
    model: str = ""
    """a model that it holds for; empty: the host's example"""


MESSAGES: Mapping[str, Any] = {
    "id_scheme": "toolu",
    "name_rule": "anthropic",
    "middle_system": False,
    "demands_tools": True,
    "empty_text": False,
    "cache_marks": False,
}
"""what every server that speaks the Messages API accepts, in the words of `legato.model.Capabilities`: what Anthropic
refuses is not sent to others either"""

MESSAGES_OPTIONS: Mapping[str, OptionField] = {
    "top_k": OptionField(why="the API ignores top_k, or does not document it"),
    "output": OptionField(why="the API documents no form for an answer"),
    "cache_ttl": OptionField(why="the API caches by itself, for as long as it likes"),
}
"""options of the Messages API that only Anthropic itself is known to take"""


class Host(Struct, frozen=True, kw_only=True):
    """One server of the chat family, or one that speaks the Messages API beside it."""

    name: str
    """what people write before the slash of a route"""
    dialect: Dialect = Dialect.OPENAI_CHAT
    """what it speaks: Chat Completions or Anthropic's Messages"""
    door_of: str = ""
    """the host of which this is another door: whatever models it knows, at their prices, are found here too"""
    title: str
    endpoint: str
    """the base URL"""
    keys: tuple[str, ...] = ()
    """environment variables that may hold its key; the first that is set counts. A server that needs none has none."""
    example: str
    """a model that it has"""
    sources: tuple[Citation, ...] = ()

    profile: str = "strict"
    """`strict`, or its own name where a server somewhere else can be configured to be treated like it"""
    capabilities: Mapping[str, Any] = {}
    """what all of its models have, in the words of `legato.model.Capabilities`"""
    models: tuple[Models, ...] = ()
    known: KnownModels = KnownModels()
    """names of single models, their prices and their ends"""
    style: RequestStyle = STRICT_STYLE
    """how requests are written in Chat Completions"""
    messages_style: MessagesStyle = MessagesStyle()
    """how they are written in Messages"""
    options: Mapping[str, OptionField] = {}
    """options that it takes elsewhere than the rest of the family, or not at all"""
    acceptance: Acceptance = Acceptance()
    rules: tuple[HostRule, ...] = ()
    words: Mapping[str, str] = {}
    """what it says where a rule of the whole family is broken, as templates by the rule's id"""
    own_client: bool = False
    """its vendor has a Python client that takes every field by name, and no others; else OpenAI's client is used"""
    server: ServerHabits = ServerHabits()

    def route_of(self, rule: HostRule) -> str:
        """A route that `rule` holds for."""
        return f"{self.name}/{rule.model or self.example}"
