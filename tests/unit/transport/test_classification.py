from __future__ import annotations

import json
from pathlib import Path

import pytest

from legato.errors import (
    BadAnswer,
    BadRequest,
    ContextTooLong,
    MediaRefused,
    OptionRefused,
    Overloaded,
    OwnReasoningRefused,
    PolicyRefused,
    ProtocolRefused,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unauthorized,
    UnknownModel,
    WrongEndpoint,
)
from legato.model import Dialect, Target
from legato.transport import Key, classify, complaint_of, read_complaint, wire_request
from legato.transport.classification import ADVICE, BY_STATUS, HEADLINE
from legato.transport.wordings import ALL

SECRET = "sk-test-0123456789abcdef"
TARGET = Target(
    dialect=Dialect.OPENAI_CHAT, profile="openai", provider="openai", model="m", endpoint="https://api.openai.com/v1"
)
REQUEST = wire_request(TARGET, b"{}", key=Key(SECRET), stream=False)


def judge(status: int | None, body: object, headers: dict[str, str] | None = None) -> ProviderError:
    return classify(complaint_of(body), REQUEST, status=status, headers=headers)


def kind(status: int | None, body: object) -> tuple[type[ProviderError], str]:
    error = judge(status, body)
    return type(error), error.facts["rule"] if isinstance(error, ProtocolRefused) else error.facts["about"]


def openai(
    message: str, *, code: str | None = None, named: str = "invalid_request_error", param: str | None = None
) -> object:
    return {"error": {"message": message, "type": named, "code": code, "param": param}}


def anthropic(message: str, *, named: str = "invalid_request_error") -> object:
    return {"type": "error", "error": {"type": named, "message": message}}


def google(
    message: str, status: str = "INVALID_ARGUMENT", code: int = 400, details: list[object] | None = None
) -> object:
    return {"error": {"code": code, "message": message, "status": status, "details": details or []}}


