"""What can be declared about a host: a server of the chat family or of the Messages API, whoever runs it.

host         the record that a file of `wire.hosts` declares
known        names, prices and ends of single models
style        how requests to it are written
acceptance   what it accepts, as the rules judge it
server       how it behaves as a server: what only a simulation has to know

These are records without behaviour. They import nothing but the model, so that looking a host up loads no encoder, no
rule and no simulation.
"""

from __future__ import annotations

from legato.wire.hosting.acceptance import (
    ALL_EFFORTS,
    CHAT_ROLES,
    OPENAI_FIELDS,
    TEXT_PARTS,
    Acceptance,
)
from legato.wire.hosting.host import MESSAGES, MESSAGES_OPTIONS, Citation, Host, HostRule, Models
from legato.wire.hosting.known import KnownModels, Price, Retirement
from legato.wire.hosting.server import (
    CacheHabit,
    ErrorFacts,
    IdHabit,
    RefusalReason,
    ServerHabits,
    openai_error,
)
from legato.wire.hosting.style import STRICT_STYLE, MessagesStyle, OptionField, RequestStyle, Switch

__all__ = [
    "ALL_EFFORTS",
    "CHAT_ROLES",
    "MESSAGES",
    "MESSAGES_OPTIONS",
    "OPENAI_FIELDS",
    "STRICT_STYLE",
    "TEXT_PARTS",
    "Acceptance",
    "CacheHabit",
    "Citation",
    "ErrorFacts",
    "Host",
    "HostRule",
    "IdHabit",
    "KnownModels",
    "MessagesStyle",
    "Models",
    "OptionField",
    "Price",
    "RefusalReason",
    "RequestStyle",
    "Retirement",
    "ServerHabits",
    "Switch",
    "openai_error",
]
