"""Where settings are: the user's file, the project's file, and what is remembered beside them.

user      config.toml in the platform's configuration folder ($XDG_CONFIG_HOME/legato), or --config, LEGATO_CONFIG
project   .legato.toml or legato.toml, in this folder or the nearest one above it
trusted   what a person has agreed to: digests of project files and MCP servers, in the platform's state folder
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from legato.cli.settings import CONFIG_VARIABLE
from legato.cli.settings_layers import Layer, Loaded, merge, read_environment, read_file, read_flags
from legato.errors import ConfigError

PROJECT_NAMES = (".legato.toml", "legato.toml")


def load(
    *,
    flags: Mapping[str, tuple[str, Any]] | None = None,
    config: Path | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Loaded:
    """The settings for `folder`; raises `ConfigError` that names the place of what is wrong."""
    from legato.cli.trust import Trust

    variables = os.environ if environment is None else environment
    here = folder or Path.cwd()
    user = user_file(config, variables)
    if not user.exists() and (config is not None or variables.get(CONFIG_VARIABLE)):
        raise ConfigError(f"{user} does not exist; name another file, or make it with `legato config init`")
    layers: list[Layer] = [read_file(user)]
    project = find_upward(PROJECT_NAMES, here)
    if project is not None and project == user.resolve():
        project = None
    if project is not None:
        layers.append(read_file(project))
    layers += [*read_environment(variables), *read_flags(flags or {})]
    is_trusted = project is not None and Trust().knows_file(project)
    loaded = merge(layers, project=None if project is None else str(project), is_trusted=is_trusted)
    return replace(loaded, user_file=user, project_file=project)


def user_file(config: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """The user's file, whether it exists or not."""
    variables = os.environ if environment is None else environment
    named = config or (Path(variables[CONFIG_VARIABLE]) if variables.get(CONFIG_VARIABLE) else None)
    if named is not None:
        return named.expanduser()
    import platformdirs

    return platformdirs.user_config_path("legato") / "config.toml"


def state_folder() -> Path:
    """Where the program remembers things between runs."""
    import platformdirs

    return platformdirs.user_state_path("legato")


def cache_folder() -> Path:
    """Where long outputs of tools are kept."""
    import platformdirs

    return platformdirs.user_cache_path("legato")


def find_upward(names: tuple[str, ...], folder: Path) -> Path | None:
    """The first of `names` in `folder` or the nearest folder above it."""
    here = folder.resolve()
    for place in (here, *here.parents):
        for name in names:
            if (place / name).is_file():
                return place / name
    return None
