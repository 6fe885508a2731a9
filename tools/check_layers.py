#!/usr/bin/env python3
"""check_layers.py [ROOT]: fails on an #include that goes up, and on a look at the environment beside the table of settings.

The rooms of src/ form a list, and a file includes its own room and those below; what stands outside (command, measurements, examples,
conformance tests) knows the public headers only. The preprocessor says what a file includes, whatever way it is written: with macros, in
comments, through a file of any name. Every file is looked at by itself, so all that it reaches must lie in its room or below. (Branches of
#if for another processor are not seen.)

Prints each offence and closes with "N passed, M failed", counted in files.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

# From the bottom to the top; rooms in one line do not know each other.
LIBRARY = [
    ["base"],
    ["ipc"],
    ["engine"],
    ["engine/sched"],
    ["engine/cpu/kernels"],
    ["engine/cpu", "engine/cuda"],
    ["stream"],
    ["copy", "watch"],
    ["memory"],
    ["runtime"],
    ["profile"],
    ["api", "api/refused"],
]
RANKS = [
    ["hccl/base"],
    ["hccl/transport"],
    ["hccl/membership", "hccl/tls"],
    ["hccl/bootstrap"],
    ["hccl/link"],
    ["hccl/p2p", "hccl/onesided", "hccl/dispatcher"],
    ["hccl/coll"],
    ["hccl/api"],
]
ENGINES = [
    ["hixl/metadef", "hixl/engine"],
    ["hixl/api"],
]
SECUREC = [["securec"]]
# One room, whose files are in two folders.
SAME_ROOM = [{"api", "api/refused"}]
# What all libraries stand on.
FOR_ALL = {"base"}
# Rooms of ranks that know nothing of communicators, as far as others include them (ropeway_net in cmake/hccl.cmake).
FOR_ENGINES = {"hccl/base", "hccl/transport", "hccl/link"}
# Watchers are started by the top rooms, and called through engine/watcher.h by the others.
ONLY_FOR = {"watch": {"watch", "runtime", "profile", "api"}}
# Folder: what it may include, and where its own includes are looked for.
OUTSIDE = {
    "cli": (["include/", "cli/", "check/tally.h", "src/base/fault_rules.h", "src/base/symbols.h", "src/watch/trace_format.h", "src/api/state_table.h"], [".", "cli", "include"]),
    "check": (["include/", "check/", "src/base/fault_rules.h", "src/base/symbols.h"], [".", "include"]),
    "check/model": (["check/model/"], ["."]),
    "bench": (["include/", "bench/", "tests/hccl_hosts/"], [".", "include"]),
    "examples": (["include/", "examples/"], ["include"]),
    "tests/conformance": (["include/", "tests/conformance/", "tests/support/", "src/api/refused/"], [".", "tests", "include"]),
}
SUFFIXES = (".cpp", ".h", ".c", ".cu", ".inc")
FILES_AT_ONCE = 40
# What is read from outside is declared in one table, with its range; this file alone asks the environment.
READS_ENVIRONMENT = "src/base/settings.cpp"
ENVIRONMENT = re.compile(r"\b(secure_)?getenv\b|\benviron\b")

# Room: which library, and how high in it.
LEVELS = {room: (name, level) for name, library in (("acl", LIBRARY), ("hccl", RANKS), ("hixl", ENGINES), ("securec", SECUREC)) for level, rooms in enumerate(library)
          for room in rooms}


def room_of(path):
    return os.path.dirname(path)[len("src/"):]


def why_not(path, dependency):
    """Why a file of src/ may not reach another file of the tree; None when it may."""
    if dependency.startswith("include/"):
        return None
    if not dependency.startswith("src/"):
        return "the library knows nothing outside src/ and include/"
    mine, theirs = room_of(path), room_of(dependency)
    if mine == theirs or theirs in FOR_ALL or any({mine, theirs} <= rooms for rooms in SAME_ROOM):
        return None
    if theirs not in LEVELS:
        return f"{theirs or 'src/ itself'} is no room: give it a place in tools/check_layers.py"
    if mine not in ONLY_FOR.get(theirs, {mine}):
        return f"{mine} may not include {theirs}"
    (my_library, my_level), (library, level) = LEVELS[mine], LEVELS[theirs]
    if library != my_library:
        if my_library == "hixl" and theirs in FOR_ENGINES:
            return None
        return f"{my_library} stands on the public headers" if library == "acl" else f"{library} is a library on top"
    return None if level < my_level else f"{theirs} is not below {mine}"


def why_not_outside(folder, dependency):
    allowed = OUTSIDE[folder][0]
    return None if dependency.startswith(tuple(allowed)) else f"only {', '.join(allowed)} are open to {folder}"


def parse_rules(text):
    """Of each rule that the preprocessor wrote: its first file, and the others."""
    for rule in text.replace("\\\n", " ").splitlines():
        files = rule.partition(":")[2].split()
        if files:
            yield files[0], files[1:]


def dependencies(paths, search):
    # Headers of the system are taken for files that somebody will make: only ours count, and they take no time.
    command = [os.environ.get("CXX", "c++"), "-x", "c++", "-std=c++20", "-MM", "-MG", "-nostdinc", "-nostdinc++"]
    result = subprocess.run(command + ["-I" + folder for folder in search] + paths, capture_output=True, text=True)
    return list(parse_rules(result.stdout))


def files_below(folder):
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in names if name.endswith(SUFFIXES))


def look(folder, search, judge):
    """How many files a folder has, and what is wrong in them: file, what it reaches, why not."""
    paths = sorted(files_below(folder))
    # Names that the compiler's driver does not know go one by one: among others it takes them for something to link.
    usual = [path for path in paths if path.endswith((".cpp", ".h", ".c"))]
    bundles = [usual[i:i + FILES_AT_ONCE] for i in range(0, len(usual), FILES_AT_ONCE)] + [[path] for path in paths if path not in usual]
    offences = []
    seen = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for rules in pool.map(lambda bundle: dependencies(bundle, search), bundles):
            for path, reached in rules:
                seen.add(path)
                for dependency in reached:
                    plain = os.path.normpath(dependency)
                    if not os.path.exists(plain) or plain.startswith("/"):
                        continue  # the system's
                    # The public headers find each other wherever they are put.
                    relative = dependency not in (plain, "./" + plain) and not plain.startswith("include/")
                    why = "write the path from the root of its tree, not a relative one" if relative else judge(path, plain)
                    if why is not None:
                        offences.append((path, plain, why))
    offences += [(path, "", "the preprocessor does not get through it") for path in paths if path not in seen]
    return len(paths), offences


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    count, offences = look("src", ["src", "include"], why_not)
    for path in files_below("src"):
        if room_of(path) not in LEVELS:
            offences.append((path, "", f"{room_of(path) or 'src/ itself'} is no room: give it a place in tools/check_layers.py"))
        with open(path, encoding="utf-8") as file:
            if path != READS_ENVIRONMENT and ENVIRONMENT.search(file.read()):
                offences.append((path, "", f"{READS_ENVIRONMENT} alone reads the environment: declare a setting there"))
    for folder, (_, search) in OUTSIDE.items():
        more, wrong = look(folder, search, lambda path, dependency, at=folder: why_not_outside(at, dependency))
        count += more
        offences += wrong
    for path, dependency, why in sorted(set(offences)):
        print(f"{path}: reaches {dependency}: {why}" if dependency else f"{path}: {why}")
    failed = len({path for path, _, _ in offences})
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
