"""MiniMax's Messages: the models before M3, which always think."""

ROUTES = ("minimax-anthropic/MiniMax-M2.7",)
