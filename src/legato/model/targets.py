"""Where a request goes and what is accepted there, as data.

A *route* is what a person names (`mistral/mistral-large-latest`), a *target* is a route resolved, an *endpoint* is a
URL. Encoders never ask for a model's name: they look at capabilities.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from legato.model.entries import Origin
from legato.model.enums import FastStrEnum


class Dialect(FastStrEnum):
    """A family of request and response shapes."""

    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    VERCEL = "vercel"
    BEDROCK = "bedrock"


class Platform(FastStrEnum):
    """Who serves a dialect, where that changes how it travels: the path, the credentials, a field, the framing."""

    OWN = ""
    """the maker's own API, or a server that is like it"""
    VERTEX = "vertex"
    """Google Cloud's Vertex AI"""
    BEDROCK = "bedrock"
    """Amazon Bedrock"""
    AZURE = "azure"
    """Azure OpenAI and Microsoft Foundry, with the paths of OpenAI's own API"""
    AZURE_DEPLOYMENTS = "azure-deployments"
    """the same with the older paths, which name the deployment and a dated version"""


class IdScheme(FastStrEnum):
    """The form of a tool call's id on the wire."""

    CALL40 = "call40"
    """`call_`, at most 40 characters: Chat Completions refuses longer ones (microsoft/autogen#6377)"""
    CALL64 = "call64"
    """`call_`, at most 64 characters: the `call_id` of the Responses API (AnswerDotAI/fastllm#45)"""
    TOOLU = "toolu"
    """`toolu_` and `[a-zA-Z0-9_-]`: Claude takes no other letters (maximhq/bifrost#5097)"""
    NINE = "nine"
    """nine letters and digits, as Mistral's published validator asks for
    (https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py)"""
    KIMI = "kimi"
    """`functions.{name}:{index}`, which Kimi was trained on; with other ids in the history it may stop calling
    (https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md)"""
    TOOLUSE = "tooluse"
    """`tooluse_` and `[a-zA-Z0-9_-]`, at most 64 characters: what Bedrock gives its calls
    (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html)"""


class NameRule(FastStrEnum):
    """The form of a tool's name on the wire."""

    OPENAI = "openai"
    """`[a-zA-Z0-9_-]{1,64}` (https://platform.openai.com/docs/api-reference/chat/create)"""
    ANTHROPIC = "anthropic"
    """`[a-zA-Z0-9_-]{1,128}` (https://platform.claude.com/docs/en/api/messages/create)"""
    GEMINI = "gemini"
    """`[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}` (https://ai.google.dev/api/caching#FunctionDeclaration)"""
    KIMI = "kimi"
    """`[a-zA-Z_][a-zA-Z0-9_-]{0,63}`: one that begins with a digit is refused (MoonshotAI/kimi-cli#1773)"""


class ThinkingMode(FastStrEnum):
    """How a model's thinking is switched."""

    NEVER = "never"
    BUDGET = "budget"
    """on and off, with a budget of tokens"""
    ADAPTIVE = "adaptive"
    """on and off; the model decides how much"""
    EFFORT = "effort"
    """always on, in degrees"""
    ALWAYS = "always"
    """on; cannot be switched"""
    SWITCH = "switch"
    """on and off"""


UNBUDGETED = (0, 0)
"""of a model that decides by itself how much it thinks, and refuses to be told
(https://platform.claude.com/docs/en/build-with-claude/extended-thinking)"""


