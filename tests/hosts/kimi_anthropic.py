"""Kimi's Messages: models that think in different ways."""

ROUTES = ("kimi-anthropic/kimi-k3", "kimi-anthropic/kimi-k2.7-code")
