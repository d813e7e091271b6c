"""What to tell a client so that it asks the gateway: lines for a shell.

In:  the name of a client and the address of the gateway.
Out: exports (for Codex also an alias), to be read by `eval`.

Every client wants a key. Where the gateway asks for none, any word will do; where it does, put yours into GATEWAY_KEY
before.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

_KEY = '"$GATEWAY_KEY"'


def _claude(url: str) -> list[str]:
    return [f"export ANTHROPIC_BASE_URL={url}", f"export ANTHROPIC_AUTH_TOKEN={_KEY}"]


def _codex(url: str) -> list[str]:
    # Codex reads its endpoint from settings alone; those of a provider of its own it takes from the command line, too.
    # https://developers.openai.com/codex/config-sample
    provider = {"name": "legato", "base_url": f"{url}/v1", "env_key": "GATEWAY_KEY", "wire_api": "responses"}
    options = " ".join(
        f"-c {shlex.quote(f'model_providers.legato.{name}={value}')}" for name, value in provider.items()
    )
    return [f"alias codex={shlex.quote(f'codex -c model_provider=legato {options}')}"]


def _gemini(url: str) -> list[str]:
    # Which way it logs in is chosen in its settings. Before that it runs unattended only as a client of Vertex: where
    # GOOGLE_GEMINI_BASE_URL is set, it takes the way "gateway" and then refuses it (google-gemini/gemini-cli 0.61.0,
    # `getAuthTypeFromEnv` and `validateAuthMethod`). Whoever logged in to Google is not led anywhere by variables.
    return [
        "# A Gemini CLI that is logged in with Google stays there: choose `Use Gemini API Key` in it, with /auth.",
        f"export GOOGLE_GEMINI_BASE_URL={url}",
        f"export GEMINI_API_KEY={_KEY}",
        f"export GOOGLE_VERTEX_BASE_URL={url}",
        f"export GOOGLE_API_KEY={_KEY}",
        "export GOOGLE_GENAI_USE_VERTEXAI=true",
    ]


def _opencode(url: str) -> list[str]:
    # https://opencode.ai/docs/config
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Legato",
        "options": {"baseURL": f"{url}/v1", "apiKey": "{env:GATEWAY_KEY}"},
        "models": {"default": {"name": "Legato"}},
    }
    content = json.dumps({"model": "legato/default", "provider": {"legato": provider}})
    return [f"export OPENCODE_CONFIG_CONTENT={shlex.quote(content)}"]


def _qwen(url: str) -> list[str]:
    return [f"export OPENAI_BASE_URL={url}/v1", f"export OPENAI_API_KEY={_KEY}", "export OPENAI_MODEL=default"]


CLIENTS: dict[str, Callable[[str], list[str]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "qwen": _qwen,
}


def shell_lines(client: str, url: str) -> list[str]:
    """The lines that point `client` at the gateway at `url`."""
    return ['export GATEWAY_KEY="${GATEWAY_KEY:-legato}"', *CLIENTS[client](url)]


def fish_lines(lines: list[str]) -> list[str]:
    """The same for fish, which has no `${NAME:-value}`; aliases and comments are written alike there."""
    told: list[str] = []
    for line in lines:
        verb, _, rest = line.partition(" ")
        name, _, value = rest.partition("=")
        if verb != "export":
            told.append(line)
        elif ":-" in value:
            default = value.partition(":-")[2].rstrip('}"')
            told.append(f'set -gx {name} (test -n "${name}"; and echo "${name}"; or echo {default})')
        else:
            told.append(f"set -gx {name} {value}")
    return told


def url_of(host: str, port: int) -> str:
    """The address that clients are told."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
