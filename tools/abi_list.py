#!/usr/bin/env python3
"""abi_list.py BUILD [--check]: writes tests/headers/abi.txt, the names that the libraries of a build export and the sizes of the structures of the
public headers. With --check nothing is written, and a difference is an error: a line that is gone breaks programs (docs/versions.md), a
new one wants to be looked at and written down, by `make abi`. Closes with "N passed, M failed", counted in lines. 77: no GCC, or another
machine than the list's.
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
LIST = os.path.join(ROOT, "tests", "headers", "abi.txt")
LIBRARIES = ("libascendcl.so", "libhccl.so", "libcann_hixl.so", "libllm_datadist.so", "libmetadef.so")
NOT_OURS = "ropeway/check_gtest.h"  # needs Google Test, and is code alone

CLASS = re.compile(r"^Class (?:Named<)?([\w:]+)>?\n +size=(\d+) align=(\d+)$", re.MULTILINE)
DEFINED = re.compile(r"\b(?:struct|class|union)\s+(?:[A-Z_]+\s+)?(\w+)")
TYPEDEF = re.compile(r"^\} (\w+);", re.MULTILINE)  # GCC tells of these before they have their name
NAMED = "template <class T> struct Named { alignas(T) char bytes[sizeof(T)]; };\n"


def exported(library):
    said = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return sorted({line.split()[-1].partition("@")[0] for line in said.splitlines()})


def headers():
    for path, _, names in os.walk(os.path.join(ROOT, "include")):
        yield from (os.path.relpath(os.path.join(path, name), os.path.join(ROOT, "include")) for name in names if name.endswith(".h"))


def sizes():
    """What GCC says of every class, as far as its name stands in our headers."""
    ours, typedefs, includes = set(), set(), []
    for header in sorted(headers()):
        with open(os.path.join(ROOT, "include", header), encoding="utf-8") as file:
            text = file.read()
        ours.update(DEFINED.findall(text))
        typedefs.update(TYPEDEF.findall(text))
        if header != NOT_OURS:
            includes.append(f'#include "{header}"\n')
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "all.cpp"), "w", encoding="utf-8") as file:
            file.writelines(includes + [NAMED] + [f"template struct Named<{name}>;\n" for name in sorted(typedefs)])
        subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-fdump-lang-class=" + os.path.join(work, "classes"),
                        "-I" + os.path.join(ROOT, "include"), os.path.join(work, "all.cpp")], cwd=work, check=True)
        with open(os.path.join(work, "classes"), encoding="utf-8") as file:
            found = CLASS.findall(file.read())
    return sorted({f"{name} size {size} align {align}" for name, size, align in found
                   if not name.startswith("std::") and name.rpartition("::")[2] in ours | typedefs})


def lines(build):
    yield f"machine {platform.machine()}"
    for library in LIBRARIES:
        yield from (f"{library} {name}" for name in exported(os.path.join(build, library)))
    yield from (f"type {line}" for line in sizes())


def main():
    build, check = sys.argv[1], "--check" in sys.argv
    if shutil.which("g++") is None or shutil.which("nm") is None:
        print("NOT TESTED: needs g++ and nm")
        return 77
    now = list(lines(build))
    if not check:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in now)
        return 0
    with open(LIST, encoding="utf-8") as file:
        listed = file.read().splitlines()
    if listed[0] != now[0]:
        print(f"NOT TESTED: the list is of {listed[0]}, this is {now[0]}")
        return 77
    gone, new = sorted(set(listed) - set(now)), sorted(set(now) - set(listed))
    for line in gone:
        print(f"FAILED gone, or another size: {line}")
    for line in new:
        print(f"FAILED not listed: {line}")
    if gone or new:
        print("what is meant to change: run `make abi` and commit tests/headers/abi.txt")
    print(f"{len(listed) - len(gone)} passed, {len(gone) + len(new)} failed")
    return 1 if gone or new or len(now) < 600 else 0


if __name__ == "__main__":
    sys.exit(main())
