"""`python -m legato`: the same as the `legato` command."""

from __future__ import annotations

from legato.cli import main

if __name__ == "__main__":
    main()
