"""vLLM: an error that is not wrapped in anything."""

ERROR_BODY = {"object": "error", "message": "no", "type": "BadRequestError", "param": None, "code": 400}
