"""One warm process: the tests are collected once, and each mutant is a fork that runs those which reach its line, the quickest first."""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import pickle
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest
from changes import Mutant
from hypothesis import Phase, settings

EXAMPLES = 10  # of hypothesis, each time the same
SPARE = 20  # seconds of work, beside twice what the tests took before, beyond which they are taken to be caught in a loop
HANG = 90  # seconds, beside ten times as many, beyond which they are not waited for, even if they do nothing
OPTIONS = (
    *(
        "-q",
        "-x",
        "--tb=no",
        "--capture=no",
        "--timeout=0",
        "-p",
        "no:xdist",
        "-o",
        "addopts=",
        "--import-mode=importlib",
        "-m",
        "not soak",
    ),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # hypothesis is here before pytest is
)
FEW = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)

Lines = set[tuple[str, int]]
Verdict = Callable[[Mutant, bool], None]


@dataclass
class Seen:
    """How long each test took, and which lines it reached."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    lines: dict[str, Lines] = field(default_factory=dict[str, Lines])


class Few:
    """Of each law only a few examples, and no search for the smallest."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            test = getattr(item, "obj", None)
            if test is not None and hasattr(test, "hypothesis"):
                test._hypothesis_internal_use_settings = FEW


class Trials(Few):
    def __init__(self, mutants: Sequence[Mutant], verdict: Verdict) -> None:
        self.mutants, self.verdict = mutants, verdict
        self.files = {str(mutant.file.resolve()) for mutant in mutants}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("no test can be collected")
        seen: Seen = pickle.loads(_told(lambda: self.watched(session)))  # noqa: S301 - from our own fork
        if not _passes(
            partial(_run, session, session.items, None, replace(self.mutants[0], number=-1)),
            sum(seen.seconds.values()),
        ):
            sys.exit(
                "scripts/mutants: the tests do not pass when all is imported anew, though nothing is changed: they would notice anything"
            )
        functions = _functions(self.files)
        for mutant in self.mutants:
            function = functions.get((str(mutant.file.resolve()), mutant.function, mutant.begins))
            chosen = self.chosen(session, mutant, seen, known=function is not None)
            if not chosen:  # if anybody calls it, then at import, for a field of a class
                function, chosen = None, self.chosen(session, mutant, seen, known=False)
            seconds = sum(seen.seconds[item.nodeid] for item in chosen)
            self.verdict(
                mutant,
                bool(chosen)
                and not _passes(partial(_run, session, chosen, function, mutant), seconds),
            )
        return True

    def chosen(
        self, session: pytest.Session, mutant: Mutant, seen: Seen, *, known: bool
    ) -> list[pytest.Item]:
        """Who reaches the line, or at least its function. What runs at import may be felt by everybody, and first by who is in that file at all."""
        file = str(mutant.file.resolve())
        quick = sorted(session.items, key=lambda item: seen.seconds[item.nodeid])
        if not known:
            return sorted(
                quick, key=lambda item: all(name != file for name, _ in seen.lines[item.nodeid])
            )
        spot = {
            (file, line)
            for line in range(
                mutant.line, (getattr(mutant.new, "end_lineno", 0) or mutant.line) + 1
            )
        }
        return [i for i in quick if spot & seen.lines[i.nodeid]] or [
            i for i in quick if (file, mutant.begins) in seen.lines[i.nodeid]
        ]

    def watched(self, session: pytest.Session) -> bytes:
        """The tests as they are: all must pass."""
        seen = Seen()
        for item in session.items:
            reached: Lines = set()
            began = time.process_time()
            with _tracing(self.files, reached):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if session.testsfailed:
                os.write(2, f"{item.nodeid} fails as it is\n".encode())
                os._exit(2)
            seen.seconds[item.nodeid], seen.lines[item.nodeid] = (
                time.process_time() - began,
                reached,
            )
        return pickle.dumps(seen)


def _run(
    session: pytest.Session,
    chosen: list[pytest.Item],
    functions: list[FunctionType] | None,
    mutant: Mutant,
) -> bool:
    if functions:
        code = _found(compile(mutant.tree, str(mutant.file.resolve()), "exec"), mutant)
        for function in functions:
            function.__code__ = code
        session.items[:] = chosen
        for index, item in enumerate(chosen):
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=chosen[index + 1] if index + 1 < len(chosen) else None
            )
            if session.testsfailed:
                return False
        return True
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in {"cwiictl", "tests"} or _of_tests(module):
            del sys.modules[name]
    sys.meta_path.insert(0, _Finder(mutant))
    return (
        pytest.main([*OPTIONS, *dict.fromkeys(item.nodeid for item in chosen)], plugins=[Few()])
        == 0
    )


def _of_tests(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return (
        bool(file)
        and Path(file).is_relative_to(Path("tests").resolve())
        and "mutants" not in Path(file).parts
    )


class _Finder(importlib.abc.MetaPathFinder):
    """Gives the mutant where its module is asked for."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        parts = mutant.file.with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname != self.name:
            return None
        file = str(self.mutant.file.resolve())
        return importlib.util.spec_from_file_location(
            fullname, file, loader=_Loader(fullname, file, self.mutant)
        )


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, mutant: Mutant) -> None:
        super().__init__(fullname, path)
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType | None:
        del fullname
        return compile(self.mutant.tree, self.path, "exec")


def _functions(files: set[str]) -> dict[tuple[str, str, int], list[FunctionType]]:
    found: dict[tuple[str, str, int], list[FunctionType]] = {}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in files:
            code = each.__code__
            found.setdefault((code.co_filename, code.co_name, code.co_firstlineno), []).append(each)
    return found


def _found(code: CodeType, mutant: Mutant) -> CodeType:
    """The code of the function, in that of its module."""
    todo = [code]
    while todo:
        each = todo.pop()
        if (each.co_name, each.co_firstlineno) == (mutant.function, mutant.begins):
            return each
        todo += [inner for inner in each.co_consts if isinstance(inner, CodeType)]
    raise LookupError(str(mutant))


@contextmanager
def _tracing(files: set[str], reached: Lines) -> Generator[None]:
    def enter(frame: FrameType, _event: str, _arg: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def line(frame: FrameType, _event: str, _arg: Any) -> Any:
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    threading.settrace(enter)
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


def _told(say: Callable[[], bytes]) -> bytes:
    """What a fork has to say."""
    out, into = os.pipe()
    if (child := os.fork()) == 0:
        os.close(out)
        _quiet()
        with io.FileIO(into, "w") as pipe:
            pipe.write(say())
        os._exit(0)
    os.close(into)
    with io.FileIO(out) as pipe:
        said = pipe.readall()
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit("scripts/mutants: the tests do not pass as they are")
    return said


def _passes(do: Callable[[], bool], seconds: float) -> bool:
    """Whether it does, in a fork: within the time, and without an end of its own."""
    if (child := os.fork()) == 0:
        _quiet()
        most = int(time.process_time() + 2 * seconds) + SPARE
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        try:
            passed = do()
        except BaseException:  # noqa: BLE001 - whatever it is, it was noticed
            passed = False
        os._exit(0 if passed else 1)
    until = time.monotonic() + 10 * seconds + HANG
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _quiet() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    if not os.environ.get("MUTANTS_LOUD"):
        os.dup2(nothing, 2)
