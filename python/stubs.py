#!/usr/bin/env python3
"""stubs.py FOLDER SOURCE...: writes the type stubs of the module acl into FOLDER, from the function tables in its C++ sources (table.h).

The rows have what the docstrings are made of, too. A parameter is what its row's signature says behind a colon, else what its letter of the
format says, else an int; what comes back is said in words ("(key: str, ret)"), and is an int without one.
"""
import pathlib
import re
import sys

# Where a row of each macro has its format, its parameters and what it returns.
ROWS = {
    "RW_CALL": (2, 3, 4),
    "RW_WAITING": (2, 3, 4),
    "RW_CALL_PLAIN": (None, None, 2),
    "RW_WAITING_PLAIN": (None, None, 2),
    "RW_SPECIAL": (None, 2, 3),
    "RW_REFUSED": (2, 3, 4),
}
LETTERS = {"S": "str", "F": "float", "l": "list", "d": "dict", "c": "Callable", "O": "Any"}
WORDS = {"array": "NDArray", "ndarray": "NDArray", "None": "None", "bytes": "bytes", "float": "float", "str": "str"}
FULL = {"list": "list[Any]", "dict": "dict[str, Any]", "Callable": "Callable[..., object]"}
TOP = "AscendCL for Python. Handles and addresses are ints; every code is the last item that comes back, 0 for success."


def split(text):
    """The parts of "a, b[c, d], e"; commas in brackets and in strings divide nothing."""
    parts, depth = [""], 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|.', text, re.S):
        depth += (token in "([{") - (token in ")]}")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts if part.strip()]


def calls(text, names):
    """Every NAME(arguments) of a C++ source: the name, and its arguments, string literals joined and without their quotes."""
    for found in re.finditer(rf"\b({'|'.join(names)})\(", text):
        end, depth = found.end(), 1
        while depth:
            token = re.compile(r'"(?:[^"\\]|\\.)*"|.', re.S).match(text, end).group()
            depth += (token == "(") - (token == ")")
            end += len(token)
        literals = [re.findall(r'"((?:[^"\\]|\\.)*)"', part) for part in split(text[found.end() : end - 1])]
        yield found.group(1), ["".join(parts).replace('\\"', '"') for parts in literals]


def full(kind):
    return re.sub(r"\b(list|dict|Callable)\b(?!\[)", lambda found: FULL[found.group()], kind)


def parameter(text, letter):
    name, default = re.fullmatch(r"([^=]*?)(=.*)?", text).groups()
    if name.startswith("*"):
        return name + (": object" if name == "*ignored" else ": Any")
    name, _, kind = name.partition(": ")
    return name if name == "/" else f"{name}: {full(kind or LETTERS.get(letter, 'int'))}" + (" = ..." if default else "")


def result(text):
    if text.startswith("("):
        return f"tuple[{', '.join(result(item) for item in split(text[1:-1]))}]"
    kind = " | ".join(text.split(": ")[-1].split(" or "))
    return full(kind if re.match("list|dict|str [|]", kind) else WORDS.get(kind, "int"))


def stub(macro, row):
    in_format, in_names, in_returns = ROWS[macro]
    names = split(row[in_names]) if in_names else ["*ignored"]
    if macro in ("RW_CALL", "RW_WAITING"):
        names.append("/")
    letters = re.sub("[|*]", "", row[in_format]) if in_format else ""
    parameters = [parameter(name, letters[i : i + 1]) for i, name in enumerate(names)]
    return f"def {row[0].rpartition('.')[2]}({', '.join(parameters)}) -> {result(row[in_returns])}: ..."


def page(text, submodules, stubs):
    body = "\n".join(stubs)
    names = [name for name in ("Any", "Callable") if re.search(rf"\b{name}\b", body + ("Any" if "NDArray" in body else ""))]
    head = [f"# {text}", "# Made by python/stubs.py from the function tables in python/src."]
    head += [f"from typing import {', '.join(names)}"] if names else []
    head += ["", "import numpy", "", "NDArray = numpy.ndarray[Any, Any]"] if "NDArray" in body else []
    head += [""] + [f"from . import {name} as {name}" for name in submodules] if submodules else []
    return "\n".join(head + [""] + stubs).rstrip() + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    sources = [pathlib.Path(source).read_text(encoding="utf-8") for source in sys.argv[2:]]
    texts = {row[0]: row[1] for source in sources for _, row in calls(source, ["Define"]) if row[0].startswith("acl.")}
    stubs = {module: [] for module in ("acl", *texts)}
    for source in sources:
        for macro, row in calls(source, ROWS):
            stubs[row[0].rpartition(".")[0]].append(stub(macro, row))
    folder.mkdir(parents=True, exist_ok=True)
    submodules = sorted(module.partition(".")[2] for module in texts)
    (folder / "__init__.pyi").write_text(page(TOP, submodules, stubs["acl"]), encoding="utf-8")
    for module, text in texts.items():
        (folder / f"{module.partition('.')[2]}.pyi").write_text(page(text, [], stubs[module]), encoding="utf-8")
    (folder / "py.typed").write_text("", encoding="utf-8")


if __name__ == "__main__":
    main()
