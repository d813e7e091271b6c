"""Ways out of a sandbox, each as a command, and a scene in which it can be seen whether one leads out.

In:  as a program: a mechanism, a folder for the scene, a user id. (After `leave` it runs one command, for long.)
Out: JSON: which attempts got out, by name, with what was seen.

What counts is what happened outside: a file of the scene that changed, a process that ended, a service that was
reached. An attempt prints ESCAPED where there is nothing to see from outside, or nothing that a test should do for real.
It is a program of its own because it becomes another user; whatever it needs is therefore imported before that.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio._backends._asyncio  # for the same reason
import anyio.to_thread

from legato.tools import ToolContext
from legato.tools.builtin.processes import run_program
from legato.tools.sandbox import SandboxMode, SandboxPolicy
from legato.tools.sandbox.sandbox import Mechanism, Sandbox, threads_of_machine

LATE = 0.5
"""seconds after which a process that outlived its command writes a file"""

CALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    ctypes.set_errno(0)
    result = libc.syscall(*(one if one is not None else ctypes.c_void_p(0) for one in arguments))
    return result, ctypes.get_errno()
"""
NUMBERS = {
    "x86_64": {
        "keyctl": 250, "ptrace": 101, "readv": 310, "handle": 304, "setns": 308, "bpf": 321, "clone": 56,
        "policy": 144, "semctl": 66, "shmctl": 31, "msgctl": 71,
    },
    "aarch64": {
        "keyctl": 219, "ptrace": 117, "readv": 270, "handle": 265, "setns": 268, "bpf": 280, "clone": 220,
        "policy": 119, "semctl": 191, "shmctl": 195, "msgctl": 187,
    },
}.get(os.uname().machine, {})  # fmt: skip


def python(text: str, **numbers: int) -> str:
    """A command that runs `text` as a Python program."""
    for name, number in numbers.items():
        text = text.replace(f"<{name}>", str(number))
    return f"$PYTHON -I -S - <<'END'\n{text}\nEND"


def socket_of(kind: str, then: str) -> str:
    return python(f"import os, socket\none = socket.socket({kind})\n{then}\nprint('ESCAPED')")