@pytest.mark.parametrize(
    ("status", "body", "rule"),
    [
        (
            400,
            openai("An assistant message with 'tool_calls' must be followed by tool messages responding to each"),
            "unanswered-call",
        ),
        (400, openai("No tool output found for function call call_1.", param="input"), "unanswered-call"),
        (
            400,
            anthropic("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: x"),
            "unanswered-call",
        ),
        (400, {"message": "Not the same number of function calls and responses", "code": "3230"}, "unanswered-call"),
        (
            400,
            google(
                "Please ensure that the number of function response parts is equal to the number of function call parts"
            ),
            "unanswered-call",
        ),
        (400, openai("(insufficient tool messages following tool_calls message)"), "unanswered-call"),
        (
            400,
            openai("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
            "orphan-result",
        ),
        (400, openai('messages with role "tool" must be a response to a preceding message'), "orphan-result"),
        (400, openai("'tool_call_id' of 'call_X' not found in 'tool_calls' of previous message"), "orphan-result"),
        (400, openai("tool_call_id  is not found"), "orphan-result"),
        (400, anthropic("messages.0: unexpected `tool_use_id` found in `tool_result` blocks"), "orphan-result"),
        (400, anthropic("messages: `tool_use` ids must be unique"), "duplicate-id"),
        (400, openai("Duplicate item found with id fc_1"), "duplicate-id"),
        (400, google("Please ensure that function call turn comes immediately after a user turn"), "call-order"),
        (400, {"message": "Unexpected role 'user' after role 'tool'", "code": "3230"}, "call-order"),
        (400, anthropic("Expected `thinking` or `redacted_thinking`, but found `tool_use`"), "thinking-first"),
        (400, google("Function call is missing a thought_signature in functionCall parts"), "signature-missing"),
        (
            400,
            openai("Item 'rs_1' of type 'reasoning' was provided without its required following item."),
            "reasoning-pair",
        ),
        (
            400,
            openai("thinking is enabled but reasoning_content is missing in assistant tool call message"),
            "reasoning-missing",
        ),
        (
            400,
            openai("The `reasoning_content` in the thinking mode must be passed back to the API"),
            "reasoning-missing",
        ),
        (400, openai("property 'messages.2.assistant.reasoning_content' is unsupported"), "reasoning-extra"),
        (400, anthropic("This model does not support assistant message prefill"), "ending"),
        (400, anthropic("messages: text content blocks must contain non-whitespace text"), "empty-content"),
        (400, openai("the message at position 8 with role 'assistant' must not be empty"), "empty-content"),
        (400, openai("Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9."), "id-form"),
        (
            400,
            openai(
                "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40",
                code="string_above_max_length",
            ),
            "id-form",
        ),
        (
            400,
            anthropic("Requests which include `tool_use` or `tool_result` blocks must define tools"),
            "tools-missing",
        ),
        (400, anthropic("The request body is not valid JSON: no low surrogate in string"), "not-json"),
        (
            422,
            {
                "message": {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "messages", 1, "x"],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                }
            },
            "unknown-field",
        ),
        (400, openai("unknown variant `image_url`, expected `text`"), "unknown-field"),
        (
            400,
            openai(
                "Unsupported value: 'messages[0].role' does not support 'developer' with this model.",
                code="unsupported_value",
            ),
            "role",
        ),
        (400, openai("Something new about messages[3].content, never seen before"), "unknown"),
        (422, {"detail": "never seen before"}, "unknown"),
        (500, openai("the function.arguments of the history must be JSON", named="server_error"), "arguments"),
    ],
)
def test_a_refusal_of_our_shape_is_named_by_its_rule(status: int, body: object, rule: str) -> None:
    assert kind(status, body) == (ProtocolRefused, rule)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, anthropic("messages.1.content.0: Invalid `signature` in `thinking` block")),
        (400, anthropic("messages.1.content.0: Invalid `data` in `redacted_thinking` block")),
        (400, openai("The encrypted content gAAA...DQ== could not be verified.", code="invalid_encrypted_content")),
        (400, google("Corrupted thought signature.")),
        (400, google("Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed")),
        (404, openai("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.")),
        (None, {"type": "error", "code": "invalid_encrypted_content", "message": "x"}),
    ],
)
def test_a_provider_that_refuses_its_own_reasoning_is_recognised(status: int | None, body: object) -> None:
    assert kind(status, body) == (OwnReasoningRefused, "own-reasoning")


