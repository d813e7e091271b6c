"""The gate of a simulated provider: read a request, or refuse it.

In:  an `Ask`.
Out: what it asks for, read and judged, or a `SimulatedRefusal`.

    path and method    is there anything here? Neither a WebSocket nor a compressed body is taken
    key                right unless it begins with "bad"
    JSON               strict, in UTF-8
    platform           the version that a cloud demands, in the address or in the body
    model              served here, and not one that begins with "unknown-"
    rules              those of the dialect, for this model; what they refuse is refused
    window             does the request fit?
    signatures         is this reasoning ours?
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, cast

from msgspec.structs import replace

from legato.errors import ConfigError, LegatoError
from legato.model import Dialect, Entry, Json, JsonObject, Media, Platform, Target, ToolResponse
from legato.model.json_access import as_object, present
from legato.serving.contract import is_upgrade
from legato.simulation.platforms import refuse_fields, refuse_url
from legato.simulation.prompt_cache import BYTES_PER_TOKEN
from legato.simulation.reasoning import find_foreign
from legato.simulation.refusals import SimulatedRefusal
from legato.simulation.seals import Seal
from legato.simulation.wordings import refuse, refuse_reasoning, refuse_shape
from legato.transport import HTTP_APIS, Key
from legato.transport.contract import Ask
from legato.transport.operations import OF_STORED, FoundOperation, Operation, find_operation
from legato.transport.stored_responses import StoredResponses, go_on_from, previous_id, refuse_stored, wants_keeping
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity, Violation
from legato.wire.hosting import RefusalReason, ServerHabits

TOKENS_OF_MEDIA = 1_000
"""tokens of an image or a document: our choice, about what providers count for a picture of a megapixel"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRequest:
    """A request that is in order."""

    operation: Operation
    target: Target
    account: str = ""
    name: str = ""
    """the stored response that is asked for"""
    body: JsonObject
    parsed: Parsed
    stream: bool = False
    tokens: int = 0
    seal: Seal
    keeps: bool = False
    """whether the answer is to be kept"""
    repeated: JsonObject = field(default_factory=dict[str, Any])
    """what the answer says again of the request, as it came"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestGate:
    """What lets requests in to one provider. `resolve` gives the target for a model's name."""

    habits: ServerHabits
    dialect: Dialect
    resolve: Callable[[str], Target]
    example: str
    """a model that it has"""
    secret: str
    needs_key: bool
    checks_signatures: bool
    window: int | None
    stored: StoredResponses

    def receive(self, ask: Ask) -> ValidRequest | SimulatedRefusal:
        """Read and judge `ask`."""
        found = find_operation(self.dialect, ask.method, ask.path)
        if found is None:
            return self._refuse(RefusalReason.PATH, detail=f"{ask.method} {ask.path}")
        if (refusal := _refuse_form(ask)) is not None:
            return refusal
        if not found.takes(ask.method):
            return self._refuse(RefusalReason.METHOD, detail=ask.method)
        if (refusal := refuse_url(ask, self._platform)) is not None:
            return refusal
        account = self._account(ask)
        if isinstance(account, SimulatedRefusal):
            return account
        if found.method != "POST" or found.operation is Operation.CANCEL:
            return self._look_up(ask, found, account)
        body = _read(ask.body)
        if isinstance(body, str):
            return self._refuse(RefusalReason.NOT_JSON, detail=body)
        return self._judge(ask, found, body, account)

    @property
    def _platform(self) -> Platform:
        return self.resolve(self.example or "any").platform

    def _look_up(self, ask: Ask, found: FoundOperation, account: str) -> ValidRequest | SimulatedRefusal:
        """A request without a body."""
        model = found.name if found.operation is Operation.MODEL else ""
        if model and not self._serves(model):
            return self._refuse(RefusalReason.MODEL, model=model)
        if found.operation in OF_STORED:
            stored = self.stored.find(found.name, account)
            if stored is None:
                return self._refuse(RefusalReason.STORED, detail=found.name)
            if message := refuse_stored(found.operation, stored, ask.query):
                return SimulatedRefusal(reason=RefusalReason.SHAPE, message=message)
        return ValidRequest(
            operation=found.operation,
            target=self.resolve(model or self.example),
            account=account,
            name=found.name,
            body={},
            parsed=Parsed([]),
            seal=self._seal("", account),
        )

    def _refuse(self, reason: RefusalReason, *, model: str = "", **facts: object) -> SimulatedRefusal:
        return refuse(reason, self.habits, model=model, facts=facts)

    # --- the way in ---------------------------------------------------------------------------------------------------

    def _account(self, ask: Ask) -> str | SimulatedRefusal:
        api = HTTP_APIS[self.dialect]
        headers = (api.key_header, "authorization", "api-key")  # the last is that of Azure
        given = next(filter(None, map(ask.headers.get, headers)), "") or ask.query.get("key") or ""
        signed = re.match(r"AWS4-HMAC-SHA256 Credential=([^/,]+)", given)
        key = signed[1] if signed else re.sub(r"(?i)^bearer\s+", "", given).strip()
        if not key:
            return self._refuse(RefusalReason.KEY_MISSING) if self.needs_key else ""
        try:
            return self._refuse(RefusalReason.KEY_WRONG) if key.startswith("bad") else Key(key).account
        except ConfigError:
            return self._refuse(RefusalReason.KEY_WRONG)

    # --- the body -----------------------------------------------------------------------------------------------------

    def _judge(
        self, ask: Ask, found: FoundOperation, body: JsonObject, account: str
    ) -> ValidRequest | SimulatedRefusal:
        parts, data = dialect_parts(self.dialect), ask.body
        if found.operation is Operation.COUNT:
            body = _counted(body, self.dialect)
        keeps, repeated = wants_keeping(body, self.dialect), parts.repeated(body)
        if (previous := previous_id(body, self.dialect)) is not None:
            stored = self.stored.find(previous, account)
            if stored is not None:
                body = present(go_on_from(stored, body))
                data = json.dumps(body).encode()
            elif self.checks_signatures:
                return self._refuse(RefusalReason.PREVIOUS, detail=previous)
        if (refusal := refuse_fields(body, self.dialect, self._platform, model=found.name)) is not None:
            return replace(refusal, model=found.name)
        model = found.name or _model(body)
        if not model and self.dialect is not Dialect.VERCEL:
            missing = Violation("model", Severity.REFUSED, "model", "a request names its model")
            return refuse_shape(missing, self.habits)
        if not self._serves(model):
            return self._refuse(RefusalReason.MODEL, model=model)
        target = self.resolve(model or "any")
        if found.operation is Operation.COUNT:
            target = replace(target, endpoint=target.endpoint.rstrip("/") + "/count_tokens")
        for violation in parts.check(body, target) if self._is_judged(found) else ():
            if violation.severity is Severity.REFUSED or violation.rule in self.habits.also_refuses:
                refusal = refuse_shape(violation, self.habits, rule=parts.rules.get(violation.rule), body=body)
                return replace(refusal, model=model)
        try:
            parsed = parts.parse(body)
        except LegatoError as error:
            return self._refuse(RefusalReason.NOT_JSON, detail=error.message)
        tokens = _count_tokens(data, parsed.entries)
        window = self.window or target.capabilities.window
        if tokens > window and found.operation is not Operation.COUNT:
            return self._refuse(RefusalReason.TOO_LONG, model=model, tokens=tokens, window=window)
        seal = self._seal(model, account)
        checks_signatures = self.checks_signatures and self.habits.checks_signatures
        if checks_signatures and (foreign := find_foreign(body, self.dialect, seal)) is not None:
            return replace(refuse_reasoning(foreign.path, foreign.field, self.habits), model=model)
        return ValidRequest(
            operation=found.operation,
            target=target,
            account=account,
            body=body,
            parsed=parsed,
            stream=found.stream or body.get("stream") is True,
            tokens=tokens,
            seal=seal,
            keeps=keeps,
            repeated=repeated,
        )

    def _is_judged(self, found: FoundOperation) -> bool:
        """Whether the rules apply: Google counts the tokens of anything, Gemini CLI lets it count single responses."""
        return not (self.dialect is Dialect.GEMINI and found.operation is Operation.COUNT)

    def _seal(self, model: str, account: str) -> Seal:
        return Seal(self.secret, provider=self.habits.name, model=model, account=account)

    def _serves(self, model: str) -> bool:
        bare = model.rsplit("/", 1)[-1].lower()
        return not bare.startswith("unknown-") and any(fnmatchcase(bare, name) for name in self.habits.serves)


