#!/usr/bin/env python3
"""faults_page_test.py ROPEWAY EXAMPLES_BIN PAGE: runs every command of docs/faults.md and looks for the line below it in what it says.

"... " stands for anything, over several lines. Closes with "N passed, M failed".
"""
import os
import re
import subprocess
import sys


def examples(page):
    """Command, and what it says."""
    with open(page, encoding="utf-8") as file:
        lines = [line[4:].rstrip("\n") for line in file if line.startswith("    ")]
    return [(command[2:], said) for command, said in zip(lines, lines[1:]) if command.startswith("$ ")]


def main():
    ropeway, programs, page = sys.argv[1:]
    environment = dict(os.environ, PATH=os.pathsep.join([os.path.dirname(ropeway), programs, os.environ["PATH"]]))
    failed = 0
    found = examples(page)
    for command, said in found:
        result = subprocess.run(command, shell=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        if not re.search(".*".join(re.escape(part) for part in said.split("... ")), result.stdout, re.DOTALL):
            failed += 1
            print(f"FAILED {command}\n  does not say: {said}\n  but: {result.stdout}")
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed or len(found) < 7 else 0


if __name__ == "__main__":
    sys.exit(main())
