"""What several rules of the Responses API are known from, and the models and words that they share."""

from __future__ import annotations

API = "https://platform.openai.com/docs/api-reference/responses/create"
CALLING = "https://platform.openai.com/docs/guides/function-calling"
BAD_NAME = (
    "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'"
)
