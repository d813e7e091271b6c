"""Judge the content of a chat message: absent, empty, text, or parts.

Servers agree least about emptiness. OpenAI takes an empty string but no null, xAI takes no null even next to calls,
servers in front of Claude take null there but no empty string, Kimi and Mistral want an answer to say something.
"""

from __future__ import annotations

from legato.model import Capabilities, Json, JsonObject
from legato.wire.findings import Severity
from legato.wire.judging import Findings, brief, is_list, is_object
from legato.wire.openai_chat.rules.checks import HostCheck, HostChecks, ReportedRule
from legato.wire.openai_chat.rules.sources import API, STRICT
from legato.wire.rules import refused, risky

_VALIDATOR = "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py"

TEXT_BESIDE_CALLS = refused(
    "openai-chat/text-beside-calls",
    "Where a model takes text or calls, a message does not hold both.",
    source=(
        "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py",
        "langchain-ai/langchain#21196",
    ),
    error="Assistant message must have either content or tool_calls, but not both",
    code="3240",
    route="mistral/open-mistral-7b",
)
NULL_CONTENT = refused(
    "openai-chat/null-content",
    "Content is not null, except in an assistant message with calls.",
    source=("docker/docker-agent#63", "openai/openai-cookbook#503"),
    error="Invalid value for 'content': expected a string, got null",
)
EMPTY_ANSWER = HostCheck("empty-answer", NULL_CONTENT)
EMPTY_PARTS = refused(
    "openai-chat/empty-parts",
    "Content that is an array has at least one part.",
    source=API,
)
EMPTY_CONTENT = risky(
    "openai-chat/empty-content",
    "No message has an empty text: OpenAI, DeepSeek and Mistral take it, other servers may not.",
    source=("earendil-works/pi#3311", "lmstudio-ai/lmstudio-bug-tracker#2"),
    route=STRICT,
)
CONTENT_FORM = refused(
    "openai-chat/content-form",
    "Content is a string or an array of parts, never a single part.",
    source=(API, "ggml-org/llama.cpp#13471"),
)
PART_FORM = refused(
    "openai-chat/part-form",
    "A content part is an object with a type.",
    source=API,
)
PART_TYPE = HostCheck(
    "part-type",
    refused(
        "openai-chat/part-type",
        "Parts of user messages are `text`, `image_url`, `input_audio` or `file`, of assistant messages "
        "`text` or `refusal`, of all others `text`.",
        source=API,
    ),
)
# The newest models take an image in a tool message and do not see it (openai/openai-openapi#523).
IMAGE_PLACE = refused(
    "openai-chat/image-place",
    "Images stand in user messages; that of a result follows the results in a user message of its own.",
    source=("openai/openai-node#1030", "openai/openai-openapi#523"),
    error="Image URLs are only allowed for messages with role 'user'",
)
STRICT_EMPTY_TEXT = refused(
    "strict/empty-text",
    "Servers in front of Claude get no empty string as content: it would become an empty block. Null "
    "passes next to calls.",
    source="musistudio/claude-code-router#1329",
    error="text content blocks must be non-empty",
    route="strict/claude",
)
NULL_BESIDE_CALLS = HostCheck("null-beside-calls", ReportedRule("xai/null-content", Severity.REFUSED))

_IMAGES = frozenset({"image_url", "input_image", "image"})
_INSTEAD = ("function_call", "refusal", "audio")
"""fields that stand for the content of an answer"""


class ContentJudge:
    """Judges contents for one server."""

    def __init__(self, checks: HostChecks, capabilities: Capabilities, found: Findings) -> None:
        self._checks = checks
        self._acceptance = checks.acceptance
        self._capabilities = capabilities
        self._found = found

    def examine(self, index: int, role: str, message: JsonObject, *, has_calls: bool) -> None:
        """Judge the content of the message at `index`."""
        content = message.get("content")
        if content is None:
            self._examine_absence(index, role, message, has_calls=has_calls)
        elif isinstance(content, str):
            if not content:
                self._examine_emptiness(index, role, message, has_calls=has_calls)
            elif has_calls and not self._capabilities.text_beside_calls and content.strip():
                self._refuse_text_beside_calls(index)
        elif is_list(content):
            if content:
                for part_index, part in enumerate(content):
                    self._examine_part(f"messages[{index}].content[{part_index}]", role, part)
                if has_calls and not self._capabilities.text_beside_calls:
                    self._refuse_text_beside_calls(index)
            elif not self._acceptance.takes_empty_calls:
                self._found.report(EMPTY_PARTS, f"messages[{index}].content", "an array of parts may not be empty")
            elif role == "assistant" and not has_calls:
                self._refuse_empty_answer(index)
        else:
            self._found.report(
                CONTENT_FORM,
                f"messages[{index}].content",
                f"content is a string or an array of parts, not {type(content).__name__}",
            )

    def _examine_absence(self, index: int, role: str, message: JsonObject, *, has_calls: bool) -> None:
        if role != "assistant":
            self._found.report(NULL_CONTENT, f"messages[{index}].content", f"a message of the {role} needs a content")
        elif has_calls:
            if not self._acceptance.takes_null_beside_calls:
                self._report(
                    NULL_BESIDE_CALLS,
                    f"messages[{index}].content",
                    "this server wants a content next to calls; an empty string will do",
                )
        elif not any(message.get(field) for field in _INSTEAD) and not (
            self._acceptance.takes_reasoning and message.get("reasoning_content")
        ):
            self._refuse_empty_answer(index)

    def _examine_emptiness(self, index: int, role: str, message: JsonObject, *, has_calls: bool) -> None:
        accepted = self._acceptance
        if not self._capabilities.empty_text:
            self._found.report(
                STRICT_EMPTY_TEXT,
                f"messages[{index}].content",
                "this server turns an empty string into an empty block, which is refused",
            )
        elif role == "assistant":
            if not has_calls and not accepted.takes_empty_answers and not message.get("reasoning_content"):
                self._refuse_empty_answer(index)
        elif role != "tool" and not accepted.takes_empty_messages:
            self._report(EMPTY_ANSWER, f"messages[{index}].content", "a message may not be empty")
        elif accepted.warns_of_empty_text:
            self._found.report(EMPTY_CONTENT, f"messages[{index}].content", "not every server takes it")

    def _report(self, check: HostCheck, path: str, message: str) -> None:
        self._checks.report(self._found, check, path, message)

    def _refuse_empty_answer(self, index: int) -> None:
        self._report(EMPTY_ANSWER, f"messages[{index}]", "an assistant message has neither content nor calls")

    def _refuse_text_beside_calls(self, index: int) -> None:
        self._found.report(
            TEXT_BESIDE_CALLS,
            f"messages[{index}]",
            "this model takes text or calls, not both",
        )

    def _examine_part(self, path: str, role: str, part: Json) -> None:
        kind = part.get("type") if is_object(part) else None
        if not isinstance(kind, str):
            self._found.report(PART_FORM, path, "a content part is an object with a `type`")
            return
        accepted = self._acceptance
        if kind in _IMAGES and role != "user" and accepted.watches_images:
            if role != "tool" or not self._capabilities.result_images:
                self._found.report(IMAGE_PLACE, path, "images are taken in user messages only")
        elif accepted.part_types is not None and kind not in accepted.part_types.get(role, (kind,)):
            self._report(PART_TYPE, path, f"a message of the {role} has no parts of type {brief(kind)} here")
