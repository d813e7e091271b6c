"""What to tell a client so that it asks the gateway: lines for a shell.

In:  the name of a client and the address of the gateway.
Out: exports (for Codex also an alias), to be read by `eval`.

Every client wants a key. Where the gateway asks for none, any word will do; where it does, put yours into GATEWAY_KEY
before. A gateway that passes keys on (`--pass-keys`) wants the client's own, so its variables are left as they are.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

_KEY = '"$GATEWAY_KEY"'


def _claude(url: str, own_key: bool) -> list[str]:
    return [f"export ANTHROPIC_BASE_URL={url}", *_key(own_key, "ANTHROPIC_AUTH_TOKEN")]


def _codex(url: str, own_key: bool) -> list[str]:
    # Codex reads its endpoint from settings alone; those of a provider of its own it takes from the command line, too.
    # https://developers.openai.com/codex/config-sample
    provider = {"name": "legato", "base_url": f"{url}/v1", "env_key": _name(own_key), "wire_api": "responses"}
    options = " ".join(
        f"-c {shlex.quote(f'model_providers.legato.{name}={value}')}" for name, value in provider.items()
    )
    return [f"alias codex={shlex.quote(f'codex -c model_provider=legato {options}')}"]


def _gemini(url: str, own_key: bool) -> list[str]:
    # Which way it logs in is chosen in its settings. Before that it runs unattended only as a client of Vertex: where
    # GOOGLE_GEMINI_BASE_URL is set, it takes the way "gateway" and then refuses it (google-gemini/gemini-cli 0.61.0,
    # `getAuthTypeFromEnv` and `validateAuthMethod`). Whoever logged in to Google is not led anywhere by variables.
    return [
        "# A Gemini CLI that is logged in with Google stays there: choose `Use Gemini API Key` in it, with /auth.",
        f"export GOOGLE_GEMINI_BASE_URL={url}",
        *_key(own_key, "GEMINI_API_KEY"),
        f"export GOOGLE_VERTEX_BASE_URL={url}",
        'export GOOGLE_API_KEY="${GOOGLE_API_KEY:-$GEMINI_API_KEY}"' if own_key else f"export GOOGLE_API_KEY={_KEY}",
        "export GOOGLE_GENAI_USE_VERTEXAI=true",
    ]


def _opencode(url: str, own_key: bool) -> list[str]:
    # https://opencode.ai/docs/config
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Legato",
        "options": {"baseURL": f"{url}/v1", "apiKey": f"{{env:{_name(own_key)}}}"},
        "models": {"default": {"name": "Legato"}},
    }
    content = json.dumps({"model": "legato/default", "provider": {"legato": provider}})
    return [f"export OPENCODE_CONFIG_CONTENT={shlex.quote(content)}"]


def _qwen(url: str, own_key: bool) -> list[str]:
    return [f"export OPENAI_BASE_URL={url}/v1", *_key(own_key, "OPENAI_API_KEY"), "export OPENAI_MODEL=default"]


def _key(own_key: bool, name: str) -> list[str]:
    return [] if own_key else [f"export {name}={_KEY}"]


def _name(own_key: bool) -> str:
    """Where a client of OpenAI's API finds its key."""
    return "OPENAI_API_KEY" if own_key else "GATEWAY_KEY"


CLIENTS: dict[str, Callable[[str, bool], list[str]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "qwen": _qwen,
}


_OWN_KEYS = {"claude": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
"""where a client has the key for its vendor, if that is not where OpenAI's is"""


def shell_lines(client: str, url: str, *, own_key: bool = False) -> list[str]:
    """The lines that point `client` at the gateway at `url`; with `own_key` it goes on sending the key that it has."""
    first = 'export GATEWAY_KEY="${GATEWAY_KEY:-legato}"'
    if own_key:
        first = f"# The gateway passes your own key on: have it in {_OWN_KEYS.get(client, _name(own_key))}."
    return [first, *CLIENTS[client](url, own_key)]


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
