"""The layers that keep a program in: what each stops, whether it works here, and how it is set up.

Everything is done by system calls through ctypes, on Linux. On other systems there are the limits
of `resource` alone. Layers that need one another are set up in the order of `LAYERS`.
"""

import ctypes
import errno
import os
import resource
import signal
import socket
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

LAYERS = {
    "limits": "no more CPU time, memory, processes, files and output than it may have",
    "namespaces": "no network, no view of other processes, no other files, no shared memory",
    "landlock": "no file outside its folder and the installed software, no signals to others",
    "seccomp": "no sockets, ptrace, mounts, io_uring, keys and the like",
}
FOLDER = "/tmp"  # what a program may write to, in its own file system
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
UNUSED_USER = 0x70000000  # user ids from here on belong to nobody: one for each box


# -- System calls

_libc: Any = ctypes.CDLL(None, use_errno=True)
_capset: Any = getattr(ctypes.PyDLL(None), "capset", None)

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET
MS_NOSUID, MS_NODEV = 2, 4
MS_REC, MS_PRIVATE = 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
# The numbers of the calls that came after both tables were merged.
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
CLOSE_RANGE, MOUNT_SETATTR = 436, 442


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _call(number: int, what: str, *arguments: Any) -> int:
    return _check(_libc.syscall(ctypes.c_long(number), *arguments), what)


def _prctl(option: int, *values: Any) -> None:
    padded = [*values, *(0,) * (4 - len(values))]
    _check(
        _libc.prctl(option, *(ctypes.c_ulong(v) if isinstance(v, int) else v for v in padded)),
        "prctl",
    )


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    arguments = (text.encode() or None for text in (source, target, kind))
    result = _libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None)
    _check(result, f"mount {target}")


def die_with(parent_ended: Callable[[], bool]) -> None:
    """Have the kernel kill this process when its parent ends; exit if that is gone already."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent_ended():
        os._exit(1)


def adopt_orphans() -> None:
    """Have processes whose parent ended become children of this one, so that it can end them."""
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    if sys.platform == "linux":
        with suppress(OSError):
            _call(CLOSE_RANGE, "close_range", first, ctypes.c_uint(0xFFFFFFFF), 0)
            return
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


# -- Files that a program may read


def readable_paths(languages: bool = True) -> list[str]:
    """Return what a program may read: Python, its packages, and the installed software."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    bases = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    python = [sysconfig.get_path(name) for name in names]
    python += [sysconfig.get_path(name, vars=bases) for name in names]
    python += [str(Path(sys.executable).parent), str(Path(sys.executable).resolve().parent)]
    python += [str(Path(sys.prefix) / "pyvenv.cfg"), str(Path(sys.base_prefix) / "lib")]
    toolchains = _toolchains() if languages else []
    wanted = dict.fromkeys([*SYSTEM, *SETTINGS, *python, *toolchains])
    return [path for path in wanted if path and os.access(path, os.R_OK)]


def _toolchains() -> list[str]:
    """Return the folders of compilers that are installed elsewhere than in /usr."""
    home = Path(os.path.expanduser("~"))  # a user may have no home
    rust = [home / ".rustup" / "toolchains", home / ".cargo" / "bin"]
    return [str(path) for path in [*rust, Path("/usr/local/go"), *Path("/etc").glob("java-*")]]


# -- Namespaces


def enter_namespaces() -> None:
    """Leave the network, the mounts and the shared memory of this machine behind."""
    user, group = os.getuid(), os.getgid()
    if user:
        _check(_libc.unshare(CLONE_NEWUSER), "unshare user namespace")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _check(_libc.unshare(NAMESPACES), "unshare")


def enter_process_namespace() -> None:
    """Have the next fork be the first process of a namespace of its own, which ends with it."""
    _check(_libc.unshare(CLONE_NEWPID), "unshare process namespace")


