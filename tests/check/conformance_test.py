#!/usr/bin/env python3
"""conformance_test.py ROPEWAY CONFORMANCE_TESTS [--write] [GTEST ARGUMENT...]: runs the conformance tests under `ropeway check`.

Some of them do the wrong thing on purpose. conformance.txt lists them with what they must raise: at least one of their rules, and no other; all
others are silent. A ? in front means that it depends on the threads of the test whether anything is raised, a ! that the test fails under the
layer. --write makes the list anew, without marks and sections, for a look at the difference.
"""
import collections
import json
import os
import subprocess
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conformance.txt")
RUN = b"[ RUN      ] "
FAILED = b"[  FAILED  ] "


def run(command):
    """Rules by test, in the order of the tests; those that ran; and those that failed."""
    raised, ran, failed = collections.OrderedDict(), set(), set()
    environment = dict(os.environ, ROPEWAY_SCHEDULE="fast")
    environment.pop("GTEST_BRIEF", None)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    test = "outside of all tests"
    for line in process.stdout:
        if line.startswith(RUN):
            test = line[len(RUN):].decode().strip()
            ran.add(test)
        elif line.startswith(FAILED) and line.rstrip().endswith(b" ms)"):
            failed.add(test)
        elif line.startswith(b'{"rule":'):
            finding = json.loads(line)
            if finding["error"]:
                raised.setdefault(test, {}).setdefault(finding["rule"], finding["text"])
    process.wait()
    return raised, ran, failed


def listed():
    """Test: (its rules, the mark in front of it)."""
    with open(LIST, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {words[0].lstrip("?!"): (set(words[1:]), words[0][0]) for words in lines}


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    ropeway, tests, *arguments = words
    command = [ropeway, "check", "--json", "--every", "--output", "/dev/stdout", "--", tests, *arguments]
    raised, ran, failed = run(command)
    if "--write" in sys.argv:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(f"{test} {' '.join(sorted(rules))}\n" for test, rules in raised.items())
        return 0
    expected = listed()
    known_to_fail = {test for test, (_, mark) in expected.items() if mark == "!"}
    wrong = [f"{test} {'failed under' if test in failed else 'no longer fails under'} the layer" for test in failed ^ known_to_fail]
    for test, rules in raised.items():
        for rule in sorted(set(rules) - expected.get(test, (set(), ""))[0]):
            wrong.append(f"{test} raised {rule}:\n    " + "\n    ".join(rules[rule]))
    for test, (rules, mark) in expected.items():
        if test in ran and test not in raised and mark not in ("?", "!"):
            wrong.append(f"{test} raised none of {' '.join(sorted(rules))}")
        if test not in ran and not arguments:
            wrong.append(f"{test} is listed, and there is no such test")
    print("\n".join(wrong))
    print(f"{len(ran)} tests, {len(raised)} with findings, {len(wrong)} wrong")
    return 1 if wrong or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
