"""How each framework asks a model, and what its messages look like. Each runs in the environment of its framework."""