def _refuse_form(ask: Ask) -> SimulatedRefusal | None:
    """What is wrong with how `ask` comes, whatever it asks for."""
    if is_upgrade(ask):  # Codex goes on over HTTP after this status, and only after this one
        message = "There are no WebSockets here; send the request over HTTP."
        return SimulatedRefusal(reason=RefusalReason.METHOD, message=message, status=426)
    coding = ask.headers.get("content-encoding", "identity")
    if coding != "identity":  # no official client compresses what it sends
        message = f"Unsupported content encoding: {coding}."
        return SimulatedRefusal(reason=RefusalReason.SHAPE, message=message, status=415)
    return None


def _read(data: bytes) -> JsonObject | str:
    """The object in `data`, or what is wrong with it. NaN and half surrogates pass: the rules find them."""
    try:
        value: Json = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        return str(error) if isinstance(error, json.JSONDecodeError) else type(error).__name__
    return cast(JsonObject, value) if isinstance(value, dict) else "the body is no object"


def _counted(body: JsonObject, dialect: Dialect) -> JsonObject:
    """The request whose tokens are to be counted: Google and AWS wrap it."""
    match dialect:
        case Dialect.GEMINI:
            return as_object(body.get("generateContentRequest")) or body
        case Dialect.BEDROCK:
            # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html
            return as_object(as_object(body.get("input")).get("converse")) or body
        case _:
            return body


def _model(body: JsonObject) -> str:
    model = body.get("model")
    if isinstance(model, dict):  # the AI SDK may put more there than the name
        model = cast(JsonObject, model).get("modelId")
    return model if isinstance(model, str) else ""


def _count_tokens(data: bytes, entries: list[Entry]) -> int:
    """Tokens, roughly: so many bytes each, and a fixed number for each attachment, however large it is."""
    size, count = len(data), 0
    for entry in entries:
        for block in entry.blocks:
            held = block.media if isinstance(block, ToolResponse) else (block,) if isinstance(block, Media) else ()
            for media in held:
                size -= len(media.data or "")
                count += 1
    return max(1, size // BYTES_PER_TOKEN) + count * TOKENS_OF_MEDIA
