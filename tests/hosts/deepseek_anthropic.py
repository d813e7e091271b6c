"""DeepSeek's Messages: models that think in different ways, and errors in the shape of its Chat Completions."""

ERROR_BODY = {"error": {"message": "no", "type": "a", "param": None, "code": "invalid_request_error"}}
ROUTES = ("deepseek-anthropic/deepseek-flash", "deepseek-anthropic/deepseek-reasoner")