PER_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}
PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"}
GOOGLE_QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        # Too long.
        (400, openai("This model's maximum context length is 8192 tokens", code="context_length_exceeded"), (ContextTooLong, "window")),
        (400, anthropic("prompt is too long: 210000 tokens > 200000 maximum"), (ContextTooLong, "window")),
        (400, anthropic("input length and `max_tokens` exceed context limit: 1 + 2 > 3"), (ContextTooLong, "window")),
        (400, google("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), (ContextTooLong, "window")),
        (400, openai("Your request exceeded model token limit: 8192"), (ContextTooLong, "window")),
        (400, {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}, (ContextTooLong, "window")),
        (400, {"object": "error", "message": "The input (4 tokens) is longer than the model's context length (2 tokens)."}, (ContextTooLong, "window")),
        (400, openai("Your input exceeds this model's context window"), (ContextTooLong, "window")),
        (500, openai("the request exceeds the available context size"), (ContextTooLong, "window")),
        (413, anthropic("Request exceeds the maximum size", named="request_too_large"), (ContextTooLong, "window")),
        (413, "", (ContextTooLong, "window")),
        (429, openai("Request too large for gpt-4o on tokens per min (TPM). The input or output tokens must be reduced in order to run successfully.", code="rate_limit_exceeded"), (ContextTooLong, "window")),
        # The user's matter.
        (413, openai("The image is larger than allowed"), (MediaRefused, "media")),
        (
            400,
            anthropic(
                "messages.2.content.0.tool_result.content.0.image.source.base64: The image was specified using the "
                "image/png media type, but the image appears to be a image/jpeg image"
            ),
            (MediaRefused, "media"),
        ),
        (400, openai("Invalid image data"), (MediaRefused, "media")),
        (400, openai("cannot identify image file <_io.BytesIO object>"), (MediaRefused, "media")),
        (400, openai("Failed to load image or audio file"), (MediaRefused, "media")),
        (400, openai("At most 0 image(s) may be provided in one prompt."), (MediaRefused, "media")),
        (400, google("Unable to process input image."), (MediaRefused, "media")),
        (400, anthropic("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum"), (MediaRefused, "media")),
        (404, openai("The model `x` does not exist or you do not have access to it.", code="model_not_found"), (UnknownModel, "model")),
        (404, anthropic("model: claude-x", named="not_found_error"), (UnknownModel, "model")),
        (404, "404 page not found", (WrongEndpoint, "endpoint")),
        (307, "", (WrongEndpoint, "endpoint")),
        (400, openai("The response was filtered due to the prompt triggering content management policy", code="content_filter"), (PolicyRefused, "policy")),
        (400, openai("Content Exists Risk"), (PolicyRefused, "policy")),
        (403, openai("Your input was flagged by moderation"), (PolicyRefused, "policy")),
        (400, openai("Unsupported parameter: 'temperature' is not supported", code="unsupported_parameter"), (OptionRefused, "option")),
        (400, anthropic("max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens"), (OptionRefused, "option")),
        (400, openai("Something that nobody has seen before"), (BadRequest, "unknown")),
        (418, "", (BadRequest, "unknown")),
        # Key and money.
        (401, openai("Incorrect API key provided", code="invalid_api_key"), (Unauthorized, "key")),
        (401, "", (Unauthorized, "key")),
        (403, "", (Unauthorized, "permission")),
        (400, google("API key not valid. Please pass a valid API key."), (Unauthorized, "key")),
        (400, google("User location is not supported for the API use.", "FAILED_PRECONDITION"), (Unauthorized, "region")),
        (402, openai("Insufficient Balance"), (QuotaExhausted, "balance")),
        (402, "", (QuotaExhausted, "balance")),
        (400, anthropic("Your credit balance is too low to access the Anthropic API."), (QuotaExhausted, "balance")),
        (400, {"code": "Arrearage", "message": "Access denied"}, (QuotaExhausted, "balance")),
        (403, openai("Your team has used all available credits"), (QuotaExhausted, "balance")),
        (429, openai("You exceeded your current quota", code="insufficient_quota", named="insufficient_quota"), (QuotaExhausted, "balance")),
        (429, google(GOOGLE_QUOTA, "RESOURCE_EXHAUSTED", 429), (QuotaExhausted, "balance")),
        (429, google(GOOGLE_QUOTA, "RESOURCE_EXHAUSTED", 429, [PER_DAY, RETRY_INFO]), (QuotaExhausted, "balance")),
        # What passes.
        (429, google(GOOGLE_QUOTA, "RESOURCE_EXHAUSTED", 429, [PER_MINUTE, RETRY_INFO]), (RateLimited, "rate")),
        (429, openai("Rate limit reached for m on tokens per min. Please try again in 6s. Add a payment method at https://platform.openai.com/account/billing", code="rate_limit_exceeded"), (RateLimited, "rate")),
        (429, {"message": "Too many tokens, please wait before trying again."}, (RateLimited, "rate")),
        (429, "", (RateLimited, "rate")),
        (429, openai("The engine is currently overloaded", named="engine_overloaded_error"), (Overloaded, "busy")),
        (500, openai("The server had an error", named="server_error"), (Overloaded, "busy")),
        (502, "<html>Bad Gateway</html>", (Overloaded, "busy")),
        (503, google("The model is overloaded.", "UNAVAILABLE", 503), (Overloaded, "busy")),
        (529, anthropic("Overloaded", named="overloaded_error"), (Overloaded, "busy")),
        (599, "", (Overloaded, "busy")),
        (408, "", (TimedOut, "slow")),
        (504, "", (TimedOut, "slow")),
        (500, google("Deadline", "DEADLINE_EXCEEDED", 500), (TimedOut, "slow")),
        (400, openai("Failed to call a function.", code="tool_use_failed"), (BadAnswer, "generation")),
        # Streamed, without a status of their own.
        (None, anthropic("Overloaded", named="overloaded_error"), (Overloaded, "busy")),
        (None, {"type": "api_error", "message": "Internal server error"}, (Overloaded, "busy")),
        (None, anthropic("slow down", named="rate_limit_error"), (RateLimited, "rate")),
        (None, openai("The server had an error while processing your request", named="server_error"), (Overloaded, "busy")),
        (None, {"error": {"code": 502, "message": "upstream"}}, (Overloaded, "busy")),
        (None, {"error": {"code": 429, "message": "upstream"}}, (RateLimited, "rate")),
        (None, {"type": "response.failed", "response": {"error": {"code": "insufficient_quota", "message": "x"}}}, (QuotaExhausted, "balance")),
        (None, anthropic("nobody knows this one"), (BadRequest, "unknown")),
        (None, {"error": "?"}, (BadAnswer, "unknown")),
    ],
)  # fmt: skip
def test_the_body_decides_first_and_the_status_second(
    status: int | None, body: object, expected: tuple[type[ProviderError], str]
) -> None:
    assert kind(status, body) == expected