class Capabilities(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What one model at one endpoint accepts. The defaults are those of a plain modern chat model."""

    id_scheme: IdScheme = IdScheme.CALL40
    name_rule: NameRule = NameRule.OPENAI
    images: bool = True
    documents: bool = False
    audio: bool = False
    video: bool = False
    result_images: bool = False
    """images inside tool results"""
    native_tool_history: bool = True
    """false: results are embedded as text and calls are left out"""
    text_beside_calls: bool = True
    max_calls: int = 128
    """calls in one message, of which OpenAI takes 128 (openai/openai-dotnet#317); 1 where the model does not call in
    parallel"""
    prefill: bool = False
    """the request may end on an answer, which newer models of Anthropic and Google refuse (ericc-ch/copilot-api#261,
    pipecat-ai/pipecat#5821)"""
    middle_system: bool = True
    """an instruction in the middle keeps its role"""
    developer_role: bool = False
    user_after_tool: bool = True
    """a person may speak right after results, which servers with an older validator of Mistral's refuse
    (zed-industries/zed#37021)"""
    alternates: bool = False
    """the model's template wants the human side and the model to take turns, calls and results aside"""
    named_results: bool = False
    """chat: a tool message carries the tool's name"""
    demands_tools: bool = False
    """definitions are demanded when the history holds calls, as Anthropic's API does
    (https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use)"""
    call_ids: bool = True
    """Gemini: calls and responses carry ids"""
    call_signatures: bool = False
    """Gemini 3: the first call of a content needs a signature
    (https://ai.google.dev/gemini-api/docs/thought-signatures)"""
    thinking: ThinkingMode = ThinkingMode.NEVER
    thinking_default: bool = False
    """thinks unless told not to"""
    efforts: tuple[str, ...] = ("low", "medium", "high")
    """the words for how hard to think that the model knows, weakest first"""
    budgets: tuple[int, int] | None = None
    """the fewest and the most tokens of thinking that may be asked for, `UNBUDGETED` where none may; None: not known
    (https://ai.google.dev/gemini-api/docs/thinking)"""
    thinking_first: bool = False
    """while thinking is on, an open tool loop must begin with a thought of the model's own (mastra-ai/mastra#7799)"""
    reasoning_field: bool = False
    """`reasoning_content`, or in Messages a thinking block, on answers with calls, demanded while thinking is on
    (theopenco/llmgateway#2093, https://api-docs.deepseek.com/guides/thinking_mode)"""
    cache_marks: bool = True
    """marks for the prompt cache are understood, in dialects that have them"""
    empty_text: bool = True
    """an empty string is accepted as content; Claude refuses one (anthropics/claude-code#23440)"""
    max_tokens_field: str = "max_tokens"
    temperature: bool = True
    router: bool = False
    """answers come from other models than the one asked for; only the served one knows its thoughts"""
    window: int = 128_000
    max_output: int = 8_192
    price_input: float | None = None
    """dollars for a million tokens; None where no price is known, which is not the same as nothing to pay"""
    price_output: float | None = None
    price_cache_read: float | None = None
    """None: what fresh input costs"""
    price_cache_write: float | None = None


class Target(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """A route resolved: which dialect and profile to speak, to which model, where, and what it accepts."""

    dialect: Dialect
    profile: str
    provider: str
    model: str
    endpoint: str
    account: str = ""
    platform: Platform = Platform.OWN
    capabilities: Capabilities = Capabilities()

    @property
    def route(self) -> str:
        """The name a person would use."""
        return f"{self.provider}/{self.model}"

    @property
    def server(self) -> str:
        """Whose server it is, or is to be treated like: the profile, or the provider where that is `strict`.

        Servers that share the profile `strict` have nothing in common but what all of them accept.
        """
        return self.provider if self.profile == "strict" else self.profile

    @property
    def home(self) -> str:
        """Who understands fields that have no neutral word: a dialect, and whose server it is."""
        return f"{self.dialect}/{self.server}"

    def understands(self, home: str) -> bool:
        """Whether fields that belong to `home`, a whole dialect or one kind of server, mean something here."""
        return home in (self.home, str(self.dialect))

    def is_sent_extra_of(self, home: str) -> bool:
        """Whether extra fields that belong to `home` are sent here; those of nobody in particular always are."""
        return not home or self.understands(home)

    def origin(self, served: str = "") -> Origin:
        """The origin of an answer that this target gives."""
        return Origin(
            dialect=str(self.dialect),
            provider=self.provider,
            endpoint=normal_endpoint(self.endpoint),
            account=self.account,
            asked=self.model,
            served=served,
        )

    def is_home_of(self, origin: Origin | None) -> bool:
        """Whether thoughts from `origin` may go back there: same place, same account, same model."""
        if origin is None or not origin.dialect or not origin.provider:
            return False
        if (
            origin.dialect != self.dialect
            or origin.provider != self.provider
            or origin.account != self.account
            or normal_endpoint(origin.endpoint) != normal_endpoint(self.endpoint)
        ):
            return False
        if self.capabilities.router:
            return bool(origin.served) and origin.served == self.model
        return self.model in (origin.asked, origin.served)


_DEFAULT_PORTS = {"https": 443, "http": 80}

_ENDPOINTS = 64
"""endpoints whose normal form is remembered, since each answer is compared by it: our choice, more than anyone asks"""


@lru_cache(_ENDPOINTS)
def normal_endpoint(url: str) -> str:
    """`url` without what does not matter: case of scheme and host, default port, trailing slash."""
    from urllib.parse import urlsplit  # rendering for a target that never answered does not need it

    parts = urlsplit(url.strip())
    if not parts.netloc:
        return url.strip().rstrip("/").lower()
    host = (parts.hostname or "").lower()
    try:
        port = parts.port
    except ValueError:
        port = None
    suffix = "" if port is None or port == _DEFAULT_PORTS.get(parts.scheme.lower()) else f":{port}"
    return f"{parts.scheme.lower()}://{host}{suffix}{parts.path.rstrip('/')}"
