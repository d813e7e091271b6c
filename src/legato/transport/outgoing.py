"""A request as data: what would be sent, to the last byte, before anything is sent.

In:  a target, the bytes of a body, a key.
Out: a `WireRequest`, which any transport can carry: the one with sockets, or a provider simulated in this process.

An endpoint is the base URL that a vendor documents (`https://api.openai.com/v1`, `https://api.anthropic.com`,
`https://generativelanguage.googleapis.com/v1beta`); what follows it is a fact of the dialect, in one table. A
request carries the headers of its own target only: nothing is taken over from an earlier request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from msgspec import Struct

from legato.errors import ConfigError
from legato.model import Dialect, Platform, Target
from legato.transport.keys import Key, Lent
from legato.version import __version__


class WireRequest(Struct, frozen=True, kw_only=True):
    """One request. `headers` holds what anyone may see, `secrets` the headers that no one may."""

    method: str
    url: str
    headers: dict[str, str]
    secrets: dict[str, Key]
    body: bytes
    stream: bool
    target: Target
    lent: Lent | None = None
    """what was lent to authorise it; None if it carries a key, or nothing"""

    @property
    def dialect(self) -> Dialect:
        """The family of shapes that the answer will have."""
        return self.target.dialect

    @property
    def route(self) -> str:
        """What a person calls the other end."""
        return self.target.route

    @property
    def place(self) -> str:
        """The URL without user, password and query, for messages."""
        return shown_url(self.url)

    def sent_headers(self) -> dict[str, str]:
        """All headers with their values: for the transport that writes them, and for nothing else."""
        return {**self.headers, **{name: secret.reveal() for name, secret in self.secrets.items()}}

    def __repr__(self) -> str:
        names = ", ".join(sorted({*self.headers, *self.secrets}))
        return (
            f"WireRequest({self.method} {self.place}, route={self.route!r}, headers=[{names}], "
            f"body={len(self.body):,} bytes, stream={self.stream})"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        # msgspec gives every struct one that shows all fields, the body too.
        return [("request", repr(self))]


class HttpApi(NamedTuple):
    """How the API of a dialect is called: what follows the endpoint, and which header takes the key."""

    path: str
    stream_path: str
    key_header: str
    key_prefix: str = ""
    stream_query: str = ""
    fixed: tuple[tuple[str, str], ...] = ()
    accepts: str = "text/event-stream"
    """how a stream is framed"""


EVENT_FRAMES = "application/vnd.amazon.eventstream"

HTTP_APIS: dict[Dialect, HttpApi] = {
    Dialect.OPENAI_CHAT: HttpApi("/chat/completions", "/chat/completions", "authorization", "Bearer "),
    Dialect.OPENAI_RESPONSES: HttpApi("/responses", "/responses", "authorization", "Bearer "),
    Dialect.ANTHROPIC: HttpApi(
        "/v1/messages", "/v1/messages", "x-api-key", fixed=(("anthropic-version", "2023-06-01"),)
    ),
    Dialect.GEMINI: HttpApi(
        "/models/{model}:generateContent",
        "/models/{model}:streamGenerateContent",
        "x-goog-api-key",
        stream_query="alt=sse",
    ),
    Dialect.VERCEL: HttpApi("/chat", "/chat", "authorization", "Bearer "),
    Dialect.BEDROCK: HttpApi(
        "/model/{model}/converse", "/model/{model}/converse-stream", "authorization", "Bearer ", accepts=EVENT_FRAMES
    ),
}

_VERTEX = HttpApi("", "", "authorization", "Bearer ")
_AZURE = HttpApi("", "", "api-key")

PLATFORM_APIS: dict[tuple[Dialect, Platform], HttpApi] = {
    # https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
    (Dialect.GEMINI, Platform.VERTEX): _VERTEX._replace(
        path="/models/{model}:generateContent",
        stream_path="/models/{model}:streamGenerateContent",
        stream_query="alt=sse",
    ),
    # https://docs.anthropic.com/en/api/claude-on-vertex-ai
    (Dialect.ANTHROPIC, Platform.VERTEX): _VERTEX._replace(
        path="/models/{model}:rawPredict", stream_path="/models/{model}:streamRawPredict"
    ),
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html
    (Dialect.ANTHROPIC, Platform.BEDROCK): HttpApi(
        "/model/{model}/invoke",
        "/model/{model}/invoke-with-response-stream",
        "authorization",
        "Bearer ",
        accepts=EVENT_FRAMES,
    ),
    # https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
    (Dialect.OPENAI_CHAT, Platform.AZURE): _AZURE._replace(path="/chat/completions", stream_path="/chat/completions"),
    (Dialect.OPENAI_RESPONSES, Platform.AZURE): _AZURE._replace(path="/responses", stream_path="/responses"),
    # https://learn.microsoft.com/azure/ai-services/openai/reference
    (Dialect.OPENAI_CHAT, Platform.AZURE_DEPLOYMENTS): _AZURE._replace(
        path="/deployments/{model}/chat/completions", stream_path="/deployments/{model}/chat/completions"
    ),
}
"""where a platform calls a dialect in another way than its maker does"""


def http_api(target: Target) -> HttpApi:
    """How the API of `target` is called."""
    return PLATFORM_APIS.get((target.dialect, target.platform)) or HTTP_APIS[target.dialect]


KEY_HEADERS = frozenset(
    {api.key_header for api in (*HTTP_APIS.values(), *PLATFORM_APIS.values())}
    | {"proxy-authorization", "cookie", "x-amz-security-token"}
)
"""headers that say on whose account a request is made, here or at a gateway"""


def wire_request(
    target: Target,
    body: bytes,
    *,
    key: Key | None,
    stream: bool,
    headers: Mapping[str, str] | None = None,
) -> WireRequest:
    """The request that carries `body` to `target`.

    `headers` are those of the route, added to or replacing ours; their values count as secrets, because a gateway's
    token is one. `key` is None for a server that asks for none.
    """
    api = http_api(target)
    shown = {
        "content-type": "application/json",
        "accept": api.accepts if stream else "application/json",
        "user-agent": f"legato/{__version__}",
        **dict(api.fixed),
    }
    secrets: dict[str, Key] = {}
    if key is not None:
        secrets[api.key_header] = Key(api.key_prefix + key.reveal())
    for name, value in (headers or {}).items():
        name = _header_name(name, target)
        shown.pop(name, None)
        secrets[name] = Key(value, source=f"the header {name} of {target.route}")
    return WireRequest(
        method="POST",
        url=_url(target, api, stream),
        headers=shown,
        secrets=secrets,
        body=body,
        stream=stream,
        target=target,
    )


def shown_url(url: str) -> str:
    """`url` without user, password, query and fragment: what a message may hold."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _url(target: Target, api: HttpApi, stream: bool) -> str:
    try:
        parts = urlsplit(target.endpoint.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, a port beyond 65535
        usable = False
    if not usable:
        raise ConfigError(
            f"the endpoint of {target.route} is not a base URL; give one such as https://api.example.com/v1",
            route=target.route,
        )
    parts = urlsplit(target.endpoint.strip())
    path = (api.stream_path if stream else api.path).format(
        model=quote(target.model, safe="@")
    )  # Vertex' names of Claude
    base = parts.path.rstrip("/")
    first = "/" + path.split("/")[1]
    if first == "/v1" and base.endswith("/v1"):  # such an endpoint is given both ways
        base = base.removesuffix("/v1")
    query = "&".join(part for part in (parts.query, api.stream_query if stream else "") if part)
    return urlunsplit((parts.scheme, parts.netloc, base + path, query, ""))


_HEADER_NAME = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_NOT_YOURS = frozenset({"content-length", "transfer-encoding", "host", "connection"})


def _header_name(name: str, target: Target) -> str:
    lower = name.strip().lower()
    if not re.fullmatch(_HEADER_NAME, lower) or lower in _NOT_YOURS:
        raise ConfigError(f"{target.route} cannot be sent a header named {name!r}; rename or remove it")
    return lower
