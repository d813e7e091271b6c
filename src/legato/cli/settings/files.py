"""Read the settings that hold in a folder: the user's file, the project's file, the environment, flags.

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

from legato.cli.settings.layers import (
    Layer,
    Loaded,
    merge,
    parse_file,
    read_environment,
    read_file,
    read_flags,
    unknown_variables,
)
from legato.cli.settings.project_files import ProjectFile, find_file
from legato.cli.settings.schema import CONFIG_VARIABLE
from legato.cli.settings.trust import Trust
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
    variables = os.environ if environment is None else environment
    here = folder or Path.cwd()
    user = user_file(config, variables)
    if not user.exists() and (config is not None or variables.get(CONFIG_VARIABLE)):
        raise ConfigError(f"{user} does not exist; name another file, or make it with `legato config init`")
    found = find_file(PROJECT_NAMES, here)
    file = None if found.file is None or found.file.path.resolve() == user.resolve() else found.file
    layers: list[Layer] = [read_file(user)]
    project: Layer | None = None
    is_trusted = False
    if file is not None:
        project = _parse_project(file)
        layers.append(project)
        # The bytes whose digest is looked up are those that were parsed.
        is_trusted = Trust().knows(file.path.parent, project.digest)
    layers += [*read_environment(variables), *read_flags(flags or {})]
    merged = merge(layers, project=project, is_trusted=is_trusted)
    own = merged.settings
    if own.providers or own.families or own.keys or own.endpoints or own.history.summarization_model:
        from legato.cli.settings.own_catalogue import check_names  # slow to load

        check_names(own, merged.origins)  # here, where it is known which file says what is wrong
    return replace(
        merged,
        user_file=user,
        project_file=None if file is None else file.path,
        project=project,
        passed_over=found.passed_over,
        unknown=unknown_variables(variables),
    )


def _parse_project(file: ProjectFile) -> Layer:
    if file.size > len(file.data):
        raise ConfigError(f"{file.path} has {file.size:,} bytes, which is too much for settings; remove it")
    return parse_file(file.path, file.data)


def user_file(config: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """The user's file, whether it exists or not."""
    variables = os.environ if environment is None else environment
    named = config or (Path(variables[CONFIG_VARIABLE]) if variables.get(CONFIG_VARIABLE) else None)
    if named is not None:
        return named.expanduser()
    import platformdirs

    return platformdirs.user_config_path("legato") / "config.toml"
