"""Measurements of speed and memory: `python -m bench`. docs/benchmarks.md says how they are made and how to read."""
