"""Where the program keeps what it remembers, on each platform."""

from __future__ import annotations

from pathlib import Path


def state_folder() -> Path:
    """Where the program remembers things between runs."""
    import platformdirs

    return platformdirs.user_state_path("legato")


def cache_folder() -> Path:
    """Where long outputs of tools are kept."""
    import platformdirs

    return platformdirs.user_cache_path("legato")
