"""What a tool looks like to a model.

A tool is of one of three kinds. A *function* takes JSON that fits a schema. A *custom* tool takes free text, perhaps
text of a grammar. A *hosted* tool is one that a provider defines, and usually runs, itself: no one else knows what it
is, so its definition goes to that provider as it came, and to no other.

`namespace` keeps tools apart that have the same name: two servers of the Model Context Protocol may both offer a
`search`.
"""

from __future__ import annotations

from msgspec import Struct, field

from legato.model.enums import FastStrEnum
from legato.model.jsonvalue import JsonObject

FREE_TEXT: JsonObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""what a custom tool takes where there are only functions: its text is the argument `input`"""


def _no_arguments() -> JsonObject:
    return {"type": "object", "properties": {}}


class SpecKind(FastStrEnum):
    """What is passed to a tool, and who knows it."""

    FUNCTION = "function"
    CUSTOM = "custom"
    """free text, as `CallKind.CUSTOM` has it"""
    HOSTED = "hosted"
    """defined by a provider; `ToolSpec.native` is the whole definition. One that takes `parameters` is run by the
    client, and is a function to every other provider"""


class TextGrammar(Struct, frozen=True, forbid_unknown_fields=True):
    """The grammar that the text for a custom tool has to match: `syntax` is `lark` or `regex`."""

    syntax: str
    definition: str


class ToolSpec(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A tool's name, what it is for, and what it takes.

    `parameters` is the JSON schema of a function's arguments, `grammar` what a custom tool's text has to match.
    `strict` asks the provider to hold the model to the schema; None leaves that to the provider. `native` holds fields
    of the definition that have no neutral word; they go only to `home`, a dialect (`anthropic`) or one of its servers
    (`openai_chat/kimi`), see `Target.understands`.
    """

    name: str
    description: str = ""
    parameters: JsonObject = field(default_factory=_no_arguments)
    kind: SpecKind = SpecKind.FUNCTION
    namespace: str = ""
    namespace_description: str = ""
    grammar: TextGrammar | None = None
    strict: bool | None = None
    home: str = ""
    native: JsonObject = {}

    @property
    def qualified(self) -> str:
        """The name with its namespace, for people and for `Options.tool`."""
        return qualified(self.name, self.namespace)


def qualified(name: str, namespace: str = "") -> str:
    """A tool's name with its namespace, if it has one."""
    return f"{namespace}.{name}" if namespace else name
