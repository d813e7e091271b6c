"""Times of keys.

The Esc key sends one byte, and the sequences of other keys begin with that same byte; only time tells them apart.
"""

from __future__ import annotations

ESCAPE_SECONDS = 0.1
"""long enough for a sequence to arrive over a slow line, too short to be noticed by one who presses Esc"""

TWICE_SECONDS = 0.8
"""within which pressing a key again is pressing it twice"""

PAUSE_SECONDS = 1.0
"""without a key, after which someone who was typing is taken to have stopped"""
