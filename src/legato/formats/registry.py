"""Every format there is: one line each.

The order is the order of detection: a format whose files may look like those of another comes before it, and request
bodies, whose fields are everyone's, come last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from legato.formats import (
    antigravity,
    claude_code,
    cline,
    codex,
    continue_dev,
    copilot,
    cursor,
    droid,
    gemini_cli,
    google_adk,
    goose,
    grok_cli,
    hermes,
    inspect_log,
    kimi_cli,
    kimi_code,
    langchain,
    log,
    mini_swe,
    open_webui,
    openai_agents,
    opencode,
    openhands,
    pi,
    pydantic_ai,
    qwen_code,
    sharegpt,
    swe_agent,
    vercel_ui,
    vscode_chat,
    wire,
)
from legato.formats.chat import records as chat_records
from legato.formats.format import Format

if TYPE_CHECKING:
    WRITTEN: tuple[str, ...]
    """the formats that can be written"""

__all__ = ["FORMATS", "WRITTEN", "Format"]

FORMATS: dict[str, Format] = {
    item.name: item
    for item in (
        qwen_code.FORMAT,
        claude_code.FORMAT,
        codex.FORMAT,
        copilot.FORMAT,
        log.FORMAT,
        langchain.FORMAT,
        pydantic_ai.FORMAT,
        sharegpt.FORMAT,
        openai_agents.FORMAT,
        mini_swe.FORMAT,
        swe_agent.FORMAT,
        vscode_chat.FORMAT,
        opencode.FORMAT,
        vercel_ui.FORMAT,
        gemini_cli.FORMAT,
        antigravity.FORMAT,
        google_adk.FORMAT,
        goose.FORMAT,
        pi.FORMAT,
        kimi_code.FORMAT,
        kimi_cli.FORMAT,
        droid.FORMAT,
        grok_cli.FORMAT,
        hermes.FORMAT,
        continue_dev.FORMAT,
        openhands.FORMAT,
        open_webui.FORMAT,
        inspect_log.FORMAT,
        cursor.FORMAT,
        chat_records.FORMAT,
        cline.FORMAT,
        *wire.FORMATS,
    )
}


def __getattr__(name: str) -> Any:
    if name == "WRITTEN":
        return tuple(item.name for item in FORMATS.values() if item.is_written)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
