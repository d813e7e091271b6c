"""Print one answer of the model as parts.

In:  an exchange and the voice of the target.
Out: the parts in the order in which the model said them, the calls among them, and the decisions.

A signature goes back on the part it came with and nowhere else. Thoughts go back only with one; the API reads no
others. Empty text is refused even where it carries a signature, so such a part is left out.
"""

from __future__ import annotations

from typing import assert_never

from legato.model import Action, Code, Decision, Fault, Foreign, HostedTool, JsonObject, Media, Text, Thinking, ToolCall
from legato.transcript.units import Exchange
from legato.wire.arguments import wire_arguments
from legato.wire.contract import Voice
from legato.wire.gemini.media import plain_media_part
from legato.wire.gemini.parts import omission
from legato.wire.gemini.signatures import signature_of
from legato.wire.phrases import media_omitted
from legato.wire.plain import fenced, hosted_text


class PrintedAnswer:
    """The parts of one answer, and what was done to them."""

    __slots__ = ("_home", "_keep_thinking", "_voice", "calls", "decisions", "parts")

    def __init__(self, unit: Exchange, voice: Voice, keep_thinking: bool) -> None:
        self._voice = voice
        self._keep_thinking = keep_thinking
        self._home = voice.is_home(unit.origin)
        self.parts: list[JsonObject] = []
        self.calls: list[JsonObject] = []
        """those of the parts that are calls"""
        self.decisions: list[Decision] = []
        is_visible = False
        for block in unit.blocks:
            match block:
                case ToolCall():
                    part = self._call(block)
                    self.calls.append(part)
                    self.parts.append(part)
                case Text():
                    if block.native is None:
                        self.parts.append({"text": block.text})
                    elif not self._signed_text(block):
                        continue
                case Thinking():
                    if not self._thought(block):
                        continue
                case HostedTool():
                    if not self._hosted(block):
                        continue
                case Media():
                    self._media(block)
                case Code():
                    self.parts.append({"text": fenced(block)})
                case _:
                    assert_never(block)
            is_visible = True
        if not is_visible:
            self.parts.clear()

    @property
    def lead(self) -> list[JsonObject]:
        """The parts that are no calls, for targets that want them apart."""
        return [part for part in self.parts if "functionCall" not in part]

    def _call(self, call: ToolCall) -> JsonObject:
        voice = self._voice
        name = voice.names.project(call.name)
        if name != call.name:
            detail = f"{call.name} is {name}"
            self.decisions.append(Decision(Action.RENAMED, "tool-name", Fault.PROJECTION, detail, (call.id,)))
        printed: JsonObject = {"name": name, "args": wire_arguments(call)}
        if voice.target.capabilities.call_ids:
            printed["id"] = voice.ids[call.id]
        return self._signed({"functionCall": printed}, call.native)

    def _signed(self, part: JsonObject, native: JsonObject | None) -> JsonObject:
        if native is not None and self._home and (signature := signature_of(native)):
            part["thoughtSignature"] = signature
        return part

    def _signed_text(self, block: Text) -> bool:
        part = self._signed({"text": block.text}, block.native)
        if not block.text or ("thoughtSignature" not in part and not block.text.strip()):
            self._decide(Action.DROPPED, "blank-text")
            return False
        self.parts.append(part)
        return True

    def _thought(self, block: Thinking) -> bool:
        """Print a thought; true if it became visible text."""
        signature = signature_of(block.native) if self._home else None
        if not self._keep_thinking:
            self._decide(Action.DROPPED, "thinking-policy")
        elif signature and block.text:
            self.parts.append({"text": block.text, "thought": True, "thoughtSignature": signature})
        else:
            reason = "unsigned-thinking" if self._home else "foreign-thinking"
            if self._voice.foreign is Foreign.TEXT and block.text.strip():
                self.parts.append({"text": block.text})
                self._decide(Action.CONVERTED, reason)
                return True
            self._decide(Action.DROPPED, reason)
        return False

    def _hosted(self, block: HostedTool) -> bool:
        native = block.native or {}
        if self._home and native.get("parts"):
            self.parts += native["parts"]
            return True
        if self._home and native:
            # What a search found is told beside the answer; a request has no place for it.
            self._decide(Action.DROPPED, "hosted-tool", f"{block.name} is known to the provider")
            return False
        self.parts.append({"text": hosted_text(block)})
        self._decide(Action.CONVERTED, "hosted-tool", f"{block.name} is told as text")
        return True

    def _media(self, block: Media) -> None:
        part = plain_media_part(block) if self._home else None
        if part is None:
            self.parts.append({"text": media_omitted(block.kind, block.mime)})
            self.decisions.append(omission(block))
        else:
            self.parts.append(self._signed(part, block.native))

    def _decide(self, action: Action, reason: str, detail: str = "") -> None:
        self.decisions.append(Decision(action, reason, Fault.PROJECTION, detail))