FILES = {
    "a new file outside": "echo x > $OUT/new",
    "appending outside": "echo x >> $OUT/victim",
    "emptying a file outside": python("import os; os.truncate(os.environ['OUT'] + '/victim', 0)"),
    "emptying by opening to read": python("import os; os.open(os.environ['OUT'] + '/victim', os.O_RDONLY | os.O_TRUNC)"),
    "removing outside": "rm -rf $OUT/victim $OUT/folder",
    "renaming outside": "mv $OUT/victim $OUT/renamed",
    "moving out": "echo x > src/x; mv src/x $OUT/moved",
    "a folder outside": "mkdir $OUT/made",
    "a link outside": "ln -s / $OUT/link",
    "a pipe outside": "mkfifo $OUT/pipe",
    "through a symbolic link": "ln -s $OUT/victim src/link; echo x > src/link",
    "through a link to a folder": "ln -s $OUT src/folder; echo x > src/folder/new",
    "through a hard link": "ln $OUT/victim src/hard && echo x >> src/hard",
    "through a hard link of an open file": "exec 3< $OUT/victim; ln -L /proc/self/fd/3 src/hard && echo x >> src/hard",
    "an open file opened again": "exec 3< $OUT/victim; echo x >> /proc/self/fd/3",
    "the root of another process": "echo x > /proc/$HOST/root/$OUT/new; echo x > /proc/$PPID/root/$OUT/new",
    "the folder of another process": "echo x > /proc/$HOST/cwd/new",
    "a file by its handle": python(
        CALL + "import struct\n"
        "victim = os.environ['OUT'] + '/victim'\n"
        "handle = ctypes.create_string_buffer(struct.pack('ii', 128, 0) + bytes(128)); mount = ctypes.c_int()\n"
        "libc.name_to_handle_at(-100, victim.encode(), handle, ctypes.byref(mount), 0)\n"
        "folder = os.open(os.environ['OUT'], os.O_RDONLY)\n"
        "result, error = call(<handle>, folder, handle, os.O_WRONLY | os.O_APPEND)\n"
        "if result >= 0: os.write(result, b'x')\n",
        **NUMBERS,
    ),
    "a program in memory": python(
        "import os, shutil\n"
        "memory = os.memfd_create('x')\n"
        "os.write(memory, open(shutil.which('bash'), 'rb').read())\n"
        "os.execve(memory, ['bash', '-c', 'echo x > $OUT/new'], dict(os.environ))"
    ),
    "shared memory of the machine": "echo x > /dev/shm/$SHARED",
    **{
        f"{kind} of other processes": python(CALL + f"call(<{call}>, int(os.environ['{kind.upper()}']), 0, 0)", **NUMBERS)
        for kind, call in {"semaphores": "semctl", "memory": "shmctl", "messages": "msgctl"}.items()
    },
    "a device": "test -c /dev/kmsg && echo x > /dev/kmsg && echo ESCAPED; mknod src/disk b 8 0 && echo ESCAPED",
    "what a person types": "timeout 9 head -1 $TERMINAL | grep -q typed && echo ESCAPED",
    "a setting of the kernel": "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && echo ESCAPED",
    "the temporary folder of all": "echo x > $TOP/new",
}  # fmt: skip
PIPES = {"a pipe that is there": "timeout 9 bash -c 'echo x > $OUT/pipe-of-a-service'"}
ATTRIBUTES = {
    "modes outside": "chmod 700 $OUT/victim",
    "times outside": "touch -d 2001-01-01 $OUT/victim",
}
MODES = {
    "attributes outside": python("import os; os.setxattr(os.environ['OUT'] + '/victim', 'user.x', b'x')"),
    "a file outside that a list of access opens to everybody": python(
        "import os, struct\n"
        "entries = [(0x01, 6), (0x04, 4), (0x20, 6)]  # its owner, its group, everybody\n"
        "listed = struct.pack('<I', 2) + b''.join(struct.pack('<HHi', who, may, -1) for who, may in entries)\n"
        "os.setxattr(os.environ['OUT'] + '/victim', 'system.posix_acl_access', listed)"
    ),
    "flags outside": python(
        "import fcntl, os, struct\n"
        "file, told = os.open(os.environ['OUT'] + '/victim', os.O_RDONLY), bytearray(8)\n"
        "fcntl.ioctl(file, 0x80086601, told)\n"
        "fcntl.ioctl(file, 0x40086602, struct.pack('l', int.from_bytes(told, 'little') ^ 0x80))  # when it was read"
    ),
    "flags outside by a call of their own": python(
        CALL + "if call(469, -100, os.environ['OUT'].encode(), bytes(24), 24, 0)[0] == 0: print('ESCAPED')"
    ),
    "an owner outside": "chown 12345 $OUT/victim",
    "a set-user-id file outside": "chmod u+s $OUT/victim",
    "a file outside that everybody may write": "chmod o+w $OUT/victim",
}
PROTECTED = {
    "a hook of git": "echo x > .git/hooks/pre-commit",
    "the config of git": "echo x >> .git/config",
    "replacing the config of git": "echo x > src/x; mv -f src/x .git/config",
    "moving git away": "mv .git gone; mkdir .git",
    "moving git away and back": "mv .git src/gone; echo x >> src/gone/config; mv src/gone .git",
    "git through a hard link": "ln .git/config src/hard && echo x >> src/hard",
    "git through a symbolic link": "ln -s ../.git/config src/soft; echo x >> src/soft",
    "git under another name of the folder": "echo x >> $WS/src/../.git/config",
    "a repository inside": "echo x >> vendor/lib/.git/config",
    "a repository in a folder that is moved": "mv vendor gone; echo x >> gone/lib/.git/config; mv gone vendor",
    "a repository in a folder that is made anew": "mv vendor src/gone; mkdir -p vendor/lib/.git; "
    "echo x > vendor/lib/.git/config",
    "a repository above which a folder is made anew": "mv vendor/lib src/gone; mkdir -p vendor/lib/.git; "
    "echo x > vendor/lib/.git/config",
    "a repository behind a link": "mv vendor src/gone; ln -s src/gone vendor; echo x >> vendor/lib/.git/config",
    "a bare repository": "echo x >> store/config; mkdir store/hooks; echo x > store/hooks/update",
    "what a protected link leads to": "echo x >> conf/settings.json",
    "a protected link": "ln -sfn ../src .vscode",
    "a new protected file": "echo x > src/.envrc",
    "a new protected file at the top": "echo x > .legato.toml",
    "a new repository": "mkdir -p src/.git/hooks; echo x > src/.git/hooks/pre-commit; echo x > src/.git/config",
    "a new repository by renaming": "mkdir src/repo; echo x > src/repo/config; mv src/repo src/.git",
    "a new repository in a closed folder": "mkdir -p src/a/.git; echo x > src/a/.git/config; chmod 555 src/a",
    "a new bare repository": "mkdir -p src/r/objects src/r/refs; echo x > src/r/HEAD; echo x > src/r/config",
    "another case": "mkdir src/.GIT; echo x > src/.GIT/config",
    "in the way of what is taken back": "ln -s $OUT .legato-withheld; echo x > src/.envrc",
}
NETWORK = {
    "TCP": socket_of("socket.AF_INET, socket.SOCK_STREAM", "one.connect(('127.0.0.1', int(os.environ['TCP'])))"),
    "TCP of the shell": "echo x > /dev/tcp/127.0.0.1/$TCP && echo ESCAPED",
    "UDP": python(
        "import os, socket\n"
        "one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "one.sendto(b'x', ('127.0.0.1', int(os.environ['UDP'])))"
    ),
    "a raw socket": socket_of("socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP", ""),
    "packets": socket_of("socket.AF_PACKET, socket.SOCK_RAW", ""),
    "the host of a virtual machine": socket_of("40, socket.SOCK_STREAM", ""),
    "the crypto interface": socket_of("38, socket.SOCK_SEQPACKET", ""),
    "a Unix socket": socket_of("socket.AF_UNIX, socket.SOCK_STREAM", "one.connect(os.environ['UNIX'])"),
    "an abstract Unix socket": socket_of("socket.AF_UNIX, socket.SOCK_STREAM", "one.connect('\\0' + os.environ['ABSTRACT'])"),
    "datagrams to a Unix socket": socket_of("socket.AF_UNIX, socket.SOCK_DGRAM", "one.sendto(b'x', os.environ['DATAGRAMS'])"),
    **{
        f"datagrams from a pair of sockets, {kind}": python(
            "import os, socket\n"
            f"one, other = socket.socketpair(socket.AF_UNIX, socket.{kind})\n"
            "one.sendto(b'x', os.environ['DATAGRAMS'])\n"
            "one.connect(os.environ['DATAGRAMS']); one.send(b'x')"
        )
        for kind in ("SOCK_DGRAM", "SOCK_DGRAM | socket.SOCK_CLOEXEC", "SOCK_RAW", "SOCK_SEQPACKET")
    },
}  # fmt: skip
PROCESSES = {
    "the environment of its parents": "cat /proc/$HOST/environ /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n' | "
    "grep -q SECRET_OF_PARENT && echo ESCAPED",
    "the memory of another process": "head -c 1 /proc/$DECOY/mem && echo ESCAPED; cat /proc/$DECOY/maps | grep -q . && "
    "echo ESCAPED; readlink /proc/$DECOY/fd/0 && echo ESCAPED",
    "tracing another process": python(
        CALL + "if call(<ptrace>, 16, int(os.environ['DECOY']), 0, 0)[0] == 0: print('ESCAPED')", **NUMBERS
    ),
    "reading another process": python(
        CALL + "import struct\n"
        "local = ctypes.create_string_buffer(8)\n"
        "piece = struct.pack('PN', ctypes.addressof(local), 8)\n"
        "result, error = call(<readv>, int(os.environ['DECOY']), piece, 1, struct.pack('PN', 4194304, 8), 1, 0)\n"
        "if result > 0 or error == 14: print('ESCAPED')",
        **NUMBERS,
    ),
    "a signal to another process": "kill -9 $DECOY",
    "a signal to all": "kill -9 $HOST; kill -9 $PPID",
    "the limits of another process": python(
        "import os, resource\n"
        "resource.prlimit(int(os.environ['DECOY']), resource.RLIMIT_NOFILE, (1, 1))\nprint('ESCAPED')"
    ),
    "the priority of another process": python(
        "import os\nos.setpriority(os.PRIO_PROCESS, int(os.environ['DECOY']), 19)"
    ),
    "the policy of another process": python(
        CALL + "if call(<policy>, int(os.environ['DECOY']), 5, bytes(4))[0] == 0: print('ESCAPED')", **NUMBERS
    ),
    "the priority of all processes": python("import os\nos.setpriority(os.PRIO_USER, 0, 19)"),
    "a session of its own": f"setsid sh -c 'sleep {LATE}; echo x > src/late-session' >/dev/null 2>&1 &",
    "two forks": f"(setsid sh -c '(sleep {LATE}; echo x > src/late-forks) &' &) >/dev/null 2>&1",
    "a job of its own": f"set -m; (sleep {LATE}; echo x > src/late-job) >/dev/null 2>&1 & disown",
    "deaf to signals": f"trap '' TERM HUP INT; nohup sh -c 'sleep {LATE}; echo x > src/late-deaf' >/dev/null 2>&1 &",
}
KERNEL = {
    "privileges": "grep -q 'NoNewPrivs:.1' /proc/self/status && grep -q 'CapPrm:.0000000000000000' /proc/self/status || "
    "echo ESCAPED",
    "a filter for system calls": "grep -q 'Seccomp:.2' /proc/self/status || echo ESCAPED",
    "a mount": "mount -t tmpfs none src && echo ESCAPED; mount -o remount,rw / && echo ESCAPED",
    "another namespace": "unshare -r true && echo ESCAPED; unshare -m true && echo ESCAPED",
    "a child in another namespace": python(
        CALL + "if call(<clone>, 0x10000000 | 17, 0, 0, 0, 0)[0] >= 0: print('ESCAPED')", **NUMBERS
    ),
    "a child in another namespace by clone3": python(
        CALL + "import struct\n"
        "result, error = call(435, struct.pack('11Q', 0x10000000, *[0] * 10), 88)\n"
        "if error != 38: print('ESCAPED')"
    ),
    "the namespaces of another process": python(
        CALL + "try: place = os.open(f\"/proc/{os.environ['HOST']}/ns/net\", os.O_RDONLY)\n"
        "except OSError: place = -1\n"
        "if call(<setns>, place, 0)[1] != 1: print('ESCAPED')",
        **NUMBERS,
    ),
    "io_uring": python(
        CALL + "result, error = call(425, 1, ctypes.create_string_buffer(120))\nif error != 1: print('ESCAPED', error)"
    ),
    "kernel keys": python(
        CALL + "if call(<keyctl>, 0, -3, 1)[1] != 1: print('ESCAPED')\n", **NUMBERS
    ),
    "BPF": python(CALL + "if call(<bpf>, 0, ctypes.create_string_buffer(120), 120)[1] != 1: print('ESCAPED')", **NUMBERS),
    "typing into a terminal": python(
        "import fcntl, termios\n"
        "try: fcntl.ioctl(1, termios.TIOCSTI, b'x')\n"
        "except OSError as error: print('' if error.errno == 1 else 'ESCAPED')\n"
        "else: print('ESCAPED')"
    ),
}  # fmt: skip
if os.uname().machine == "x86_64":
    KERNEL["the calls of 32 bits"] = python(
        "import ctypes, mmap\n"
        "code = mmap.mmap(-1, 4096, prot=7)\n"
        "code.write(bytes.fromhex('b814000000cd80c3'))  # getpid by int 0x80\n"
        "function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))\n"
        "if function() != -38: print('ESCAPED')"
    )
    KERNEL["the calls of x32"] = python(CALL + "if call(0x40000000 | 39)[1] != 38: print('ESCAPED')")

