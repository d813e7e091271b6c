"""The system calls that a sandboxed command may not make, as a program for the kernel's filter (seccomp).

In:  the machine, and which sockets are allowed.
Out: the filter as bytes: classic BPF instructions, as `seccomp(2)` and bubblewrap's `--seccomp` take them.

A filter sees numbers, never what a pointer points to, so it cannot judge paths: that is the part of mounts or of
Landlock. It closes what they leave open: sockets (Landlock knows TCP alone, and a Unix socket is reached through a
read-only mount too), new namespaces and mounts, io_uring (which does all of it without a system call of its own; what
it opens no filter sees), kernel keys, and parts of the kernel that no build needs and in which most holes were found.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator
from functools import lru_cache
from socket import AF_INET, AF_INET6, AF_UNIX, SOCK_SEQPACKET, SOCK_STREAM

AF_NETLINK = 16  # with it a program asks the kernel for its network interfaces; macOS has none
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _JUMP_IF_ANY_BIT = 0x20, 0x15, 0x35, 0x45
_KEEP_BITS, _RETURN = 0x54, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
"""offsets in the kernel's `struct seccomp_data`"""

_MACHINES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""what the kernel calls them (AUDIT_ARCH_*); the tables below are in this order"""
MACHINES = frozenset(_MACHINES)

_X32 = 0x4000_0000
"""calls of the x32 interface of x86_64, which have other numbers, begin here"""

# By name: the number on x86_64 and on aarch64, from the kernel's own tables; None where there is no such call.
_NEVER: dict[str, tuple[int | None, int | None]] = {
    # Mounts and namespaces: a new user namespace gives every capability inside of it.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467), "unshare": (272, 97), "setns": (308, 268),
    # io_uring opens files and sockets past this filter.
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # Keys are shared by all processes of a login.
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    # Files by number instead of by path.
    "open_by_handle_at": (304, 265),
    # Parts of the kernel that a build has no use for.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443), "syslog": (103, 116),
}  # fmt: skip
_SHARED_MEMORY: dict[str, tuple[int | None, int | None]] = {
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semctl": (66, 191),
    "semop": (65, 193), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181),
}  # fmt: skip
"""what an own namespace keeps apart, and is refused where there is none: a number is enough to use or remove some"""
_ATTRIBUTES: dict[str, tuple[int | None, int | None]] = {
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}  # fmt: skip
"""with which a list of access lets everybody write a file; refused as by a file system that knows no such lists, which
programs take calmly"""
_CHANGE_MODE = {"chmod": (90, None, 1), "fchmod": (91, 52, 1), "fchmodat": (268, 53, 2), "fchmodat2": (452, 452, 2)}
"""with the place of the mode among the arguments"""
_PRIORITIES = {"setpriority": (141, 140, 2), "ioprio_set": (251, 30, 3)}
"""with the number by which they mean all processes of a user"""
_POLICIES = {"sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274)}
"""with which a process that may run at any time becomes one that runs when nothing else does"""
_CLONE, _CLONE3 = (56, 220), 435
_SOCKET, _SOCKET_PAIR, _IOCTL, _LIMIT = (41, 198), (53, 199), (16, 29), (302, 261)
_KIND_OF_SOCKET = 0xF
"""the bits of a socket's type that name its kind; the others are flags"""

