"""Station 1, what was said: frozen values.

Entries are made of blocks and carry their origin; records are what a log holds; a target says where a request goes and
what is accepted there. Everything here is data, safe to share between a log, its views and a request.
"""

from __future__ import annotations

from legato.model.blocks import (
    UNMINTED,
    Block,
    CallId,
    CallKind,
    Code,
    HostedTool,
    Media,
    MediaKind,
    MintedId,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.model.closures import CLOSURE_TEXTS, ClosureReason, closure_text, recognise_closure
from legato.model.decisions import Action, Decision, Fault, PrefixCause
from legato.model.entries import BROKEN_OFF, Answer, Authority, Ending, Entry, Origin, Speaker, Usage
from legato.model.ingestion import clean_text, ingest, ingest_sent, read_json, read_json_leniently
from legato.model.jsonvalue import Json, JsonObject
from legato.model.options import Choice, Foreign, Include, Options, OutputFormat, ThinkingPolicy, ThinkingSwitch
from legato.model.records import Record
from legato.model.safety import safe
from legato.model.targets import (
    Capabilities,
    Dialect,
    IdScheme,
    NameRule,
    Platform,
    Target,
    ThinkingMode,
    normal_endpoint,
)
from legato.model.tools import FREE_TEXT, SpecKind, TextGrammar, ToolSpec, qualified

__all__ = [
    "BROKEN_OFF",
    "CLOSURE_TEXTS",
    "FREE_TEXT",
    "UNMINTED",
    "Action",
    "Answer",
    "Authority",
    "Block",
    "CallId",
    "CallKind",
    "Capabilities",
    "Choice",
    "ClosureReason",
    "Code",
    "Decision",
    "Dialect",
    "Ending",
    "Entry",
    "Fault",
    "Foreign",
    "HostedTool",
    "IdScheme",
    "Include",
    "Json",
    "JsonObject",
    "Media",
    "MediaKind",
    "MintedId",
    "NameRule",
    "Options",
    "Origin",
    "OutputFormat",
    "Platform",
    "PrefixCause",
    "Record",
    "Speaker",
    "SpecKind",
    "Target",
    "Text",
    "TextGrammar",
    "Thinking",
    "ThinkingMode",
    "ThinkingPolicy",
    "ThinkingSwitch",
    "ToolCall",
    "ToolResponse",
    "ToolSpec",
    "Usage",
    "clean_text",
    "closure_text",
    "ingest",
    "ingest_sent",
    "normal_endpoint",
    "qualified",
    "read_json",
    "read_json_leniently",
    "recognise_closure",
    "safe",
]
