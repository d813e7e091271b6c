"""What several rules of generateContent are known from, and the models and words that they share."""

from __future__ import annotations

GEMINI_3 = "gemini/gemini-3-flash-preview"
API = "https://ai.google.dev/api/caching#Content"
CLIENT = "https://github.com/google-gemini/generative-ai-js/blob/main/src/methods/chat-session-helpers.ts"