ATTEMPTS = FILES | PIPES | ATTRIBUTES | MODES | PROTECTED | NETWORK | PROCESSES | KERNEL

NOT_HELD: dict[Mechanism, frozenset[str]] = {
    Mechanism.BUBBLEWRAP: frozenset(PIPES),  # a pipe is written on a read-only mount, too
    Mechanism.LANDLOCK: frozenset(ATTRIBUTES),
}
"""what docs/security.md says that a mechanism does not hold"""

WORKS = {
    "a file in a folder": "echo x > src/new && rm src/new",
    "a file that is there": "echo x >> notes.txt",
    "the temporary folder": "echo x > $TMPDIR/new && mv $TMPDIR/new src/ && rm src/new",
    "temporary files": python("import tempfile; tempfile.NamedTemporaryFile().write(b'x')"),
    "usual devices": "echo x > /dev/null && head -c 1 /dev/urandom > /dev/null && echo x > /dev/stderr",
    "a mode, a time and a link inside": "chmod 755 src/code.py && touch -d 2020-01-01 src/code.py && ln -s code.py src/l",
    "a pair of sockets": python("import socket; one, other = socket.socketpair(); one.send(b'x')"),
    "processes and threads": python(
        "import os, threading\n"
        "threading.Thread(target=print).start()\nassert os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)[1] == 0"
    ),
    "a low priority": "nice -n 19 true && ionice -c 3 true",
    "waiting for the background": "sleep 0.01 & wait && (exit 0)",
    "reading": 'cat /etc/passwd /proc/self/status /proc/cpuinfo > /dev/null && test -n "$(cat < $OUT/victim)"',
    "a here-document and a pipe that are opened again": "cat /dev/stdin <<END | cat /dev/fd/0 | grep x\nx\nEND",
    "an interpreter": python("import sys; sys.exit(0)"),
}


