"""What the command line asks of a conversation. Light to load: the prompt is drawn before anything else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct


class ChatOptions(Struct, frozen=True, kw_only=True):
    """What the command line asks for. `flags` are settings: by name, the flag and its value."""

    prompt: str | None
    output: str
    takes_json: bool
    """whether standard input holds a message in each line, as JSON"""
    schema: Path | None
    continues: bool
    resume: str | None
    forks: bool
    config: Path | None
    pace: float | None
    stores: bool
    is_quiet: bool
    is_verbose: bool
    log_file: Path | None
    flags: dict[str, tuple[str, Any]]
