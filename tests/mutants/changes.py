"""What can be changed in a module, one thing at a time. Annotations, decorators, docstrings and what only types read are left alone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift,
}  # fmt: skip
RENAMED = {
    "any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list", "startswith": "endswith", "endswith": "startswith",
    "lstrip": "rstrip", "rstrip": "lstrip", "lower": "upper", "removeprefix": "removesuffix", "partition": "rpartition", "rpartition": "partition",
}  # fmt: skip
DROPPED = (ast.Raise, ast.AugAssign, ast.Continue, ast.Break, ast.Delete)


@dataclass(frozen=True)
class Mutant:
    file: Path
    line: int
    what: str
    number: (
        int  # of the node that is changed, counted from the module downwards; -1 changes nothing
    )
    new: ast.AST
    function: str = ""  # the outermost one that it is in; none if it is in what runs at import
    begins: int = 0  # the line of that function, as its code says it

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"

    @property
    def tree(self) -> ast.Module:
        changed: ast.Module = _Changer(self.number, self.new).visit(
            ast.parse(self.file.read_text())
        )
        return ast.fix_missing_locations(changed)


class _Changer(ast.NodeTransformer):
    def __init__(self, number: int, new: ast.AST) -> None:
        self.numbers, self.number, self.new = count(), number, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if next(self.numbers) == self.number else self.generic_visit(node)


@dataclass(frozen=True)
class _Inside:
    function: str = ""
    begins: int = 0
    still: bool = False  # nothing is changed here


def mutants(file: Path) -> list[Mutant]:
    module = ast.parse(file.read_text())
    return sorted(_within(file, module, module, _Inside(), count()), key=lambda mutant: mutant.line)


def _within(
    file: Path, node: ast.AST, parent: ast.AST, inside: _Inside, numbers: Iterator[int]
) -> Iterator[Mutant]:
    number = next(numbers)
    if not inside.still:
        line = getattr(node, "lineno", getattr(parent, "lineno", 0))
        for what, new in _changes(node, parent):
            yield Mutant(file, line, what, number, new, inside.function, inside.begins)
    still = {id(each) for each in _still(node, parent)}
    for child in ast.iter_child_nodes(node):
        here = inside
        if isinstance(node, ast.FunctionDef) and child in node.body and not inside.function:
            here = _Inside(
                node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])
            )
        yield from _within(
            file, child, node, replace(here, still=inside.still or id(child) in still), numbers
        )


def _still(node: ast.AST, parent: ast.AST) -> Iterator[ast.AST | None]:
    """What right below it says something to readers and type checkers alone."""
    match node:
        case ast.FunctionDef(decorator_list=decorators, returns=returns):
            yield from (*decorators, returns)
        case ast.ClassDef(decorator_list=decorators):
            yield from decorators
        case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
            yield annotation
        case ast.Call(func=ast.Name(id="cast" | "TypeVar"), args=[first, *_]):
            yield first
        case ast.Subscript(value=ast.Name(id="Literal"), slice=told):
            yield told
        case ast.Dict(values=values) if (
            isinstance(parent, ast.keyword) and parent.arg == "metadata"
        ):  # of a field, read by their keys alone
            yield from values
        case ast.Expr(value=ast.Constant() as docstring):
            yield docstring
        case _:
            pass


def _changes(node: ast.AST, parent: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if swapped := SWAPPED.get(type(node)):
        yield f"{type(node).__name__} becomes {swapped.__name__}", swapped()
    match node:
        case ast.Constant(value=value) if value is not None and value is not ...:
            for other in _others(value):
                yield (
                    f"{value!r:.50} becomes {other!r}",
                    ast.copy_location(ast.Constant(other), node),
                )
        case ast.Name(id=name) | ast.Attribute(attr=name) if (
            name in RENAMED and isinstance(node.ctx, ast.Load) and isinstance(parent, ast.Call)
        ):
            renamed = copy.copy(node)
            setattr(renamed, "id" if isinstance(node, ast.Name) else "attr", RENAMED[name])
            yield f"{name} becomes {RENAMED[name]}", renamed
        case ast.UnaryOp(op=ast.Not()):
            yield f"`{ast.unparse(node):.60}` loses its not", node.operand
        case ast.Return(value=ast.expr() as value) if not isinstance(
            value, ast.Constant
        ):  # which is changed itself
            yield (
                f"`{ast.unparse(node):.60}` returns None",
                ast.copy_location(ast.Return(ast.Constant(None)), node),
            )
        case ast.stmt() if _droppable(node):
            yield f"`{ast.unparse(node):.60}` is gone", ast.copy_location(ast.Pass(), node)
        case ast.expr() if getattr(parent, "test", None) is node and not isinstance(
            node, ast.Compare | ast.BoolOp | ast.UnaryOp
        ):
            yield (
                f"`{ast.unparse(node):.60}` is negated",
                ast.copy_location(ast.UnaryOp(ast.Not(), node), node),
            )
        case _:
            pass


def _others(value: object) -> Iterator[str | bytes | bool | float]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str():
            yield "" if value else "XX"
        case bytes():
            yield b"" if value else b"XX"
        case _:
            pass


def _droppable(node: ast.stmt) -> bool:
    """Whether what is left without it is a program still: no name goes missing."""
    match node:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Return(value=None):
            return True
        case _:
            return isinstance(node, DROPPED)
