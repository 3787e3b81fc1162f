"""The module, compiled once, and its instances: bytes in, bytes out."""

from __future__ import annotations

import importlib.resources
import json
import os
import threading
from enum import IntEnum
from functools import lru_cache
from typing import Any, cast

import wasmtime

from .errors import ApportionError, TrappedError, UnreadableError
from .records import Finding, read

#: The version of the module's interface that this package speaks.
ABI = 1

#: The stack of the module in bytes, as the command line sets it.
STACK = 3 << 19


class Operation(IntEnum):
    """Numbers of `wit/module/src/operations.rs`."""

    NEW_CLUSTER = 0
    CLOSE = 1
    APPLY = 2
    DELETE = 4
    GET = 5
    ALLOCATE = 6
    FITS = 7
    INQUIRE = 8
    RUN = 9
    FORK = 10
    EVALUATE = 11
    VALIDATE = 12
    READ = 15
    ANSWER = 16
    COMMIT = 17
    REVERT = 18


class Trap(Exception):
    """The instance is of no use any more."""


_compiling = threading.RLock()


def compiled() -> tuple[wasmtime.Engine, wasmtime.Module]:
    """The compiled module. wasmtime keeps it in the user's cache directory, where there is one: the first start takes seconds, later
    ones a fraction of one."""
    with _compiling:
        return _compiled()


@lru_cache(maxsize=1)
def _compiled() -> tuple[wasmtime.Engine, wasmtime.Module]:
    code = importlib.resources.files(__package__).joinpath("apportion.wasm").read_bytes()
    try:
        engine = wasmtime.Engine(_config(cached=True))
    except wasmtime.WasmtimeError:
        engine = wasmtime.Engine(_config(cached=False))
    return engine, wasmtime.Module(engine, code)


def _config(cached: bool) -> wasmtime.Config:
    config = wasmtime.Config()
    config.max_wasm_stack = STACK
    # A program may have signal handlers of its own, as Ray has: they would end the process at a trap.
    config.signals_based_traps = False
    if cached:
        config.cache = True
    return config


class Instance:
    """The module with a memory of its own. One call at a time."""

    def __init__(self) -> None:
        engine, module = compiled()
        self._store = wasmtime.Store(engine)
        exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory = cast(wasmtime.Memory, exports["memory"])
        self._alloc = cast(wasmtime.Func, exports["alloc"])
        self._call = cast(wasmtime.Func, exports["call"])
        self._free = cast(wasmtime.Func, exports["free"])
        if (version := cast(wasmtime.Func, exports["version"])(self._store)) != ABI:
            raise ApportionError(f"the module speaks version {version} of its interface, this package version {ABI}")

    def ask(self, operation: Operation, handle: int = 0, argument: bytes = b"") -> bytes:
        """Makes one call; `Trap` when the module trapped, or the argument has no room in it."""
        try:
            address = self._alloc(self._store, len(argument)) & 0xFFFF_FFFF
            if not address:
                raise Trap(f"its memory has no room for the {len(argument)} bytes of the call")
            self._memory.write(self._store, argument, address)
            packed = self._call(self._store, int(operation), handle, address, len(argument))
            start, length = packed >> 32 & 0xFFFF_FFFF, packed & 0xFFFF_FFFF
            answer = bytes(self._memory.read(self._store, start, start + length))
            self._free(self._store, start)
        except (wasmtime.WasmtimeError, wasmtime.Trap, IndexError) as error:
            raise Trap(str(error)) from error
        return answer


def parsed(answer: bytes) -> Any:
    """The JSON of an answer; `UnreadableError` when the module could not read the argument."""
    value = json.loads(answer)
    if isinstance(value, dict) and value.get("status") == "unreadable":
        raise UnreadableError([read(Finding, finding) for finding in value["findings"]])
    return value


_lock = threading.Lock()
_stateless: list[Instance] = []


def _start_anew() -> None:
    """In a forked child: the thread that holds the lock and is in a call of the instance exists only in the parent."""
    global _lock, _stateless
    _lock, _stateless = threading.Lock(), []
    _compiling.release()


if hasattr(os, "register_at_fork"):
    # A fork waits for a compilation: its threads exist only in the parent, and a child could never compile.
    os.register_at_fork(before=_compiling.acquire, after_in_parent=_compiling.release, after_in_child=_start_anew)


def ask_once(operation: Operation, argument: bytes) -> Any:
    """A question that is about no cluster."""
    with _lock:
        if not _stateless:
            _stateless.append(Instance())
        try:
            return parsed(_stateless[0].ask(operation, 0, argument))
        except Trap as trap:
            _stateless.clear()
            raise TrappedError(f"the module trapped: {trap}") from trap
