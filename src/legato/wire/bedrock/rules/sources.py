"""What several rules of the Converse API are known from, and the models and words that they share."""

from __future__ import annotations

from functools import partial

from legato.wire.rules import refused

CLAUDE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"

API = "https://docs.aws.amazon.com/bedrock/latest/APIReference/"
MESSAGE = f"{API}API_runtime_Message.html"
BLOCK = f"{API}API_runtime_ContentBlock.html"
TOOL_USE = f"{API}API_runtime_ToolUseBlock.html"
RESULT = f"{API}API_runtime_ToolResultBlock.html"
SPEC = f"{API}API_runtime_ToolSpecification.html"
CONFIG = f"{API}API_runtime_ToolConfiguration.html"
CHOICE = f"{API}API_runtime_ToolChoice.html"
LIMITS = f"{API}API_runtime_InferenceConfiguration.html"
DOCUMENT = f"{API}API_runtime_DocumentBlock.html"
CACHE = "https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html"
THINKING = "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html"
UNPAIRED = "BerriAI/litellm#20048"

invalid = partial(refused, code="ValidationException")
"""declares a rule whose breach the service reports as every other one"""
