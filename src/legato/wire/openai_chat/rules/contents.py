"""Judge the content of a chat message: absent, empty, text, or parts.

Servers agree least about emptiness. OpenAI takes an empty string but no null, xAI takes no null even next to calls,
servers in front of Claude take null there but no empty string, Kimi and Mistral want an answer to say something.
"""

from __future__ import annotations

from legato.model import Capabilities, Json, JsonObject
from legato.wire.judging import Findings, brief, is_list, is_object
from legato.wire.openai_chat.rules.checks import HostChecks

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
                self._found.refuse(
                    "openai-chat/empty-parts", f"messages[{index}].content", "an array of parts may not be empty"
                )
            elif role == "assistant" and not has_calls:
                self._refuse_empty_answer(index)
        else:
            self._found.refuse(
                "openai-chat/content-form",
                f"messages[{index}].content",
                f"content is a string or an array of parts, not {type(content).__name__}",
            )

    def _examine_absence(self, index: int, role: str, message: JsonObject, *, has_calls: bool) -> None:
        if role != "assistant":
            self._found.refuse(
                "openai-chat/null-content", f"messages[{index}].content", f"a message of the {role} needs a content"
            )
        elif has_calls:
            if not self._acceptance.takes_null_beside_calls:
                self._report(
                    "null-beside-calls",
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
            self._found.refuse(
                "strict/empty-text",
                f"messages[{index}].content",
                "this server turns an empty string into an empty block, which is refused",
            )
        elif role == "assistant":
            if not has_calls and not accepted.takes_empty_answers and not message.get("reasoning_content"):
                self._refuse_empty_answer(index)
        elif role != "tool" and not accepted.takes_empty_messages:
            self._report("empty-answer", f"messages[{index}].content", "a message may not be empty")
        elif accepted.warns_of_empty_text:
            self._found.risk("openai-chat/empty-content", f"messages[{index}].content", "not every server takes it")

    def _report(self, check: str, path: str, message: str) -> None:
        self._checks.report(self._found, check, path, message)

    def _refuse_empty_answer(self, index: int) -> None:
        self._report("empty-answer", f"messages[{index}]", "an assistant message has neither content nor calls")

    def _refuse_text_beside_calls(self, index: int) -> None:
        self._found.refuse(
            "openai-chat/text-beside-calls",
            f"messages[{index}]",
            "this model takes text or calls, not both",
        )

    def _examine_part(self, path: str, role: str, part: Json) -> None:
        kind = part.get("type") if is_object(part) else None
        if not isinstance(kind, str):
            self._found.refuse("openai-chat/part-form", path, "a content part is an object with a `type`")
            return
        accepted = self._acceptance
        if kind in _IMAGES and role != "user" and accepted.watches_images:
            if role != "tool" or not self._capabilities.result_images:
                self._found.refuse("openai-chat/image-place", path, "images are taken in user messages only")
        elif accepted.part_types is not None and kind not in accepted.part_types.get(role, (kind,)):
            self._report("part-type", path, f"a message of the {role} has no parts of type {brief(kind)} here")
