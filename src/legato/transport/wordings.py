"""What providers say when they refuse, as data: a pattern, and what it means.

Facts come from the reference of the providers' protocols, from recorded refusals and from public reports. Patterns are
searched in everything the provider said, in lower case, codes and types included. Groups are consulted in the order
that `READING` gives for a status; within a group the first match counts. To teach Legato a new wording, add a line.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.errors import (
    BadAnswer,
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
)

OWN_REASONING = "own-reasoning"
"""the rule of a refusal of the provider's own reasoning: the one protocol refusal that has a remedy"""


class Wording(NamedTuple):
    """One row: what is said, the error it is, and `about`: which rule of shape, or which matter of the user's."""

    pattern: str
    kind: type[ProviderError]
    about: str


def _rows(kind: type[ProviderError], *rows: tuple[str, str]) -> tuple[Wording, ...]:
    # Not compiled here: there are many, and most runs never meet a refusal.
    return tuple(Wording(pattern, kind, about) for about, pattern in rows)


TOO_LARGE_FOR_LIMIT = _rows(
    ContextTooLong,
    # A request larger than the whole allowance of a minute: waiting never helps, a shorter request does.
    ("window", r"must be reduced in order to run successfully|request too large for (?:model|gpt|o\d)"),
)

TOO_LONG = _rows(
    ContextTooLong,
    ("window", r"context_length_exceeded|model_max_prompt_tokens_exceeded|prompt_too_long"),
    ("window", r"maximum context length|context (?:length|window|size|limit)[^.]{0,40}exceed"),
    ("window", r"exceeds?[^.]{0,40}context (?:length|window|size|limit)|longer than the model'?s context"),
    ("window", r"prompt (?:is )?too long|input (?:is )?too long|(?:prompt|input) exceeds (?:the )?max"),
    ("window", r"exceeds the maximum (?:number of tokens|allowed input length)|exceeded model token limit"),
    ("window", r"input token count[^.]{0,60}exceeds|input length[^.]{0,60}exceeds?"),
    ("window", r"reduce the length of (?:the |your )?(?:messages|prompt|input)|range of input length"),
    ("window", r"string too long\. expected a string with maximum length \d{6,}"),
    ("window", r"request_too_large|request exceeds the maximum size|payload size exceeds"),
)

MEDIA = _rows(
    MediaRefused,
    ("media", r"image exceeds|image dimensions? exceed|image(?: file)? (?:is )?too large|too many images"),
    ("media", r"unsupported_file|file type you uploaded is not supported|unsupported (?:image|media|mime|file)"),
    ("media", r"cannot fetch content from the provided url|failed to download|invalid_image|error while downloading"),
    ("media", r"could not process (?:image|pdf)|unable to process input image|provided image is not valid"),
    ("media", r"doesn't support the s3uri field|does not support (?:image|audio|video|file|vision)"),
    ("media", r"image was specified using|image appears to be|invalid image|cannot identify image|image_parse_error"),
    ("media", r"(?:failed|unable|could not be|couldn't be) (?:to )?(?:load|decode|read|open)(?:ed)? (?:the )?image"),
    ("media", r"image (?:could not be|cannot be|couldn't be) \w+|(?:data|format) required for image input"),
    ("media", r"at most 0 image|not a multimodal model|support(?:s)? image input"),
    ("media", r"pdf (?:specified|is) (?:was )?(?:not valid|password|encrypted)|maximum of \d+ pdf pages"),
)

MEDIA_AT_ALL = _rows(MediaRefused, ("media", r"\b(?:image|audio|video|pdf|document|file|attachment|media)s?\b"))
"""for a request that was too large: a picture is taken out by hand, not by shortening the conversation"""

REASONING = _rows(
    OwnReasoningRefused,
    (OWN_REASONING, r"invalid `?(?:signature|data)`? in `?(?:redacted_)?thinking`? block"),
    (OWN_REASONING, r"invalid_encrypted_content|encrypted content .*could not be (?:verified|decrypted|parsed)"),
    (OWN_REASONING, r"(?:corrupted|invalid) thought[ _]?signature|thought[ _]?signature (?:is )?(?:not valid|invalid)"),
    (OWN_REASONING, r"thought_?signature.*base64 decoding failed|base64 decoding failed.*thought_?signature"),
    (OWN_REASONING, r"(?:thinking|redacted_thinking)`? blocks? in the latest assistant message cannot be modified"),
    (OWN_REASONING, r"items are not persisted when `?store`? is set to false"),
    (OWN_REASONING, r"item (?:with id )?'rs_[^']*' not found"),
)

OUT_OF_MONEY = _rows(
    QuotaExhausted,
    ("balance", r"insufficient_quota|insufficient[_ ](?:account )?balance|insufficient[_ ]credits?|payment required"),
    ("balance", r"credit balance is too low|out of credits|requires more credits|used all available credits"),
    ("balance", r"billing_hard_limit|billing_not_active|account is not active|arrearage|overdue-payment"),
    ("balance", r"api usage limits|spend(?:ing)? (?:limit|cap)|monthly (?:limit|quota)|extra usage is required"),
    ("balance", r"exceeded_current_quota|perday|servicequotaexceeded"),
)

