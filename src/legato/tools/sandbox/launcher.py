"""Start one command, restricted if that is wanted, and leave nothing of it behind: a program of its own.

In:  a job (see `LaunchJob` in `landlock`).
Out: how the command ended, as its own end.

Two processes: this one waits, and the other becomes the command. This one adopts whatever the command leaves behind
(`PR_SET_CHILD_SUBREAPER`), with a session of its own or a parent that ended, and ends it when the command has ended or
when it is told to end (SIGTERM). What restricts the command is laid on both, and one thing more on the command alone: a
Landlock domain below ours, out of which it can send us no signal.

It is on the way of every command, so it starts with `-I -S` and imports only what is built into Python: `os`, `signal`,
`ctypes` and `json` would each cost up to as much as all the rest. So `_ctypes` is used as `ctypes` itself uses it, and
structures for the kernel are written byte by byte (both machines that are supported are little-endian). Nor is it
compiled there: `landlock.launch_data` hands it over as it was compiled once.
"""

# What lies below the public modules has no types.
# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false, reportUnknownVariableType=false
# pyright: reportMissingTypeArgument=false, reportMissingImports=false

import posix
from _ctypes import FUNCFLAG_CDECL, FUNCFLAG_USE_ERRNO, CFuncPtr, _SimpleCData, dlopen, dlsym, get_errno
from _signal import SIG_DFL, signal

TYPE_CHECKING = False  # `typing` would take longer to load than everything else
if TYPE_CHECKING:
    from legato.tools.sandbox.landlock import LaunchJob

# Numbers of the kernel: <linux/prctl.h>, <linux/capability.h>, <linux/landlock.h>, <linux/openat2.h>.
_SIGKILL, _SIGTERM = 9, 15
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVILEGES, _DROP_CAPABILITY = 1, 36, 38, 24
_SET_SECCOMP, _SECCOMP_FILTER = 22, 2
_CAPABILITIES_VERSION_3, _LAST_CAPABILITY = 0x2008_0522, 63
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _OPENAT2 = 444, 445, 446, 437
_PATH_BENEATH, _SCOPE_SIGNAL = 1, 2
_HERE, _OPEN_PATH, _NO_SYMLINKS = -100, 0o12000000, 4

_CANNOT_START = 125
"""the exit code of a launcher that could not do its work, as `env` and `timeout` have it"""


class _Long(_SimpleCData):
    _type_ = "l"


class _Bytes(_SimpleCData):
    _type_ = "z"


class _Function(CFuncPtr):
    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = _Long


def _call(name: str, *arguments: int | bytes) -> int:
    """Call a function of the C library; raises `OSError` where it returns a negative number."""
    function = _Function(dlsym(dlopen(None, 0), name))  # pyright: ignore[reportArgumentType]
    given = [_Bytes(one) if isinstance(one, bytes) else _Long(one) for one in arguments]
    result = function(*given)
    if result < 0:
        code = get_errno()
        raise OSError(code, posix.strerror(code), name)
    return result


def _number(value: int, size: int = 8) -> bytes:
    return value.to_bytes(size, "little", signed=value < 0)


def _restrict(handled: tuple[int, ...], rules: list[tuple[bytes, int]]) -> None:
    """Enter a Landlock domain; `handled` are the fields of the kernel's `struct landlock_ruleset_attr`."""
    attribute = b"".join(_number(one) for one in handled)
    ruleset = _call("syscall", _CREATE_RULESET, attribute, len(attribute), 0)
    for path, access in rules:
        how = _number(_OPEN_PATH) + _number(0) + _number(_NO_SYMLINKS)
        try:
            opened = _call("syscall", _OPENAT2, _HERE, path, how, len(how))
        except OSError:
            continue  # gone, or a link by now: then it is not allowed
        rule = _number(access) + _number(opened, 4)
        _call("syscall", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        posix.close(opened)
    _call("syscall", _RESTRICT_SELF, ruleset, 0)
    posix.close(ruleset)


def _give_up_privileges() -> None:
    """No capabilities, also for root, and none to be had from a program that brings some along."""
    _call("prctl", _SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            _call("prctl", _DROP_CAPABILITY, capability, 0, 0, 0)
        except OSError:
            break  # not privileged, or there are no more
    _call("capset", _number(_CAPABILITIES_VERSION_3, 4) + _number(0, 4), bytes(24))


def _filter_calls(program: bytes) -> None:
    pointer = bytes(memoryview(_Bytes(program)))
    _call("prctl", _SET_SECCOMP, _SECCOMP_FILTER, _number(len(program) // 8, 2) + bytes(6) + pointer, 0, 0)


def _set_limits(limits: list[tuple[int, int]]) -> None:
    for resource, value in limits:
        _call("setrlimit", resource, _number(value) * 2)


def _become(job: "LaunchJob") -> None:
    """What the other process does: it ends as the command, or with a complaint."""
    try:
        signal(_SIGTERM, SIG_DFL)
        if job["scoped"]:
            _restrict((0, 0, _SCOPE_SIGNAL), [])
        _set_limits(job["limits"])
        if job["filter"]:
            _filter_calls(job["filter"])
        posix.execve(job["command"][0], job["command"], posix.environ)
    except OSError as error:
        posix.write(2, f"the command could not be started: {error}\n".encode())
    posix._exit(_CANNOT_START)


def _end_children() -> None:
    """End everything that is left, until nothing is left that we may end."""
    while True:
        told = refused = 0
        for child in _children():
            try:
                posix.kill(child, _SIGKILL)
                told += 1
            except PermissionError:
                refused += 1  # it belongs to another user by now
            except OSError:
                pass  # it was quicker
        try:
            ended, _ = posix.waitpid(-1, 0 if told else posix.WNOHANG)
        except ChildProcessError:
            return
        if refused and not told and not ended:
            return


def _children() -> list[int]:
    with open(f"/proc/self/task/{posix.getpid()}/children", "rb") as file:
        return [int(one) for one in file.read().split()]


def _wait_for(command: int) -> int:
    """The status with which `command` ended; what it left behind is reaped meanwhile."""
    while True:
        ended, status = posix.waitpid(-1, 0)
        if ended == command:
            return status


def _end_like(status: int) -> None:
    """End as the command did, by a signal too."""
    if posix.WIFSIGNALED(status):
        number = posix.WTERMSIG(status)
        if number != _SIGKILL:
            signal(number, SIG_DFL)
        posix.kill(posix.getpid(), number)
    posix._exit(posix.WEXITSTATUS(status))


def main(job: "LaunchJob") -> None:
    """Do the job: start the command, wait for it, end what is left, and end like it."""

    def end(_number: int, _frame: object) -> None:
        _end_children()
        posix._exit(128 + _SIGTERM)

    _call("prctl", _SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal(_SIGTERM, end)
    _call("prctl", _SET_PARENT_DEATH_SIGNAL, _SIGTERM, 0, 0, 0)
    if posix.getppid() != job["parent"]:
        posix._exit(_CANNOT_START)  # it ended before we asked to be told
    if job["sacrifice"]:
        with open("/proc/self/oom_score_adj", "wb") as file:
            file.write(job["sacrifice"])
    if job["handled"]:
        _give_up_privileges()
        _restrict(job["handled"], job["rules"])
    command = posix.fork()
    if command == 0:
        _become(job)
    for stream in (0, 1):
        posix.close(stream)  # whoever is at the other end shall see when the command closes it, though we stay
    status = _wait_for(command)
    _end_children()
    _end_like(status)
