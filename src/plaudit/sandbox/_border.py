"""The border between the process of a program and the process of its tests.

Tests hold proxies of the program's functions, classes and objects; a call crosses the border as a
message, and the result comes back as plain data, or as a proxy if it is none. A function or a mock
of the tests that the program receives is a proxy as well, so calls go both ways.

    request: ["do", operation, target, arguments, keywords, printed]
    reply:   ["ok", value, changed arguments, container, printed] or ["raise", exception, printed]

The tests trust nothing that the program sends:

- An object of the program is never equal to plain data, and cannot be ordered with it or
  subtracted from it: an object that says yes to everything gains nothing.
- The program may call what it was passed, and read its public attributes. It may not set any, and
  cannot reach frames, globals or modules of the tests.
- The program cannot raise what stops or skips tests.
"""

import builtins
import io
import json
import operator
import os
import random
import socket
import struct
import sys
import threading
import types
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from plaudit.sandbox._plain import MOST_BYTES, NotPlain, from_json, to_json

LENGTH = struct.Struct("!I")
_to_text = json.JSONEncoder(separators=(",", ":")).encode
_from_text = json.JSONDecoder().decode
_current_folder = os.getcwd  # tests may patch it
MOST_OBJECTS = 100_000
MOST_PRINTED = 1 << 20
TRACKED = 16  # containers whose changes by the tests are passed on to the program
_FRAMES = ("gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_")
_UNARY = ("neg", "pos", "abs", "invert", "round", "trunc", "floor", "ceil")
_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
# Methods of built-in types that compare with what they are passed. An object that a function
# returns where plain data is expected could say yes to all of them; one that tests construct from
# a class may have them.
PREDICATES = ("startswith", "endswith", "issubset", "issuperset", "isdisjoint", "equals", "match")
_ORDER = ("lt", "le", "gt", "ge")
_CONVERSIONS: dict[str, Callable[..., Any]] = {
    "len": len,
    "iter": iter,
    "next": next,
    "bool": bool,
    "str": str,
    "repr": repr,
    "hash": hash,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "abs": abs,
    "round": round,
    "reversed": reversed,
    "format": format,
    "bytes": bytes,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "contains": operator.contains,
    "isinstance": isinstance,
    "issubclass": issubclass,
    "eq": operator.eq,
    "ne": operator.ne,
    "dir": dir,
    "divmod": divmod,
    "enter": lambda it: it.__enter__(),
    "exit": lambda it, *details: it.__exit__(*details),
    **{name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "neg", "pos", "invert")},
    **{name: getattr(operator, f"__{name}__") for name in _BINARY},
}


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    operation = _CONVERSIONS[name]
    return lambda it, other: operation(other, it)


OPERATIONS = _CONVERSIONS | {f"r{name}": _reflected(name) for name in _BINARY}


class Closed(Exception):  # noqa: N818
    """The other side is gone."""


class BrokenProgram(Exception):  # noqa: N818
    """The program broke the rules of the border, or ended."""


class Remote:
    """A proxy of an object on the other side."""

    def __init__(self, border: "Border", reference: int, tainted: bool = False) -> None:
        object.__setattr__(self, "_border_", border)
        object.__setattr__(self, "_reference_", reference)
        object.__setattr__(self, "_tainted_", tainted)
        object.__setattr__(self, "_constructed_", False)

    def __getattr__(self, name: str) -> Any:
        if name in ("_border_", "_reference_", "_tainted_") or name.startswith("__array_"):
            raise AttributeError(name)
        if name in PREDICATES and not self._constructed_ and self._border_.for_tests:
            raise AttributeError(f"an object of the program has no {name}: it is no plain data")
        return self._border_.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._border_.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._border_.ask("delete", self, name)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._border_.ask("call", self, *arguments, **keywords)

    def __eq__(self, other: object) -> bool:
        return bool(self._border_.equal(self, other))

    def __ne__(self, other: object) -> bool:
        return not self._border_.equal(self, other)

    def __contains__(self, item: object) -> bool:
        return bool(self._border_.contains(self, item))

    def __hash__(self) -> int:
        return int(self._border_.operate("hash", self))

    def __bool__(self) -> bool:
        return self._border_.operate("bool", self) is True

    def __str__(self) -> str:
        return str(self._border_.operate("str", self))

    def __repr__(self) -> str:
        return str(self._border_.operate("repr", self))

    def __dir__(self) -> Any:
        return self._border_.operate("dir", self)

    def __enter__(self) -> Any:
        return self._border_.operate("enter", self)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        return self._border_.operate(
            "exit", self, kind, None if error is None else str(error), None
        )