PLAIN_QUOTA = _rows(
    QuotaExhausted,
    ("balance", r"exceeded your (?:current|monthly) quota|quota_exceeded|check your plan and billing"),
)
"""said by some of an empty balance and by Google of every limit: where a time to wait is named, it is a rate limit"""

LIMIT = _rows(
    RateLimited,
    ("rate", r"rate[ _-]?limit|too many requests|throttl|concurrency limit|resource_exhausted"),
    ("rate", r"(?:tokens|requests|queries) per (?:min|minute|hour|day|second)|perminute|\b[rt]p[md]\b"),
)

KEY = _rows(
    Unauthorized,
    ("key", r"(?:invalid|incorrect|missing|no|expired|wrong|unknown|revoked)[ _](?:x-)?api[ _-]?key"),
    ("key", r"api[ _-]?key(?: is| was)? (?:not valid|not found|invalid|expired|missing|required|disabled)"),
    ("key", r"api_key_(?:invalid|service_blocked)|authentication_error|invalid_authentication|no auth credentials"),
    ("key", r"invalid (?:access|bearer|authorization|authentication) (?:token|credentials?)|unauthenticated"),
    # https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
    ("key", r"make sure your api key is valid|missing authentication token|incompletesignature|invalidclienttokenid"),
    ("key", r"security token included in the request is (?:invalid|expired)|unrecognizedclient|expiredtoken"),
    ("permission", r"model use case details have not been submitted"),
    ("region", r"location is not supported|unsupported_country|not available in your (?:region|country)"),
    ("permission", r"permission_denied|permission_error|insufficient permissions|not allowed to access"),
)

POLICY = _rows(
    PolicyRefused,
    ("policy", r"content_policy|content[ _]filter|content management policy|responsibleaipolicy|safety system"),
    ("policy", r"data_inspection_failed|content exists risk|considered high risk|inappropriate content"),
    ("policy", r"moderation|was flagged|prohibited_content|violat\w+ (?:our|the) (?:usage )?polic|usage polic"),
)

MODEL = _rows(
    UnknownModel,
    # Vertex (pollinations/pollinations#6148) and Azure (egoist/chatwise-releases#992).
    (
        "model",
        r"publisher model\b.{0,300}? not found|deploymentnotfound|api deployment for this resource does not exist",
    ),
    ("model", r"model_not_found|model_not_available|unknown_model|invalid_model|no such model|unknown model"),
    ("model", r"models?[ :/`'\"][^\s]*[`'\"]? (?:does not exist|is not found|not found|is not supported)"),
    ("model", r"not_found_error.*model|model: \S+.*not_found_error|is not found for api version"),
    (
        "model",
        r"model identifier is invalid|invalid model|model not found|model (?:is|has been) (?:deprecated|retired)",
    ),
    ("model", r"no endpoints found|do(?:es)?(?: not|n't) have access to (?:the )?model|not a valid model id"),
    ("model", r"on-demand throughput isn.t supported|model version has reached the end of its life"),
)

GENERATION = _rows(
    BadAnswer,
    # The model wrote a call that the server could not read: an answer gone wrong, not a request.
    ("generation", r"tool_use_failed|failed_generation|malformed_function_call|output_parse_failed"),
)

OPTION = _rows(
    OptionRefused,
    ("option", r"unsupported_parameter|unsupported parameter|unrecognized request argument"),
    ("option", r"max_(?:completion_|output_)?tokens`?:? .*(?:maximum|at least|at most|too large|greater|less)"),
    ("option", r"\b(?:temperature|top_p|top_k|seed|logprobs|reasoning[_. ]effort|verbosity|budget_tokens)\b"),
    (
        "option",
        r"thinking budget|(?:does not|doesn't) support (?:tools?|function|thinking|reasoning|counting|streaming)",
    ),
    ("option", r"not supported (?:with|by|for) this model|tool choice|tool_choice|response_format|json_schema"),
)

BUSY = _rows(
    Overloaded,
    ("busy", r"overloaded|over capacity|capacity_exceeded|currently unavailable|temporarily unavailable|modelnotready"),
    ("busy", r"server_error|internal server error|internal_error|api_error|upstream_error|bad gateway"),
    ("busy", r"service unavailable|service_unavailable|\"unavailable\"|\bunavailable\b|high demand"),
    ("busy", r"provider returned error|try again later|serviceunavailable|internalserverexception|modelstreamerror"),
)

SLOW = _rows(
    TimedOut,
    ("slow", r"timeout_error|modeltimeout|deadline_exceeded|gateway time-?out|request timed out|upstream timed out"),
)