ALLOWED = 60
FORKS = python(
    "import os, time\nfor _ in range(int(os.environ['TOO_MANY'])):\n    if os.fork() == 0: time.sleep(60)\nprint('ESCAPED')"
)
"""far more processes than are allowed; they end with the command"""


class Scene:
    """What is outside and what is protected, and whether any of it has changed."""

    def __init__(self, top: Path) -> None:
        self.top, self.outside, self.workspace = top, top / "outside", top / "work space"
        self.shared = f"legato-test-{os.getpid()}"
        self._tcp = self._listen(socket.AF_INET, ("127.0.0.1", 0))
        self._udp = self._listen(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)
        self._unix = self._listen(socket.AF_UNIX, str(top / "service"))
        self._datagrams = self._listen(socket.AF_UNIX, str(top / "datagrams"), socket.SOCK_DGRAM)
        self._abstract = self._listen(socket.AF_UNIX, f"\0{self.shared}")
        self._terminal = os.openpty()
        os.write(self._terminal[0], b"typed\n")
        self.build()

    def _listen(self, family: int, address: Any, kind: int = socket.SOCK_STREAM) -> socket.socket:
        service = socket.socket(family, kind)
        service.bind(address)
        service.setblocking(False)
        if kind == socket.SOCK_STREAM:
            service.listen()
        return service

    def build(self) -> None:
        """Make everything anew."""
        for folder in (self.outside, self.workspace):
            shutil.rmtree(folder, ignore_errors=True)
        (self.outside / "folder").mkdir(parents=True)
        (self.outside / "victim").write_text("victim")
        os.mkfifo(self.outside / "pipe-of-a-service")
        self._pipe = os.open(self.outside / "pipe-of-a-service", os.O_RDONLY | os.O_NONBLOCK)
        for name in (".git/hooks", "src", "vendor/lib/.git", "store/objects", "store/refs", "conf"):
            (self.workspace / name).mkdir(parents=True)
        for name in (".git/config", "vendor/lib/.git/config", "store/config", "store/HEAD", "conf/settings.json"):
            (self.workspace / name).write_text("as it was")
        (self.workspace / ".vscode").symlink_to("conf")
        (self.workspace / "notes.txt").write_text("notes")
        (self.workspace / "src/code.py").write_text("code")
        self.decoy = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
        libc = ctypes.CDLL(None)
        self._objects = {
            "semaphores": libc.semget(0, 1, 0o600), "memory": libc.shmget(0, 4096, 0o600), "messages": libc.msgget(0, 0o600)
        }  # fmt: skip
        self.before = dict(self._seen())

    @property
    def environment(self) -> dict[str, str]:
        """What attempts know about the scene."""
        return {
            "OUT": str(self.outside),
            "WS": str(self.workspace),
            "TOP": str(self.top),
            "HOST": str(os.getpid()),
            "DECOY": str(self.decoy.pid),
            "TCP": str(self._tcp.getsockname()[1]),
            "UDP": str(self._udp.getsockname()[1]),
            "UNIX": str(self.top / "service"),
            "DATAGRAMS": str(self.top / "datagrams"),
            "ABSTRACT": self.shared,
            "SHARED": self.shared,
            **{kind.upper(): str(number) for kind, number in self._objects.items()},
            "TERMINAL": os.ttyname(self._terminal[1]),
            "TOO_MANY": str(ALLOWED + threads_of_machine() + 200),
            "PYTHON": sys.executable,
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        }

    def changes(self) -> list[str]:
        """What is not as it was; then it is built anew."""
        after = dict(self._seen())
        changed = sorted(key for key in self.before.keys() | after.keys() if self.before.get(key) != after.get(key))
        changed += [f"reached: {name}" for name in self._reached()]
        if changed:
            self.end()
            self.build()
        return changed

    def end(self) -> None:
        """Its process ends, and nobody reads its pipe."""
        os.close(self._pipe)
        libc = ctypes.CDLL(None)
        for kind, remove in (("semaphores", libc.semctl), ("memory", libc.shmctl), ("messages", libc.msgctl)):
            remove(self._objects[kind], 0, 0)
        self.decoy.kill()
        self.decoy.wait()

    def close(self) -> None:
        """Nothing of it goes on, its services neither."""
        self.end()
        for service in (self._tcp, self._udp, self._unix, self._datagrams, self._abstract):
            service.close()
        for end in self._terminal:
            os.close(end)

    def _seen(self) -> Iterator[tuple[str, object]]:
        yield "the decoy", self.decoy.poll() if self.decoy.returncode is None else self.decoy.returncode
        with suppress(ProcessLookupError):
            yield "its priority", os.getpriority(os.PRIO_PROCESS, self.decoy.pid)
        for kind, file in (("semaphores", "sem"), ("memory", "shm"), ("messages", "msg")):
            lines = Path("/proc/sysvipc", file).read_text().splitlines()[1:]
            yield kind, str(self._objects[kind]) in [line.split()[1] for line in lines]
        yield "shared memory", os.path.exists(f"/dev/shm/{self.shared}")
        yield "beside", sorted(os.listdir(self.top))
        for path in (self.outside, *self.outside.rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            yield str(path), (status.st_mode, status.st_uid, status.st_nlink, status.st_mtime_ns, content)
            yield f"{path} attributes", os.listxattr(path, follow_symlinks=False)
        yield "protected", sorted(self._protected())

    def _protected(self) -> Iterator[tuple[str, bytes]]:
        names = {".git", ".envrc", ".vscode", ".legato.toml", "conf", "store", "head", "objects"}
        for path in self.workspace.rglob("*"):
            inside = path.relative_to(self.workspace)
            if names & {part.casefold() for part in inside.parts} and inside.parts[0] != ".legato-withheld":
                link = os.readlink(path).encode() if path.is_symlink() else b""
                yield str(inside), path.read_bytes() if path.is_file() else link

    def _reached(self) -> Iterator[str]:
        for name, service in (("TCP", self._tcp), ("Unix", self._unix), ("abstract", self._abstract)):
            with suppress(BlockingIOError):
                service.accept()[0].close()
                yield name
        for name, service in (("UDP", self._udp), ("datagrams", self._datagrams)):
            with suppress(BlockingIOError):
                while service.recv(10):
                    yield name
        with suppress(BlockingIOError):
            if os.read(self._pipe, 10):
                yield "a pipe"


async def run(sandbox: Sandbox, command: str, environment: dict[str, str]) -> tuple[int, str]:
    """The exit code of a command in the sandbox, and what it wrote."""
    async with sandbox.around(["/bin/bash", "-c", command], environment) as confined:
        finished = await run_program(
            confined.command,
            ToolContext(),
            folder=Path(sandbox.folder),
            environment=confined.environment,
            seconds=60,
            limit=10_000,
            descriptors=confined.descriptors,
            leads=confined.leads,
        )
    return finished.code, finished.output


async def try_all(mechanism: Mechanism, top: Path) -> dict[str, Any]:
    """What came of every attempt, and of what should work."""
    scene = Scene(top)
    try:
        return await _try_all(mechanism, scene)
    finally:
        scene.close()


async def _try_all(mechanism: Mechanism, scene: Scene) -> dict[str, Any]:
    sandbox = Sandbox(scene.workspace, SandboxPolicy(), only=mechanism)
    if sandbox.choice.mechanism is None:
        return {"missing": sandbox.choice.reason}
    escaped: dict[str, str] = {}
    for name, command in ATTEMPTS.items():
        _, output = await run(sandbox, command, scene.environment)
        changed = scene.changes()
        if changed or "ESCAPED" in output:
            escaped[name] = f"{changed} {output}"[:500]
    over = anyio.current_time() + 2 * LATE
    failed = {name: await run(sandbox, command, scene.environment) for name, command in WORKS.items()}
    narrow = Sandbox(
        scene.workspace, SandboxPolicy(mode=SandboxMode.READ_ONLY, processes=ALLOWED, memory=300), only=mechanism
    )
    limits = {
        "read-only": await run(narrow, "echo x > src/new", scene.environment),
        "its temporary folder": await run(narrow, "echo x > $TMPDIR/new", scene.environment),
        "memory": await run(narrow, python("x = bytearray(400_000_000)"), scene.environment),
        "processes": await run(narrow, FORKS, scene.environment),
    }
    await anyio.sleep_until(over)
    escaped |= {path.name: "outlived its command" for path in scene.workspace.glob("src/late-*")}
    return {
        "escaped": escaped,
        "failed": {name: told for name, told in failed.items() if told[0]},
        "limits": {name: code == 0 for name, (code, _) in limits.items()},
    }


def become(user: int) -> None:
    """Another user, for good; the interpreter of the system, if this one is out of their reach."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    os.environ["HOME"] = "/nonexistent"
    if not os.access(sys.executable, os.X_OK):
        sys.executable = shutil.which("python3", path="/usr/bin:/usr/local/bin") or ""


async def leave_running(how: str, folder: Path, long: str) -> None:
    """Run a command that starts another one, `sleep LONG`, and does not end by itself; without a sandbox if `off`."""
    only = None if how == SandboxMode.OFF else Mechanism(how)
    mode = SandboxMode.OFF if only is None else SandboxMode.WORKSPACE
    command = f"setsid sh -c 'echo x > src/began; sleep {long}; true' & sleep 600"
    await run(Sandbox(folder, SandboxPolicy(mode=mode), only=only), command, {"PATH": "/usr/bin:/bin"})


def main() -> None:
    if sys.argv[1] == "leave":
        anyio.run(leave_running, sys.argv[2], Path(sys.argv[3]), sys.argv[4])
    mechanism, top, user = Mechanism(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    os.chdir(top)
    if os.getuid() != user:
        become(user)
    print(json.dumps(anyio.run(try_all, mechanism, top)))


if __name__ == "__main__":
    main()
