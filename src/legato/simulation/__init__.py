"""Providers that refuse what the real ones refuse, with a small scripted model behind them."""