@pytest.mark.parametrize(
    ("status", "named", "said", "expected"),
    [
        (400, "ValidationException", "Input is too long for requested model.", (ContextTooLong, "window")),
        (400, "ValidationException", "The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum", (ContextTooLong, "window")),
        (400, "ValidationException", "The provided model identifier is invalid.", (UnknownModel, "model")),
        (400, "ValidationException", "Invocation of model ID x with on-demand throughput isn't supported.", (UnknownModel, "model")),
        (400, "ServiceQuotaExceededException", "Your request exceeds the service quota.", (QuotaExhausted, "balance")),
        (403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", (UnknownModel, "model")),
        (403, "AccessDeniedException", "User is not authorized to perform: bedrock:InvokeModel", (Unauthorized, "permission")),
        (403, "UnrecognizedClientException", "The security token included in the request is invalid.", (Unauthorized, "key")),
        (404, "ResourceNotFoundException", "Model use case details have not been submitted for this account.", (Unauthorized, "permission")),
        (404, "ResourceNotFoundException", "This model version has reached the end of its life.", (UnknownModel, "model")),
        (408, "ModelTimeoutException", "", (TimedOut, "slow")),
        (424, "ModelErrorException", "The model failed.", (Overloaded, "busy")),
        (429, "ThrottlingException", "Too many tokens, please wait before trying again.", (RateLimited, "rate")),
        (429, "ModelNotReadyException", "The model is not ready.", (Overloaded, "busy")),
        (500, "InternalServerException", "", (Overloaded, "busy")),
        (503, "ServiceUnavailableException", "", (Overloaded, "busy")),
    ],
)  # fmt: skip
def test_aws_names_the_type_of_an_error_in_a_header(
    status: int, named: str, said: str, expected: tuple[type[ProviderError], str]
) -> None:
    headers = {"x-amzn-errortype": f"{named}:http://internal.amazon.com/coral/", "x-amzn-requestid": "r-7"}
    complaint = read_complaint(json.dumps({"message": said}).encode(), headers)
    error = classify(complaint, REQUEST, status=status, headers=headers)
    assert (type(error), error.facts["about"]) == expected
    assert (error.facts["provider_type"], error.facts["request_id"]) == (named, "r-7")


@pytest.mark.parametrize(
    ("named", "said", "expected"),
    [
        ("throttlingException", "Slow down.", (RateLimited, "rate")),
        ("serviceUnavailableException", "", (Overloaded, "busy")),
        ("internalServerException", "", (Overloaded, "busy")),
        ("modelStreamErrorException", "", (Overloaded, "busy")),
        ("validationException", "Input is too long for requested model.", (ContextTooLong, "window")),
        ("validationException", "Something new.", (BadRequest, "unknown")),
    ],
)
def test_an_exception_in_the_middle_of_a_stream_is_classified_by_its_name(
    named: str, said: str, expected: tuple[type[ProviderError], str]
) -> None:
    assert kind(None, {"type": named, "message": said}) == expected


def test_an_error_says_what_happened_where_and_what_to_do() -> None:
    error = judge(
        429,
        openai("Rate limit reached. Please try again in 6s.", code="rate_limit_exceeded", named="tokens"),
        {"x-request-id": "req-7"},
    )
    assert isinstance(error, RateLimited)
    assert error.message == (
        "openai/m got too many requests (HTTP 429): Rate limit reached. Please try again in 6s. Wait, then try again."
    )
    assert error.facts == {
        "retry_after": 6.0,
        "route": "openai/m",
        "place": "https://api.openai.com/v1/chat/completions",
        "layer": "provider",
        "status": 429,
        "provider_message": "Rate limit reached. Please try again in 6s.",
        "provider_type": "tokens",
        "provider_code": "rate_limit_exceeded",
        "provider_param": "",
        "request_id": "req-7",
        "about": "rate",
    }


def test_a_busy_provider_may_name_a_wait_too() -> None:
    error = judge(503, "", {"retry-after": "12"})
    assert isinstance(error, Overloaded)
    assert error.retry_after == 12.0


def test_a_wait_given_as_a_date_is_counted_from_now() -> None:
    error = classify(
        complaint_of({}),
        REQUEST,
        status=429,
        headers={"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"},
        now=1_700_000_000.0,
    )
    assert isinstance(error, RateLimited)
    assert error.retry_after == 30.0


def test_no_error_holds_a_secret_that_the_provider_echoed() -> None:
    error = judge(401, openai(f"Incorrect API key provided: {SECRET}. Header was 'Bearer {SECRET}'."))
    assert SECRET not in error.message
    assert SECRET not in repr(error.facts)
    assert error.facts["provider_message"] == "Incorrect API key provided: [hidden]. Header was '[hidden]'."


def test_a_key_of_no_known_form_is_hidden_where_it_is_echoed_bare() -> None:
    request = wire_request(TARGET, b"{}", key=Key("0123456789abcdef"), stream=False)
    error = classify(complaint_of(openai("no such key: 0123456789abcdef")), request, status=401)
    assert error.facts["provider_message"] == "no such key: [hidden]"


def test_every_kind_of_refusal_has_a_headline_and_advice() -> None:
    kinds = {row.kind for group in ALL for row in group} | {kind for kind, _ in BY_STATUS.values()} | {BadAnswer}
    assert {kind for kind in kinds if not issubclass(kind, tuple(HEADLINE))} == set()
    assert set(HEADLINE) <= set(ADVICE), "a class may have advice of its own; its headline may be that of its base"


SAMPLES = Path(__file__).parents[4] / "shared" / "samples" / "provider-exchanges" / "rejected.jsonl"

EXPECTED_SAMPLES = {
    "is not found for api version": (UnknownModel, "model"),
    "model nonexistent is not supported": (UnknownModel, "model"),
    "model: claude": (UnknownModel, "model"),
    "does not exist or you do not have access": (UnknownModel, "model"),
    "model identifier is invalid": (UnknownModel, "model"),
    "doesn't support counting tokens": (OptionRefused, "option"),
    "did not call a tool": (BadAnswer, "generation"),
    "s3uri": (MediaRefused, "media"),
    "extraneous key": (ProtocolRefused, "unknown-field"),
    "cannot fetch content": (MediaRefused, "media"),
    "file type you uploaded": (MediaRefused, "media"),
    "does not support 'developer'": (ProtocolRefused, "role"),
    "web search options": (OptionRefused, "option"),
    "without its required following item": (ProtocolRefused, "reasoning-pair"),
}


@pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not here")
def test_recorded_refusals_are_what_a_person_would_call_them() -> None:
    judged: list[tuple[str, tuple[type[ProviderError], str]]] = []
    expected: list[tuple[str, tuple[type[ProviderError], str]]] = []
    for line in SAMPLES.read_text().splitlines():
        sample = json.loads(line)
        body = json.dumps(sample["response"]).encode()
        said = read_complaint(body).haystack
        judged.append((said, kind(sample["status"], sample["response"])))
        expected.append((said, next(value for words, value in EXPECTED_SAMPLES.items() if words in said)))
    assert judged
    assert judged == expected
