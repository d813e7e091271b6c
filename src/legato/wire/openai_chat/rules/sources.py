"""What several rules of Chat Completions are known from, and the models and words that they share."""

from __future__ import annotations

STRICT = "strict/some-model"
API = "https://platform.openai.com/docs/api-reference/chat/create"
EMPTY_ARRAY = "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead"
