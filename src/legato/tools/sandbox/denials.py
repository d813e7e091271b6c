"""Whether a command may have failed because of the sandbox.

In:  what it wrote, and what was forbidden.
Out: the words that suggest it, or None.

The kernel does not tell us which calls it refused, so this reads the output of a command that failed, and finds what
programs print for the errors that a refusal gives. They print the same for other reasons: it is a hint, and is worded
as one.
"""

from __future__ import annotations

from legato.tools.sandbox.policy import SandboxPolicy

_FILES = ("Read-only file system", "Permission denied", "Operation not permitted", "EROFS", "EACCES", "EPERM")
_NETWORK = (
    "Network is unreachable",
    "Temporary failure in name resolution",
    "Could not resolve host",
    "could not be resolved",
    "Name or service not known",
    "No address associated with hostname",
    "Connection refused",
    "Failed to connect",
    "ENETUNREACH",
    "EAI_AGAIN",
    "ENOTFOUND",
    "ECONNREFUSED",
)
_LOOKED_AT = 20_000
"""characters at the end of an output: what a command failed of is said there"""


def hint_of_denial(output: str, policy: SandboxPolicy) -> str | None:
    """The words in `output` that a refusal of the sandbox would also give."""
    words = _FILES if policy.network else (*_NETWORK, *_FILES)
    end = output[-_LOOKED_AT:].casefold()
    return next((word for word in words if word.casefold() in end), None)
