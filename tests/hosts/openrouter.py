"""OpenRouter: a number as the code of an error, and models of many vendors."""

ERROR_BODY = {"error": {"message": "no", "code": 400, "metadata": {}}}
ROUTES = ("openrouter/mistralai/devstral-medium", "openrouter/moonshotai/kimi-k2")
