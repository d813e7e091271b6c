"""What several rules of the Messages API are known from, and the models and words that they share."""

from __future__ import annotations

OPUS = "anthropic/claude-opus-4-8"
API = "https://platform.claude.com/docs/en/api/messages/create"
TOOL_USE = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use"
THINKING = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking"
NO_RESULT = "`tool_use` ids were found without `tool_result` blocks immediately after"