def _method(name: str) -> Any:
    def method(self: Remote, *arguments: Any) -> Any:
        return self._border_.operate(name, self, *arguments)

    return method


for _name in ("len", "iter", "next", "int", "float", "complex", "index", "reversed", "format"):
    setattr(Remote, f"__{_name}__", _method(_name))
for _name in ("getitem", "setitem", "delitem", "bytes", "round", "abs", "neg", "pos", "invert"):
    setattr(Remote, f"__{_name}__", _method(_name))
for _name in (*_ORDER, *_BINARY, *(f"r{name}" for name in _BINARY)):
    setattr(Remote, f"__{_name}__", _method(_name))


class RemoteClass(type):
    """The type of a proxy of a class, so that isinstance works with it."""

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        made = cls._border_.ask("call", cls, *arguments, **keywords)
        if isinstance(made, Remote) and cls.__name__[:1].isupper():
            object.__setattr__(made, "_constructed_", True)
        return made

    def __getattr__(cls, name: str) -> Any:
        if name in ("_border_", "_reference_", "__abstractmethods__"):
            raise AttributeError(name)
        return cls._border_.ask("get", cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        cls._border_.ask("set", cls, name, value)

    def __delattr__(cls, name: str) -> None:
        cls._border_.ask("delete", cls, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, Remote):
            return False
        return cls._border_.operate("isinstance", instance, cls) is True

    def __subclasscheck__(cls, other: Any) -> bool:
        if type(other) is not RemoteClass:
            return False
        return cls._border_.operate("issubclass", other, cls) is True

    def __iter__(cls) -> Any:
        return cls._border_.operate("iter", cls)

    def __getitem__(cls, item: Any) -> Any:
        return cls._border_.operate("getitem", cls, item)

    def __len__(cls) -> Any:
        return cls._border_.operate("len", cls)


def is_proxy(value: Any) -> bool:
    """Return whether a value stands for an object on the other side."""
    return isinstance(value, Remote) or type(value) is RemoteClass


def _environment() -> Any:
    """Return the environment as it is kept: to decode all of it for every call takes long."""
    return getattr(os.environ, "_data", os.environ)


class Printed(io.BytesIO):
    """What was printed since it was last taken, up to a limit."""

    def write(self, data: Any) -> int:
        """Keep the data if there is space left."""
        if self.tell() < MOST_PRINTED:
            super().write(data)
        return len(data)

    def take(self) -> str:
        """Return what was written, and forget it."""
        if not self.tell():
            return ""
        data = self.getvalue()
        self.seek(0)
        self.truncate()
        return data.decode("utf-8", "replace")


@cache
def _streams() -> tuple[list[Printed], list[io.TextIOWrapper]]:
    """Return two buffers and streams to them, which are made before a process is forked.

    They are kept: a program may put others in their place, and then these would close.
    """
    buffers = [Printed(), Printed()]
    return buffers, [
        io.TextIOWrapper(buffer, encoding="utf-8", errors="replace", write_through=True)
        for buffer in buffers
    ]


def warm_up() -> None:
    """Make what every program needs, in the process that all others are forked from."""
    _streams()


class Border:
    """One side of the border; `for_tests` says which.

    names: what the other side may ask for by name
    """

    def __init__(self, connection: socket.socket, for_tests: bool, names: dict[str, Any]) -> None:
        self._connection = connection
        self._received = bytearray()
        self.for_tests = for_tests
        self._names = names
        self._objects: list[Any] = []
        self._references: dict[int, int] = {}  # id of an object -> its index in `_objects`
        self._proxies: dict[int, Any] = {}
        self._tracked: list[tuple[int, Any, str]] = []
        self._patches: list[tuple[Any, str, Any]] = []
        if for_tests:
            self._environment = dict(_environment())
            self._folder = _current_folder()
        self._lock = threading.RLock()  # a program may call back from several threads
        self.printed: list[Printed] = []
        # In `all(map(f, cases))` a StopIteration of f ends the loop, and the test passes: a call
        # must not raise one, unless the tests expect it.
        self.may_stop = not for_tests

    # -- Asking

    def ask(self, operation: str, target: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Have the other side do something, and return the result or raise its exception."""
        with self._lock:
            return self._ask(operation, target, arguments, keywords)

    def _ask(
        self, operation: str, target: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        if self.for_tests and operation not in ("environ", "chdir", "update"):
            self._pass_on_changes()
        made = [to_json(value, self._reference) for value in (target, list(arguments), keywords)]
        self._send(["do", operation, *made, self._take_printed()])
        message = self._receive()
        while message[0] == "do":
            self._answer(message)
            message = self._receive()
        kind, *body = message
        if kind == "ok":
            value, changed, container, printed = body
            self._print(printed)
            if self.for_tests:
                for index, content in changed:
                    _replace_content(arguments[index], from_json(content, self._resolve))
            result = from_json(value, self._resolve)
            if self.for_tests and type(container) is int:
                self._track(container, result)
            return result
        self._print(body[-1])
        error = self._exception(body[0])
        if operation == "call" and isinstance(error, StopIteration) and not self.may_stop:
            raise RuntimeError("a function of the program raised StopIteration") from error
        raise error

    def operate(self, name: str, target: Any, /, *arguments: Any) -> Any:
        """Apply an operator to an object of the other side."""
        if self.for_tests:
            plain = [one for one in arguments if not is_proxy(one)]
            if name in _ORDER and plain:
                raise TypeError("an object of the program is not compared with plain data")
            if getattr(target, "_tainted_", False) and name in (*_UNARY, "int", "float", "index"):
                raise TypeError("an object of the program minus plain data is no number")
        result = self.ask("operate", target, name, *arguments)
        if self.for_tests and name in ("sub", "rsub", "truediv", "rtruediv") and plain:
            if not isinstance(result, Remote):
                raise TypeError("plain data is not subtracted from an object of the program")
            object.__setattr__(result, "_tainted_", True)
        if self.for_tests and getattr(target, "_tainted_", False) and isinstance(result, Remote):
            object.__setattr__(result, "_tainted_", True)
        return result

    def equal(self, proxy: Any, other: Any) -> bool:
        """Return whether an object of the other side equals something."""
        if not self.for_tests:
            return bool(self.ask("operate", proxy, "eq", other))
        if proxy is other:
            return True
        if not is_proxy(other):
            return False  # an object that the program made is no plain data
        if self.ask("operate", proxy, "eq", other) is not True:
            return False
        return not self._says_yes(proxy)

    def contains(self, proxy: Any, item: Any) -> bool:
        """Return whether an object of the other side contains something."""
        if not self.for_tests:
            return bool(self.ask("operate", proxy, "contains", item))
        if self.ask("operate", proxy, "contains", item) is not True:
            return False
        probes = [_similar(item) for _ in range(4)]
        return not all(self.ask("operate", proxy, "contains", probe) is True for probe in probes)

    def _says_yes(self, proxy: Any) -> bool:
        """Whether an object equals something that it cannot know."""
        try:
            return self.ask("operate", proxy, "eq", f"{random.random()}") is True
        except Closed:
            raise
        except Exception:
            return False

    # -- Answering

    def serve(self) -> None:
        """Answer requests until the other side is gone."""
        with suppress(Closed):
            while True:
                self._answer(self._receive())

    def _answer(self, message: list[Any]) -> None:
        _, operation, target, arguments, keywords, printed = message
        self._print(printed)
        changed: list[Any] = []
        try:
            it = from_json(target, self._resolve)
            values = from_json(arguments, self._resolve)
            named = from_json(keywords, self._resolve)
            before = [_content(value) for value in values] if operation == "call" else []
            result = self._do(operation, it, values, named)
            for index, content in enumerate(before):
                if content is not None and _content(values[index]) != content:
                    changed.append([index, to_json(values[index], self._reference)])
            value = to_json(result, self._reference)
            reply = ["ok", value, changed, self._container(result), self._take_printed()]
        except Closed:
            raise
        except BaseException as error:
            if self.for_tests and isinstance(error, KeyboardInterrupt):
                raise
            reply = ["raise", self._description(error), self._take_printed()]
        self._send(reply)

    def _do(self, operation: str, it: Any, values: list[Any], named: dict[str, Any]) -> Any:
        if operation == "call":
            return it(*values, **named)
        if operation == "operate":
            name, *others = values
            return OPERATIONS[name](it, *others)
        if operation == "get":
            if self.for_tests:
                _check_attribute(it, values[0])
            return getattr(it, values[0])
        if self.for_tests:
            raise PermissionError(f"a program may not {operation} what belongs to the tests")
        return getattr(self, f"_do_{operation}")(it, *values)

    def _do_set(self, it: Any, name: str, value: Any) -> None:
        setattr(it, name, value)

    def _do_delete(self, it: Any, name: str) -> None:
        delattr(it, name)

    def _do_name(self, it: Any, name: str) -> Any:
        if name not in self._names:
            raise NameError(f"name {name!r} is not defined")
        value = self._names[name]
        if isinstance(value, types.ModuleType):
            raise NameError(f"name {name!r} is a module")
        return value

    def _do_update(self, it: None, index: int, content: Any) -> None:
        _replace_content(self._objects[index], content)

    def _do_environ(self, it: None, content: dict[str, str]) -> None:
        os.environ.clear()
        os.environ.update(content)

    def _do_chdir(self, it: None, folder: str) -> None:
        os.chdir(folder)

    def _do_seed(self, it: None, module: str, *values: Any) -> None:
        __import__(module)
        sys.modules[module].seed(*values)

    def _do_patch(self, it: None, module: str, path: str, value: Any) -> None:
        *parents, name = path.split(".")
        owner = __import__(module, fromlist=["_"])
        for parent in parents:
            owner = getattr(owner, parent)
        self._patches.append((owner, name, getattr(owner, name, self)))
        setattr(owner, name, value)

    def _do_unpatch(self, it: None) -> None:
        owner, name, original = self._patches.pop()
        if original is self:
            delattr(owner, name)
        else:
            setattr(owner, name, original)

    # -- What tests change

    def _container(self, value: Any) -> int | None:
        """Return the index of a container that crosses the border, so that it can be updated."""
        if self.for_tests or type(value) not in (list, dict, set) or len(value) > 1000:
            return None
        index = self._references.get(id(value))
        if index is None and len(self._objects) < MOST_OBJECTS:
            index = self._references[id(value)] = len(self._objects)
            self._objects.append(value)
        return index

    def _track(self, index: int, value: Any) -> None:
        """Watch a container that the program returned: tests may change it."""
        content = _content(value)
        if content is not None and len(content) < 10_000:
            del self._tracked[:-TRACKED]
            self._tracked.append((index, value, content))

    def _pass_on_changes(self) -> None:
        for position, (index, value, content) in enumerate(self._tracked):
            now = _content(value)
            if now is not None and now != content:
                self._tracked[position] = (index, value, now)
                self.ask("update", None, index, value)
        if _environment() != self._environment:
            self._environment = dict(_environment())
            self.ask("environ", None, dict(os.environ))
        with suppress(OSError):
            if _current_folder() != self._folder:
                self._folder = _current_folder()
                self.ask("chdir", None, self._folder)

    def print_to(self) -> None:
        """Have this process print to the other side."""
        self.printed, (sys.stdout, sys.stderr) = _streams()

    def _take_printed(self) -> list[str]:
        return [buffer.take() for buffer in self.printed]

    def _print(self, printed: Any) -> None:
        for text, stream in zip(printed, (sys.stdout, sys.stderr), strict=False):
            if text and self.for_tests:
                stream.write(str(text))

    # -- References

    def _reference(self, value: Any) -> Any:
        """Return what stands for an object that is not plain."""
        if is_proxy(value) and value._border_ is self:
            return {"yours": value._reference_}
        if isinstance(value, types.ModuleType):
            raise NotPlain("a module does not cross the border")
        if (name := _builtin_name(value)) is not None:
            return {"builtin": name}
        if (path := _library_path(value)) is not None:
            return {"library": path}
        own = getattr(type(value), "_reference_", None) if isinstance(value, BaseException) else 0
        if isinstance(own, int) and own and type(value)._border_ is self:
            return {"yours": value._object_}
        if isinstance(value, type) and "_reference_" in vars(value):
            return {"yours": value._reference_}  # type: ignore[attr-defined]
        index = self._references.get(id(value))
        if index is None:
            if len(self._objects) >= MOST_OBJECTS:
                raise NotPlain(f"more than {MOST_OBJECTS:,} objects crossed the border")
            index = len(self._objects)
            self._objects.append(value)
            self._references[id(value)] = index
        if type in type.__dict__["__mro__"].__get__(type(value)):
            return {"mine": [index, *_class_description(value)]}
        return {"mine": [index]}

    def _resolve(self, made: dict[str, Any]) -> Any:
        ((tag, body),) = made.items()
        if tag == "yours" and type(body) is int:
            return self._objects[body]
        if tag == "builtin" and type(body) is str:
            return _builtin(body)
        if tag == "library":
            return _from_library(body)
        if tag == "sub":
            return self._of_subclass(*body)
        if tag != "mine" or type(body) is not list or type(body[0]) is not int:
            raise NotPlain("it is not plain data")
        reference = body[0]
        if reference not in self._proxies:
            if len(self._proxies) >= MOST_OBJECTS:
                raise NotPlain("too many objects")
            if len(body) == 1:
                self._proxies[reference] = Remote(self, reference)
            else:
                self._proxies[reference] = self._class(reference, body[1], body[2])
        return self._proxies[reference]

    def _class(self, reference: int, name: Any, bases: Any) -> Any:
        details = {"_border_": self, "_reference_": reference, "__doc__": None}
        base = _exception_base(bases)
        if base is not None:
            return type(str(name)[:200], (base,), details)
        return RemoteClass(str(name)[:200], (), details)

    def _of_subclass(self, value: Any, reference: Any) -> Any:
        """A value of a subclass: plain, with the attributes of the object behind it."""
        if not self.for_tests or isinstance(value, int | str | float | bytes | bool):
            proxy = from_json(reference, self._resolve)
            return proxy if not self.for_tests and not is_proxy(proxy) else value
        linked = _LINKED.get(type(value))
        if linked is None:
            return value
        made = linked(value)
        made.proxy = from_json(reference, self._resolve)
        return made

    def _description(self, error: BaseException) -> dict[str, Any]:
        """Return an exception as plain data."""
        arguments = []
        for argument in error.args[:20]:
            with suppress(NotPlain):
                arguments.append(to_json(argument, None))
        if len(arguments) != len(error.args):
            arguments = [str(error)[:2000]]
        kind = self._reference(type(error))
        text = ""
        with suppress(Exception):
            text = str(error)[:2000]
        details = []
        for name, value in list(vars(error).items())[:20]:
            with suppress(NotPlain):
                details.append([name, to_json(value, None)])
        made = {"class": kind, "arguments": arguments, "text": text, "details": details}
        if not self.for_tests and "mine" in kind:
            made["object"] = self._reference(error)["mine"][0]
        return made

    def _exception(self, made: Any) -> Any:
        try:
            kind = from_json(made["class"], self._resolve)
        except NotPlain:
            kind = RuntimeError
        arguments = from_json(made["arguments"])
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            kind = RuntimeError
        try:
            error = kind(*arguments)
        except Exception:
            error = kind.__new__(kind)
            error.args = tuple(arguments)
        for name, value in made["details"]:
            with suppress(AttributeError, TypeError):
                setattr(error, str(name), from_json(value))
        if isinstance(made.get("object"), int):
            error._object_ = made["object"]
            error.__class__.__getattr__ = _attribute_of_exception
        error._from_program_ = True
        return error

    # -- Messages

    def _send(self, message: list[Any]) -> None:
        data = _to_text(message).encode("utf-8", "surrogatepass")
        if len(data) > MOST_BYTES:
            raise NotPlain(f"it is larger than {MOST_BYTES >> 20} MiB")
        try:
            self._connection.sendall(LENGTH.pack(len(data)) + data)
        except OSError as error:
            raise Closed from error

    def _receive(self) -> list[Any]:
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size))
        if length > MOST_BYTES:
            raise BrokenProgram("a message is too long")
        data = self._exactly(length)
        try:
            message = _from_text(data.decode("utf-8", "surrogatepass"))
            sizes = {"do": 6, "ok": 5, "raise": 3}
            if len(message) != sizes[message[0]]:
                raise ValueError(message[0])
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise BrokenProgram("a message cannot be read") from error
        return message  # type: ignore[no-any-return]

    def _exactly(self, count: int) -> bytes:
        while len(self._received) < count:
            try:
                wanted = max(count - len(self._received), 1 << 14)
                part = self._connection.recv(min(wanted, 1 << 20))
            except OSError as error:
                raise Closed from error
            if not part:
                raise Closed
            self._received += part
        data = bytes(self._received[:count])
        del self._received[:count]
        return data


class LinkedTuple(tuple):  # type: ignore[type-arg]
    """A tuple whose other attributes are those of the program's object, as of a named tuple."""

    proxy: Any = None

    def __getattr__(self, name: str) -> Any:
        return _linked(self.proxy, name)


class LinkedList(list):  # type: ignore[type-arg]
    """A list whose other attributes are those of the program's object."""

    proxy: Any = None

    def __getattr__(self, name: str) -> Any:
        return _linked(self.proxy, name)


class LinkedDict(dict):  # type: ignore[type-arg]
    """A dict whose other attributes are those of the program's object, as of a Counter."""

    proxy: Any = None

    def __getattr__(self, name: str) -> Any:
        return _linked(self.proxy, name)


def _linked(proxy: Any, name: str) -> Any:
    if name in PREDICATES or name.startswith("__"):
        raise AttributeError(name)
    return getattr(proxy, name)


_LINKED: dict[type, Any] = {tuple: LinkedTuple, list: LinkedList, dict: LinkedDict}


def _attribute_of_exception(self: Any, name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    proxy = Remote(type(self)._border_, self._object_)
    return getattr(proxy, name)


def _class_description(kind: type) -> list[Any]:
    order = type.__dict__["__mro__"].__get__(kind)
    bases = [base.__name__ for base in order if base.__module__ == "builtins"]
    return [str(kind.__name__), bases]


def _exception_base(bases: Any) -> type[BaseException] | None:
    """Return the nearest built-in exception that a class of the program extends."""
    for name in bases if isinstance(bases, list) else []:
        base = getattr(builtins, name, None) if isinstance(name, str) else None
        if isinstance(base, type) and issubclass(base, BaseException):
            return base
    return None


_BUILTINS: dict[int, str] = {
    id(value): name
    for name, value in vars(builtins).items()
    if isinstance(value, type | types.BuiltinFunctionType) and not name.startswith("_")
}


def _builtin_name(value: Any) -> str | None:
    return _BUILTINS.get(id(value))


def _builtin(name: str) -> Any:
    if name not in _BUILTINS.values():
        raise NotPlain(f"no built-in is called {name!r:.80}")
    return getattr(builtins, name)


# Modules whose classes a program may not name: with them it could skip tests or fake equality.
_FRAMEWORKS = ("unittest", "doctest", "_pytest", "pytest")


def _library_path(value: Any) -> list[str] | None:
    """Return the module and the name of a class of the standard library."""
    if type(value) is not type:
        return None
    module = value.__module__
    if not isinstance(module, str) or module.partition(".")[0] not in sys.stdlib_module_names:
        return None
    name = value.__name__
    if module == "__main__" or getattr(sys.modules.get(module), name, None) is not value:
        return None
    return [module, name]


def _from_library(body: Any) -> Any:
    module, name = body
    if type(module) is not str or type(name) is not str:
        raise NotPlain("it is not plain data")
    top = module.partition(".")[0]
    if top not in sys.stdlib_module_names or top in _FRAMEWORKS or name.startswith("_"):
        raise NotPlain(f"{module}.{name} does not cross the border")
    found = getattr(__import__(module, fromlist=["_"]), name, None)
    if type(found) is not type:
        raise NotPlain(f"{module}.{name} is no class")
    return found


def _check_attribute(it: Any, name: Any) -> None:
    special = type(name) is str and name in ("__name__", "__enter__", "__exit__")
    if type(name) is not str or (name.startswith("_") and not special):
        raise AttributeError(f"a program may not read {name!r:.80} of the tests")
    if name.startswith(_FRAMES) or isinstance(it, types.ModuleType):
        raise AttributeError(f"a program may not read {name!r:.80} of the tests")


def _content(value: Any) -> str | None:
    """Return a container as text, to see whether it changes; None if it cannot change."""
    if type(value) not in (list, dict, set, bytearray):
        return None
    with suppress(Exception):
        return repr(value)
    return None


def _replace_content(target: Any, content: Any) -> None:
    """Make a container hold what another holds, and keep the containers inside it."""
    if type(target) is list and type(content) is list:
        for index in range(min(len(target), len(content))):
            if type(target[index]) in (list, dict, set) and type(target[index]) is type(
                content[index]
            ):
                _replace_content(target[index], content[index])
            else:
                target[index] = content[index]
        target[len(content) :] = content[len(target) :]
    elif type(target) in (dict, set) and type(content) is type(target):
        target.clear()
        target.update(content)
    elif type(target) is bytearray and type(content) is bytearray:
        target[:] = content


def _similar(item: Any) -> Any:
    """Return a random value of the same type."""
    if type(item) is str:
        return "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=max(12, len(item))))
    if type(item) is float:
        return random.random() * 1e6
    return random.randrange(1 << 40, 1 << 41)


# -- What tests do with modules, in both processes


def forward_changes(border: Border, source: str) -> None:
    """Have patches and seeds of tests hold in the program's process as well."""
    border.may_stop = "StopIteration" in source or "send(" in source
    if "mock" in source:
        _forward_patches(border)
    for module in ("random", "numpy.random"):
        if "seed" in source and module in sys.modules:
            _forward_seed(border, module)


def _forward_patches(border: Border) -> None:
    from unittest import mock

    patcher: Any = mock._patch
    enter, leave = patcher.__enter__, patcher.__exit__

    def enter_both(self: Any) -> Any:
        made = enter(self)
        self._forwarded = None
        path = _module_path(self.target)
        if path is not None and self.attribute not in ("stdout", "stderr"):
            module, parents = path
            value = getattr(self.target, self.attribute)
            border.ask("patch", None, module, ".".join([*parents, self.attribute]), value)
            self._forwarded = True
        return made

    def leave_both(self: Any, *details: Any) -> Any:
        if getattr(self, "_forwarded", None):
            self._forwarded = None
            border.ask("unpatch", None)
        return leave(self, *details)

    patcher.__enter__, patcher.__exit__ = enter_both, leave_both


def _module_path(target: Any) -> tuple[str, list[str]] | None:
    """Return the module that a patch is for, and the class in it if it is for a class."""
    if isinstance(target, types.ModuleType):
        return target.__name__, []
    if type(target) is not RemoteClass and isinstance(target, type):
        module = sys.modules.get(target.__module__)
        name = target.__qualname__
        if getattr(module, name, None) is target and target.__module__ != "__main__":
            return target.__module__, [name]
    return None


def _forward_seed(border: Border, name: str) -> None:
    module = sys.modules[name]
    seed: Any = module.seed

    def seed_both(*values: Any, **named: Any) -> None:
        seed(*values, **named)
        border.ask("seed", None, name, *values, *named.values())

    module.seed = seed_both  # type: ignore[attr-defined]
