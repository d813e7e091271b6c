"""Request bodies of every dialect."""

from __future__ import annotations

from functools import partial

from legato.formats.document import Document, Original
from legato.formats.format import Format, Mended, Outgoing, Written
from legato.formats.wire.reading import read
from legato.formats.wire.shapes import WIRE_DIALECTS, WIRE_PROVIDERS

_TITLES = {
    "openai-chat": "OpenAI Chat Completions request",
    "openai-responses": "OpenAI Responses request",
    "anthropic": "Anthropic Messages request",
    "gemini": "Gemini generateContent request",
    "mistral": "Mistral chat request",
    "kimi": "Kimi chat request",
    "deepseek": "DeepSeek chat request",
    "vercel": "Vercel AI SDK model messages",
    "bedrock": "Amazon Bedrock Converse request",
}


# Writing and repairing take the whole renderer, so they are loaded when they are needed.


def _write(name: str, out: Outgoing) -> Written:
    from legato.formats.wire.write import write_body

    return write_body(out.source, name, model=out.model)


def _repair(document: Document, original: Original) -> Mended:
    from legato.formats.wire.mend import mend_body

    return mend_body(document, original)


FORMATS = tuple(
    Format(
        name=name,
        title=_TITLES[name],
        read=read,
        write=partial(_write, name),
        repair=_repair,
        provider=provider,
        dialect=WIRE_DIALECTS[name],
    )
    for name, provider in WIRE_PROVIDERS.items()
)
