#!/usr/bin/env python3
"""errors_page.py [--check]: writes the tables of docs/troubleshooting.md: names, numbers and meanings as the sources have them
(src/base/error_names.cpp, src/hccl/base/result_names.cpp, include/hixl/hixl_types.h), causes and next steps from tools/error_help.tsv. With
--check nothing is written, and a page that says something else is an error. Closes with "N passed, M failed", counted in codes.
"""
import difflib
import fnmatch
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = "docs/troubleshooting.md"
HELP = "tools/error_help.tsv"
MARKS = "<!-- written by tools/errors_page.py: do not edit -->\n", "<!-- end of what is written -->\n"

ACL_ROW = re.compile(r'\{(\d+), "(\w+)",\s*((?:"[^"]*"\s*)+)\}')
HCCL_ROW = re.compile(r'RW_ROW\((HCCL_\w+), "([^"]*)"\)')
HCCL_NUMBER = re.compile(r"^ *(HCCL_\w+) = (\d+)", re.MULTILINE)
HIXL_ROW = re.compile(r"constexpr Status (\w+) = (\d+)U;(?: /\* (.*?) \*/)?")
NAMES = ("src/base/error_names.cpp", "src/hccl/base/result_names.cpp")  # a name there answers nobody
HIXL_MEANINGS = {"SUCCESS": "success", "PARAM_INVALID": "an argument is refused", "TIMEOUT": "the time limit was reached",
                 "NOT_CONNECTED": "there is no link to that engine", "ALREADY_CONNECTED": "there is a link to that engine already",
                 "UNSUPPORTED": "not available", "RESOURCE_EXHAUSTED": "a queue is full", "FAILED": "the call failed"}


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def acl_codes():
    """Number, symbol, meaning."""
    return [(int(number), symbol, "".join(re.findall(r'"([^"]*)"', texts))) for number, symbol, texts in ACL_ROW.findall(read(NAMES[0]))]


def hccl_codes():
    numbers = {symbol: int(number) for symbol, number in HCCL_NUMBER.findall(read("include/hccl/hccl_types.h"))}
    return sorted((numbers[symbol], symbol, meaning) for symbol, meaning in HCCL_ROW.findall(read(NAMES[1])))


def hixl_codes():
    return [(int(number), symbol, said or HIXL_MEANINGS[symbol]) for symbol, number, said in HIXL_ROW.findall(read("include/hixl/hixl_types.h"))]


def answered():
    """The symbols that the sources use."""
    found = set()
    for path, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            inside = os.path.relpath(os.path.join(path, name), ROOT)
            if inside not in NAMES:
                found.update(re.findall(r"\b(?:ACL_ERROR|HCCL_E)_\w+", read(inside)))
    return found


class Help:
    def __init__(self, used):
        lines = [line for line in read(HELP).splitlines() if line and not line.startswith("#")]
        self.rows = [line.split("\t") for line in lines]
        self.used = used
        self.hit = set()
        self.faults = [f"{HELP}: not three columns: {line}" for line, row in zip(lines, self.rows) if len(row) != 3]

    def find(self, symbol):
        """Causes, next step."""
        for key, *words in self.rows:
            if fnmatch.fnmatchcase(symbol, key) and len(words) == 2:
                if "*" in key and symbol in self.used:
                    break
                self.hit.add(key)
                return words
        self.faults.append(f"{HELP}: {symbol} has no row of its own; say its usual causes and the next step")
        return ["-", "-"]

    def idle(self):
        return [f"{HELP}: fits no code, or only such as earlier rows fit: {row[0]}" for row in self.rows if row[0] not in self.hit]


def table(codes, help_rows):
    text = "\n| code | name | meaning | usual causes | next step |\n|---|---|---|---|---|\n"
    for number, symbol, meaning in codes:
        meaning = re.sub(r"^[A-Z](?![A-Z])", lambda first: first[0].lower(), meaning)  # AI, DMA and their like stay
        cells = [str(number), f"`{symbol}`", meaning, *help_rows.find(symbol)]
        text += "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
    return text + "\n"


def render(help_rows):
    acl = acl_codes()
    here = [code for code in acl if code[0] == 0 or code[1] in help_rows.used]
    never = [code for code in acl if code not in here]
    text = f"\n## Codes of Ropeway\n{table(here, help_rows)}"
    text += f"## HCCL\n{table(hccl_codes(), help_rows)}"
    text += f"## Transfer engines\n{table(hixl_codes(), help_rows)}"
    text += "## Codes that only an NPU answers\n\nThe headers have them and `ROPEWAY_FAULTS` can play them ([faults](faults.md)); no call here answers them by itself.\n"
    return text + table(never, help_rows), len(acl)


def main():
    old = read(PAGE)
    head, _, rest = old.partition(MARKS[0])
    tail = rest.partition(MARKS[1])[2]
    help_rows = Help(answered())
    tables, count = render(help_rows)
    new = head + MARKS[0] + tables + MARKS[1] + tail
    faults = help_rows.faults + help_rows.idle()
    if "--check" not in sys.argv:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
            file.write(new)
    elif new != old:
        changes = difflib.unified_diff(old.splitlines(), new.splitlines(), PAGE, "the tables", n=0, lineterm="")
        faults += [*changes, f"{PAGE} is not what the tables say: run tools/errors_page.py and commit the result"]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{max(count - len(faults), 0)} passed, {len(faults)} failed")
    return 1 if faults or count < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
