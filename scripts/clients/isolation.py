"""Let nothing that is started from here reach a network other than this machine's loopback.

Where Linux allows it, the whole run moves into a network of its own, in which there is only loopback: then no setting
of a client has to be trusted. Elsewhere proxies lead nowhere; a client that asks the gateway through a proxy, too,
cannot be held back that way, and runs by its own settings alone.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

_INSIDE = "LEGATO_CLIENTS_INSIDE"
_FLAGS = struct.Struct("16sH14x")
_GET, _SET, _UP = 0x8913, 0x8914, 0x1
"""SIOCGIFFLAGS, SIOCSIFFLAGS and IFF_UP of Linux's netdevice(7)"""
_NOWHERE = "http://127.0.0.1:9"
"""the port `discard`, on which nobody listens"""


def is_inside() -> bool:
    """Whether this is the run that was started again."""
    return _INSIDE in os.environ


def move_into_own_network(arguments: Sequence[str], module: str = "scripts.clients") -> None:
    """Start this program again in a network of its own; it returns only where that is not possible."""
    if is_inside():
        _raise_loopback()
        return
    unshare = shutil.which("unshare")
    entry = [unshare or "", "--user", "--map-root-user", "--net"]
    if unshare is None or subprocess.run([*entry, "true"], capture_output=True, check=False).returncode:
        return
    os.environ[_INSIDE] = "1"
    sys.stdout.flush()
    os.execv(unshare, [*entry, sys.executable, "-m", module, *arguments])


def proxies() -> dict[str, str]:
    """Environment variables that lead everything but loopback nowhere."""
    here = "127.0.0.1,localhost,::1"
    wanted = {"HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE, "ALL_PROXY": _NOWHERE, "NO_PROXY": here}
    return wanted | {name.lower(): value for name, value in wanted.items()}


def is_alone() -> bool:
    """Whether this machine has no interface but loopback: nothing can leave it."""
    return {name for _, name in socket.if_nameindex()} == {"lo"}


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:
        _, flags = _FLAGS.unpack(fcntl.ioctl(anything, _GET, _FLAGS.pack(b"lo", 0)))
        fcntl.ioctl(anything, _SET, _FLAGS.pack(b"lo", flags | _UP))