def build_root(disk: int) -> None:
    """Make a file system with the software that a program may read and an empty `FOLDER`."""
    _mount("", "/", "", MS_REC | MS_PRIVATE)
    root = "/proc"  # exists everywhere, and none of the paths lies in it
    paths = [path for path in readable_paths() if not Path(path).is_symlink()]
    links = {path: os.readlink(path) for path in readable_paths() if Path(path).is_symlink()}
    sources = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in [*paths, *DEVICES]}
    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    _make(f"{root}{FOLDER}", is_folder=True)
    mount_folder(disk, root)
    for path, source in sources.items():
        target = root + path
        if not _covered(path, paths):
            _make(target, _is_folder(source))
            _bind(source, target)
        os.close(source)
    for path, target in links.items():
        if not _covered(path, paths):
            _make(str(Path(root + path).parent), is_folder=True)
            os.symlink(target, root + path)
    os.symlink(FOLDER, f"{root}/dev/shm")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{root}/dev/{name}")
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    _make(f"{root}/proc", is_folder=True)
    os.chdir(root)
    _check(_libc.syscall(ctypes.c_long(_number("pivot_root")), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir("/")
    _set_read_only("/", recursive=False)


def mount_processes() -> None:
    """Mount /proc for this namespace; each sees those that it may trace, its own."""
    with suppress(OSError):  # containers that mask parts of /proc allow no other
        _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | 8, "hidepid=2")  # 8: no programs


def _covered(path: str, paths: Iterable[str]) -> bool:
    return any(path != other and Path(path).is_relative_to(other) for other in paths)


def _is_folder(descriptor: int) -> bool:
    import stat

    return stat.S_ISDIR(os.fstat(descriptor).st_mode)


def _make(path: str, is_folder: bool) -> None:
    if is_folder:
        os.makedirs(path, mode=0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def _bind(source: int, target: str) -> None:
    """Bind a path that is open: the new root may cover it by now."""
    tree = _call(428, "open_tree", source, b"", ctypes.c_uint(1 | os.O_CLOEXEC | 0x1000 | 0x8000))
    try:
        _call(429, "move_mount", tree, b"", -100, target.encode(), ctypes.c_uint(4))
    finally:
        os.close(tree)
    if not target.startswith("/proc/dev/"):
        _set_read_only(target, recursive=True)


def _set_read_only(path: str, recursive: bool) -> None:
    attributes = struct.pack("=QQQQ", 1 | 2, 0, 0, 0)  # MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID
    flags = 0x8000 if recursive else 0  # AT_RECURSIVE
    _call(
        *(MOUNT_SETATTR, "mount_setattr", -100, path.encode(), ctypes.c_uint(flags)),
        *(attributes, ctypes.c_size_t(len(attributes))),
    )


def mount_folder(disk: int, root: str = "") -> None:
    """Mount an empty folder of limited size."""
    options = f"size={disk},nr_inodes={disk >> 12},mode=777"
    _mount("tmpfs", root + FOLDER, "tmpfs", MS_NOSUID | MS_NODEV, options)


def unmount_folder() -> None:
    """Drop the folder with everything in it."""
    _check(_libc.umount2(FOLDER.encode(), MNT_DETACH), "umount")


CAPABILITIES, NO_CAPABILITIES = struct.pack("=Ii", 0x20080522, 0), bytes(24)


def drop_privileges(user: int | None) -> None:
    """Become a user that nobody else is, if this is root, and give up every capability."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _capset(CAPABILITIES, NO_CAPABILITIES)


# -- Landlock

# Rights to files, by the version of Landlock that has them.
READ = 1 << 2 | 1 << 3  # files, folders
EXECUTE = 1 << 0
FILES = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
ON_A_FILE = EXECUTE | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
TCP = 1 | 2
SCOPES = 1 | 2  # abstract sockets, signals


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has; 0 if it has none."""
    if sys.platform != "linux":
        return 0
    found: int = _libc.syscall(ctypes.c_long(LANDLOCK_CREATE), None, ctypes.c_size_t(0), 1)
    return max(0, found)


def landlock_rules(
    readable: Sequence[str], writable: Sequence[str], in_namespace: bool = False
) -> int:
    """Return the descriptor of a set of rules: a program may use these paths and no others."""
    version = landlock_version()
    handled = sum(rights for since, rights in FILES.items() if since <= version)
    attributes = struct.pack(
        "=QQQ", handled, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _call(LANDLOCK_CREATE, "landlock", attributes, ctypes.c_size_t(size), 0)
    allowed = [(path, READ | EXECUTE) for path in readable]
    allowed += [("/proc", READ)] if in_namespace else []
    allowed += [(path, handled & ~(1 << 6 | 1 << 11)) for path in writable]  # no devices
    allowed += [(path, READ | 1 << 1 | 1 << 14) for path in DEVICES]
    for path, rights in allowed:
        with suppress(FileNotFoundError, PermissionError):
            _allow(rules, path, rights & handled)
    return rules


def _allow(rules: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights &= -1 if _is_folder(descriptor) else ON_A_FILE
        rule = struct.pack("=Qi", rights, descriptor)
        _call(LANDLOCK_ADD, f"landlock {path}", rules, 1, rule, 0)
    finally:
        os.close(descriptor)


def restrict_files(rules: int) -> None:
    """Put this process under a set of rules, for good."""
    _call(LANDLOCK_RESTRICT, "landlock_restrict_self", rules, 0)


# -- seccomp

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
# Calls that no program needs: name -> number on x86_64, on aarch64; -1 if there is none.
DENIED = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "bpf": (321, 280),
    "io_uring_register": (427, 427),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "personality": (135, 92),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "lookup_dcookie": (212, 18),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    "modify_ldt": (154, -1),
    "uselib": (134, -1),
    "fanotify_init": (300, 262),
    "vhangup": (153, 58),
    "process_madvise": (440, 440),
}
OTHERS = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "prlimit64": (302, 261),
    "capset": (126, 91),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
}
LOAD, JUMP_EQUAL, JUMP_SET, JUMP_ABOVE, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
SPACES = NAMESPACES | CLONE_NEWUSER | CLONE_NEWPID | 0x02000000  # cgroups


def _number(name: str) -> int:
    return (DENIED | OTHERS)[name][MACHINES[os.uname().machine][1]]


def _argument(index: int, high: bool = False) -> int:
    return 16 + 8 * index + 4 * high


def seccomp_filter(own_signals_only: int | None = None) -> bytes:
    """Return the filter as machine code of the kernel's BPF.

    own_signals_only: a process id; signals to other processes fail. Default: they are allowed,
        since the process sees no others
    """
    code, column = MACHINES[os.uname().machine]
    steps: list[tuple[int, int, int, int]] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, code),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if column == 0:  # calls of x32, which have numbers of their own
        steps += [(JUMP_ABOVE, 0, 1, 0x40000000), (RETURN, 0, 0, KILL)]
    for numbers in DENIED.values():
        if numbers[column] >= 0:
            steps += [(JUMP_EQUAL, 0, 1, numbers[column]), (RETURN, 0, 0, FAIL | errno.EPERM)]
    steps += [(JUMP_EQUAL, 0, 1, OTHERS["clone3"][column]), (RETURN, 0, 0, FAIL | errno.ENOSYS)]
    steps += _if_called(
        OTHERS["clone"][column],
        [
            *[(LOAD, 0, 0, _argument(0)), (JUMP_SET, 0, 1, SPACES)],
            (RETURN, 0, 0, FAIL | errno.EPERM),
        ],
    )
    steps += _if_called(OTHERS["prlimit64"][column], _unless_argument(0, [0]))
    if own_signals_only is not None:
        for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
            allowed = [0, own_signals_only] if name == "kill" else [own_signals_only]
            steps += _if_called(OTHERS[name][column], _unless_argument(0, allowed))
        for name in ("tkill", "pidfd_send_signal"):
            steps += _if_called(OTHERS[name][column], [(RETURN, 0, 0, FAIL | errno.EPERM)])
    steps.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _if_called(number: int, steps: list[tuple[int, int, int, int]]) -> list[Any]:
    """Return code that runs `steps` for one call, and then loads the number of the call again."""
    body = [*steps, (LOAD, 0, 0, NUMBER)]
    return [(JUMP_EQUAL, 0, len(body), number), *body]


def _unless_argument(argument: int, allowed: Sequence[int]) -> list[Any]:
    tests = [(JUMP_EQUAL, len(allowed) - index, 0, value) for index, value in enumerate(allowed)]
    return [(LOAD, 0, 0, _argument(argument)), *tests, (RETURN, 0, 0, FAIL | errno.EPERM)]


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def filter_calls(code: bytes) -> None:
    """Put this process and its children under a filter of system calls, for good."""
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _FilterProgram(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _prctl(PR_SET_SECCOMP, 2, ctypes.byref(program))


def forbid_new_privileges() -> None:
    """Have no program that is started gain rights: set-uid files lose their meaning."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def hide_memory() -> None:
    """Have no other process of the same user read or write the memory of this one."""
    if sys.platform == "linux":
        _prctl(PR_SET_DUMPABLE, 0)


# -- Limits


def set_fixed_limits(disk: int) -> None:
    """Set the limits that are the same for every process of a box."""
    limits = {
        resource.RLIMIT_FSIZE: disk,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_STACK: 256 << 20,  # recursion 50,000 deep
    }
    if sys.platform == "linux":
        limits |= {resource.RLIMIT_MSGQUEUE: 0, resource.RLIMIT_MEMLOCK: 0}
    for which, value in limits.items():
        _limit(which, value)


def set_limits(seconds: float, memory: int, processes: int) -> None:
    """Set the limits of this process: a last resort if the one that watches it is gone."""
    _limit(resource.RLIMIT_CPU, int(seconds) + 2, margin=1)  # SIGXCPU, then SIGKILL
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_NPROC, processes)


def _limit(which: int, value: int, margin: int = 0) -> None:
    highest = resource.getrlimit(which)[1]
    if highest != resource.RLIM_INFINITY:
        value = min(value, highest)
    try:  # noqa: SIM105 - `suppress` costs more than the call
        resource.setrlimit(which, (value - margin, value))
    except (OSError, ValueError):  # macOS refuses some
        pass


# -- Probes


def working_layers() -> dict[str, str]:
    """Return the layers that work here, each with "" or why it does not work.

    Each is tried in a process of its own.
    """
    return {
        "limits": "",
        "namespaces": _try(_try_namespaces),
        "landlock": _try(_try_landlock),
        "seccomp": _try(_try_seccomp),
    }


def _try(function: Callable[[], None]) -> str:
    if sys.platform != "linux":
        return "it exists on Linux alone"
    here, there = socket.socketpair()
    with here, there:
        process = os.fork()
        if not process:
            try:
                function()
                there.send(b"works")
            except BaseException as error:
                there.send(str(error).encode()[:500] or b"failed")
            finally:
                os._exit(0)
        there.close()
        answer = here.recv(1000).decode() or "the process died"
        os.waitpid(process, 0)
    return "" if answer == "works" else answer


def _try_namespaces() -> None:
    enter_namespaces()
    build_root(1 << 20)
    enter_process_namespace()
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)


def _try_landlock() -> None:
    if not landlock_version():
        raise OSError("the kernel has no Landlock, or it is switched off")
    forbid_new_privileges()
    restrict_files(landlock_rules(readable_paths(), []))


def _try_seccomp() -> None:
    if os.uname().machine not in MACHINES:
        raise OSError(f"there is no filter for {os.uname().machine}")
    forbid_new_privileges()
    filter_calls(seccomp_filter())
