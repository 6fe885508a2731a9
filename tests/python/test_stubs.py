"""The type stubs beside the module say what the module says."""
import ast
import inspect
import pathlib
import re
import sys

import pytest

import acl
import facts

SUBMODULES = ("rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv")
STUBS = pathlib.Path(acl.__file__).resolve().with_name("acl")


def stubbed(name):
    tree = ast.parse((STUBS / f"{name}.pyi").read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def functions(module):
    return {name: value for name, value in vars(module).items() if inspect.isbuiltin(value)}


def items_of(function):
    """How many items the docstring says come back; 0 for a bare value."""
    shape = re.search(r"Returns (.*?)\.( C function|$)", function.__doc__).group(1)
    return shape.count(",") + 1 if shape.startswith("(") else 0


def items_in(annotation):
    is_tuple = isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") == "tuple"
    return len(annotation.slice.elts) if is_tuple else 0


@pytest.mark.parametrize("name", ("__init__",) + SUBMODULES)
def test_stubs_match_the_module(name):
    module = acl if name == "__init__" else getattr(acl, name)
    stubs, there = stubbed(name), functions(module)
    assert stubs.keys() == there.keys()
    for function_name, stub in stubs.items():
        function = there[function_name]
        parameters = inspect.signature(function).parameters.values()
        assert [argument.arg for argument in stub.args.posonlyargs] == [
            parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        ], function_name
        assert len(stub.args.defaults) == sum(
            parameter.default is not inspect.Parameter.empty for parameter in parameters
        )
        assert (stub.args.vararg is not None) == any(
            parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters
        ), function_name
        assert items_in(stub.returns) == items_of(function), function_name


KINDS = {
    "S": "str",
    "F": "float",
    "l": r"list\[.*",
    "d": r"dict\[str, Any\]",
    "c": r"Callable\[.*",
    "a": "NDArray",
    "b": "bytes",
    "t": r"tuple\[.*",
    "O": ".*",
}
RESULTS = {
    "str": "str",
    "float": "float",
    "dict": KINDS["d"],
    "list": KINDS["l"],
    "bytes": "bytes",
    "array": "NDArray",
    "ndarray": "NDArray",
    "None": "None",
}


@pytest.mark.parametrize("fact", facts.ALL, ids=str)
def test_types_are_what_the_documented_classes_say(fact):
    module, _, name = fact.name.rpartition(".")
    stub = stubbed(module.partition(".")[2] or "__init__")[name]
    for letter, argument in zip(fact.classes.replace("|", "").rstrip("*"), stub.args.posonlyargs):
        kind = ast.unparse(argument.annotation).replace(" | None", "")
        assert re.fullmatch(KINDS.get(letter, "int"), kind), argument.arg
    items = stub.returns.slice.elts if items_in(stub.returns) else [stub.returns]
    for item, annotation in zip(fact.items, items):
        words = item.split(": ")[-1].split(" or ")
        kind = r" \| ".join(RESULTS.get(word, "int") for word in words)
        assert re.fullmatch(kind, ast.unparse(annotation)), item


def test_stubs_say_what_they_are_made_of():
    for path in STUBS.glob("*.pyi"):
        assert "Made by python/stubs.py" in path.read_text(encoding="utf-8"), path


def test_type_checkers_find_the_stubs_where_they_find_the_module():
    """On PYTHONPATH they take the stubs of a package, which says by py.typed that it has some."""
    assert str(STUBS.parent) in (str(pathlib.Path(entry).resolve()) for entry in sys.path)
    assert (STUBS / "__init__.pyi").is_file() and (STUBS / "py.typed").is_file()
    assert not (STUBS / "__init__.py").exists(), "it would be imported in place of the module"


def test_the_stub_of_the_module_names_its_submodules():
    tree = ast.parse((STUBS / "__init__.pyi").read_text(encoding="utf-8"))
    named = {
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.level for alias in node.names
    }
    assert named == set(SUBMODULES)
