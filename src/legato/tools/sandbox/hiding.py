"""Close this process to others of the same user: they cannot read its environment or memory, nor trace it.

Linux shows the environment with which a process was started to every process of its user (`/proc/PID/environ`), so a
command of a model could read there the keys that were left out of its own. `PR_SET_DUMPABLE` ends that; it also means
that a debugger cannot be attached and that no core is dumped. Programs that are started from here are not affected.
"""

from __future__ import annotations

import sys

_PRCTL_SET_DUMPABLE = 4  # <linux/prctl.h>


def hide_process() -> None:
    """Do so, where the system can: on Linux. Root can still look, outside of a sandbox."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PRCTL_SET_DUMPABLE, 0, 0, 0, 0)