_NEW_NAMESPACE = 0x7E02_0000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET"""
_TYPE_FOR_TERMINAL, _TERMINAL_LINUX = 0x5412, 0x541C
"""TIOCSTI and TIOCLINUX put text into a terminal as if a person had typed it"""
_FILE_FLAGS = (0x4008_6602, 0x4004_6602, 0x401C_5820, 0x4008_7602, 0x4008_6604, 0x4080_6685, 0x800C_6613)
"""FS_IOC_SETFLAGS (also of 32 bits), FSSETXATTR, SETVERSION (and that of ext4), ENABLE_VERITY, SET_ENCRYPTION_POLICY:
they change a file or a folder that is open to be read"""
_DANGEROUS_MODES = 0o6002
"""set-user-id, set-group-id, and writable by everyone"""


@lru_cache(maxsize=8)
def call_filter(machine: str, *, network: bool, unix_sockets: bool, own_namespaces: bool) -> bytes:
    """The filter. With `own_namespaces` the network, shared memory and the file system are kept apart by mounts."""
    column = tuple(_MACHINES).index(machine)
    families = [AF_INET, AF_INET6, AF_NETLINK] if network or own_namespaces else []
    families += [AF_UNIX] if unix_sockets else []
    refused = {**_NEVER, **({} if own_namespaces else _SHARED_MEMORY)}
    ioctls: dict[int, int] = {_TYPE_FOR_TERMINAL: errno.EPERM, _TERMINAL_LINUX: errno.EPERM}
    if not own_namespaces:
        ioctls |= dict.fromkeys(_FILE_FLAGS, errno.EOPNOTSUPP)
    parts = [
        *_other_machines(_MACHINES[machine]),
        *(part for calls in refused.values() for part in _refuse(calls[column], errno.EPERM)),
        # The flags of clone3 are behind a pointer. Told that there is no such call, libraries use clone.
        *_refuse(_CLONE3, errno.ENOSYS),
        *_if_call(_CLONE[column], _refuse_bits(0, _NEW_NAMESPACE)),
        *_if_call(_IOCTL[column], _refuse_values(1, ioctls)),
        *_if_call(_SOCKET[column], _accept_values(0, families)),
    ]
    if not unix_sockets:  # one of a pair of datagram sockets can write to any other socket
        parts += _if_call(_SOCKET_PAIR[column], _accept_values(1, [SOCK_STREAM, SOCK_SEQPACKET], _KIND_OF_SOCKET))
    if not own_namespaces:
        parts += [part for calls in _ATTRIBUTES.values() for part in _refuse(calls[column], errno.EOPNOTSUPP)]
        for call in _CHANGE_MODE.values():  # Landlock does not know modes
            parts += _if_call(call[column], _refuse_bits(call[2], _DANGEROUS_MODES))
        parts += _if_call(_LIMIT[column], _accept_values(0, [0]))  # the limits of other processes
        for policy in _POLICIES.values():
            parts += _if_call(policy[column], _accept_values(0, [0]))  # its own
        for priority in _PRIORITIES.values():
            of_user = [_argument(0), *_refuse(priority[2], errno.EACCES)]
            parts += _if_call(priority[column], [*of_user, *_accept_values(1, [0])])
    return b"".join([*parts, _instruction(_RETURN, _ALLOW)])


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _other_machines(machine: int) -> Iterator[bytes]:
    """Calls of another interface (32 bits) have other numbers: there are none here. Leaves the number loaded."""
    yield _instruction(_LOAD, _MACHINE)
    yield _instruction(_JUMP_IF_EQUAL, machine, 1, 0)
    yield _instruction(_RETURN, _ERRNO | errno.ENOSYS)
    yield _instruction(_LOAD, _NUMBER)
    yield _instruction(_JUMP_IF_AT_LEAST, _X32, 0, 1)
    yield _instruction(_RETURN, _ERRNO | errno.ENOSYS)


def _refuse(call: int | None, error: int) -> Iterator[bytes]:
    if call is not None:
        yield _instruction(_JUMP_IF_EQUAL, call, 0, 1)
        yield _instruction(_RETURN, _ERRNO | error)


def _if_call(call: int | None, judged: list[bytes]) -> Iterator[bytes]:
    """For that call alone `judged`, which always ends with an answer."""
    if call is not None:
        yield _instruction(_JUMP_IF_EQUAL, call, 0, len(judged))
        yield from judged


def _argument(index: int) -> bytes:
    """Load the lower half of an argument: all that the kernel looks at, for those that are judged here."""
    return _instruction(_LOAD, _FIRST_ARGUMENT + 8 * index)


def _refuse_bits(index: int, bits: int) -> list[bytes]:
    return [
        _argument(index),
        _instruction(_JUMP_IF_ANY_BIT, bits, 0, 1),
        _instruction(_RETURN, _ERRNO | errno.EPERM),
        _instruction(_RETURN, _ALLOW),
    ]


def _refuse_values(index: int, values: dict[int, int]) -> list[bytes]:
    """These, each with its error."""
    judged = [part for value, error in values.items() for part in _refuse(value, error)]
    return [_argument(index), *judged, _instruction(_RETURN, _ALLOW)]


def _accept_values(index: int, values: list[int], bits: int | None = None) -> list[bytes]:
    """Only these; of the argument only `bits` count."""
    judged: list[bytes] = []
    for value in values:
        judged += [_instruction(_JUMP_IF_EQUAL, value, 0, 1), _instruction(_RETURN, _ALLOW)]
    loaded = [_argument(index), *([] if bits is None else [_instruction(_KEEP_BITS, bits)])]
    return [*loaded, *judged, _instruction(_RETURN, _ERRNO | errno.EACCES)]