SHAPE = _rows(
    ProtocolRefused,
    ("unanswered-call", r"must be followed by tool messages|insufficient tool messages|no tool output found"),
    ("unanswered-call", r"without `?tool_result`? blocks? immediately after|expected toolresult blocks"),
    ("unanswered-call", r"tool use with id .* was found without a corresponding"),
    ("unanswered-call", r"not the same number of function calls and responses|missing tool results?"),
    ("unanswered-call", r"tool results? (?:is|are) missing for tool calls?"),
    ("unanswered-call", r"number of function response parts is equal"),
    ("orphan-result", r"must be a response to a prec\w+ing message|not found in 'tool_calls' of previous"),
    (
        "orphan-result",
        r"unexpected `?tool_use_id`?|no tool call found|tool_call_id\s+is not found|unexpected tool call id",
    ),
    ("orphan-result", r"exceeds the number of tooluse blocks"),
    ("duplicate-result", r"duplicate value for|must have a single result|duplicate function_call_output"),
    ("duplicate-id", r"ids must be unique|duplicate item|duplicate ids|duplicate tool call id"),
    ("call-order", r"function (?:call|response) turn comes immediately after|unexpected role '\w+' after role"),
    ("call-order", r"first message must use|conversation must start with|with prefix true must be last"),
    ("call-order", r"must alternate|conversation blocks and tool result blocks cannot"),
    ("thinking-first", r"expected `?thinking`? or `?redacted_thinking`?|final block in an assistant message"),
    ("thinking-first", r"when thinking is disabled, an"),
    ("signature-missing", r"signature: field required|missing a thought_?signature"),
    ("reasoning-pair", r"without its required following item|of type 'reasoning' was provided"),
    ("reasoning-missing", r"reasoning_content.*(?:missing|must be passed back)"),
    ("reasoning-extra", r"reasoning_content.*(?:unsupported|extra|forbidden|not permitted)"),
    ("ending", r"does not support assistant message prefill|requests ending with a model turn|expected last role"),
    ("ending", r"cannot end with trailing whitespace|final assistant content"),
    ("empty-content", r"must have non-empty content|non-whitespace text|must not be empty|is blank|but not none"),
    (
        "empty-content",
        r"at least one content element|must have one initialized field|content or tool_calls must be set",
    ),
    ("empty-content", r"expected a string, got null|blocks must be non-empty|content cannot be empty"),
    ("id-form", r"length of 9|begins with '|string too long\. expected|string should match pattern"),
    ("name-form", r"function name is invalid|invalid function name|function name was .* but must be"),
    ("arguments", r"function\.arguments|expected a string, but got an object|valid dictionary"),
    ("tools-missing", r"must define tools|toolconfig field must be defined"),
    ("not-json", r"not valid json|surrogate|invalid json payload"),
    (
        "unknown-field",
        r"extra inputs are not permitted|extra_forbidden|unknown parameter|cannot find field|unknown name",
    ),
    ("unknown-field", r"unknown variant|extraneous key|property '[^']*' is unsupported|unexpected field"),
    ("role", r"valid role: user|does not support '(?:developer|system|tool)'|only allowed for messages with role"),
    ("role", r"blocks can only be in|invalid value: '(?:tool|input_text|output_text|developer)'"),
    ("role", r"messages\[\d+\]\.role|unexpected role \"\w+\""),
    ("document-name", r"document name is invalid|duplicate document names"),
    ("shape", r"malformed input request|must be a modelmessage"),
)

PLACE = (
    r"(?:messages|contents|input|parts|tools)(?:\[\d+\]|[./]\d+|\.\.\.)"
    r"|\btool_(?:call|use|result)|function_?(?:call|response)"
)
"""a place in our body: a refusal that points at one, in words that we do not know, is still about our shape"""

ALL = (
    TOO_LARGE_FOR_LIMIT,
    REASONING,
    TOO_LONG,
    OUT_OF_MONEY,
    KEY,
    MEDIA,
    MODEL,
    POLICY,
    GENERATION,
    SHAPE,
    PLAIN_QUOTA,
    LIMIT,
    OPTION,
    SLOW,
    BUSY,
)
"""for 400 and its neighbours, and for what is streamed without a status"""

READING: dict[int, tuple[tuple[Wording, ...], ...]] = {
    401: (OUT_OF_MONEY,),
    402: (),
    403: (OUT_OF_MONEY, POLICY, MODEL, LIMIT, KEY),
    404: (REASONING, OUT_OF_MONEY, KEY, MODEL),
    408: (),
    413: (MEDIA, MEDIA_AT_ALL),
    429: (TOO_LARGE_FOR_LIMIT, OUT_OF_MONEY, PLAIN_QUOTA, BUSY[:1]),
}
"""which groups are consulted for a status that says a good deal by itself"""

BROKEN_SERVER = (TOO_LONG, REASONING, OUT_OF_MONEY, GENERATION, SHAPE, LIMIT, SLOW)
"""for 5xx: some servers report our shape, or a full window, as a fault of theirs; trying again would never help"""
