"""Credentials of AWS, and the signature they make.

In:  an environment, and perhaps what a command printed or a file holds.
Out: who signs; and the secret headers of one request.

They are looked for where AWS's own tools look: `AWS_ACCESS_KEY_ID` and its companions, then the profile that
`AWS_PROFILE` names in the shared files, either with keys or with a `credential_process`
(https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html). Roles, single sign-on and the metadata of a machine
are left to AWS's tools: `aws configure export-credentials` prints what they give, in the form that is read here
(https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-sourcing-external.html).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from legato.errors import ConfigError, Unauthorized
from legato.transport.keys import Key, Lent
from legato.transport.outgoing import WireRequest
from legato.transport.sigv4 import Credentials, SigningScope, signed_headers

SERVICE = "bedrock"
"""what requests to `bedrock-runtime` are signed for
(https://docs.aws.amazon.com/general/latest/gr/bedrock.html names the endpoints)"""


class _PrintedKeys(Struct, rename="pascal"):
    """What a `credential_process` prints."""

    version: int
    access_key_id: str
    secret_access_key: str
    session_token: str = ""
    expiration: str = ""


class SharedProfile(Struct, frozen=True):
    """One profile of the shared files: keys, or a command that prints them."""

    name: str
    keys: tuple[str, ...] = ()
    command: str = ""


def keys_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The keys that the environment holds: an access key, its secret and perhaps a session token."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
    values = tuple(environment.get(name, "").strip() for name in names)
    return tuple(value for value in values if value) if values[0] and values[1] else ()


def find_profile(environment: Mapping[str, str]) -> SharedProfile | None:
    """The profile that is asked for, or the default one; None if no shared file has it.

    Raises `ConfigError` for one that `AWS_PROFILE` names and no file has, or that has neither keys nor a command.
    """
    asked = environment.get("AWS_PROFILE", "").strip()
    name = asked or "default"
    found: dict[str, str] = {}
    home = environment.get("HOME", "")
    for variable, file, prefix in (
        ("AWS_CONFIG_FILE", ".aws/config", "profile "),
        ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", ""),
    ):
        written = environment.get(variable, "")
        if written or home:
            path = Path(written).expanduser() if written else Path(home) / file
            found |= _section(path, name if name == "default" else f"{prefix}{name}")
    key, secret = found.get("aws_access_key_id", ""), found.get("aws_secret_access_key", "")
    if key and secret:
        token = found.get("aws_session_token", "")
        return SharedProfile(name, (key, secret, token) if token else (key, secret))
    if command := found.get("credential_process", ""):
        return SharedProfile(name, command=command)
    if not asked:
        return None
    raise ConfigError(
        f"AWS_PROFILE names {asked!r}, which has no keys and no credential_process in the shared files of AWS; "
        f'set token_command = "aws configure export-credentials --profile {asked}" for the provider, or name another'
    )


def _section(path: Path, name: str) -> dict[str, str]:
    import configparser  # only those who use AWS need it

    parser = configparser.RawConfigParser(default_section="", strict=False)
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except OSError:
        return {}
    except (configparser.Error, UnicodeDecodeError):
        raise ConfigError(f"{path} cannot be read as a file of profiles; correct it") from None
    return {key: value.strip() for key, value in parser[name].items()} if parser.has_section(name) else {}


def read_credentials(text: bytes, *, source: str, provider: str) -> Lent:
    """The credentials that `text` holds, in the form that a `credential_process` prints; `source` is what held it."""
    try:
        read = msgspec.json.decode(text, type=_PrintedKeys)
        expires = datetime.fromisoformat(read.expiration).timestamp() if read.expiration else None
    except (msgspec.DecodeError, ValueError):
        read, expires = _PrintedKeys(0, "", ""), None
    if read.version != 1 or not read.access_key_id or not read.secret_access_key:
        raise Unauthorized(
            f"{source} is no JSON with Version 1, AccessKeyId and SecretAccessKey; `aws configure export-credentials` "
            "prints that",
            provider=provider,
            layer="credentials",
        )
    values = (read.access_key_id, read.secret_access_key, read.session_token)
    return Lent(tuple(Key(value, source=source) for value in values if value), expires)


def sign(request: WireRequest, values: tuple[Key, ...], *, region: str, now: float) -> dict[str, Key]:
    """The secret headers that prove who sends `request`, at the time `now`."""
    headers = signed_headers(
        request.method,
        request.url,
        {"content-type": request.headers["content-type"]} if "content-type" in request.headers else {},
        request.body,
        credentials=Credentials(*(value.reveal() for value in values)),
        scope=SigningScope(region, SERVICE),
        now=datetime.fromtimestamp(now, UTC),
    )
    return {name: Key(value) for name, value in headers.items()}
