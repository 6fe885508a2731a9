#!/usr/bin/env python3
"""conformance_test.py ROPEWAY CONFORMANCE_TESTS [--all] [--rounds N] [--write] [--flag=FLAG] [-- GTEST ARGUMENT...]: runs the conformance tests under `ropeway check`.

Some of them do the wrong thing on purpose. conformance.txt lists them with the rules that they must raise, all of them and no other; all other tests are
silent. A ? in front means that it depends on the threads of the test which of its rules are raised, if any. No test fails under the layer.
With --flag=--host-access=on the tests of conformance_host_access.txt differ, as it says: they raise more, or fail.

On the schedule `fast`, or with --all on the eight of the corpus. --write makes the list anew, without marks and comments, for a look at the difference.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "corpus"))
from corpus_test import SCHEDULES  # noqa: E402

LIST = os.path.join(FOLDER, "conformance.txt")
LIST_OF_FLAG = {"--host-access=on": os.path.join(FOLDER, "conformance_host_access.txt")}
FAILS = "fails"  # in a list, among the rules
RUN = b"[ RUN      ] "
FAILED = b"[  FAILED  ] "


def run(options, schedule):
    """Rules by test, in the order of the tests; those that ran; and those that failed."""
    raised, ran, failed = collections.OrderedDict(), set(), set()
    environment = dict(os.environ, ROPEWAY_SCHEDULE=schedule)
    environment.pop("GTEST_BRIEF", None)
    command = [options.ropeway, "check", "--json", "--every", "--output", "/dev/stdout", *options.flag, "--", options.tests, *options.arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
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
    if process.wait() < 0:
        failed.add(test)
    return raised, ran, failed


def listed(flags):
    """Test: (its rules, whether they may be missing)."""
    tests = {}
    for path in [LIST] + [LIST_OF_FLAG[flag] for flag in flags if flag in LIST_OF_FLAG]:
        with open(path, encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
        for words in lines:
            rules, may_miss = tests.get(words[0].lstrip("?"), (set(), False))
            tests[words[0].lstrip("?")] = (rules | set(words[1:]), may_miss or words[0][0] == "?")
    return tests


def judge(options, schedule):
    """The number of tests, and what is wrong."""
    raised, ran, failed = run(options, schedule)
    expected = listed(options.flag)
    fails = {test for test, (rules, _) in expected.items() if FAILS in rules and test in ran}
    wrong = [f"{test} failed under the layer" for test in sorted(failed - fails)]
    wrong += [f"{test} did not fail under the layer" for test in sorted(fails - failed)]
    for test, rules in raised.items():
        for rule in sorted(set(rules) - expected.get(test, (set(), False))[0]):
            wrong.append(f"{test} raised {rule}:\n    " + "\n    ".join(rules[rule]))
    for test, (rules, may_miss) in expected.items():
        if test in ran and not may_miss:
            wrong += [f"{test} did not raise {rule}" for rule in sorted(rules - {FAILS} - set(raised.get(test, {})))]
        if test not in ran and not options.arguments:
            wrong.append(f"{test} is listed, and there is no such test")
    return len(ran), [f"{schedule}: {text}" for text in wrong]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ropeway")
    parser.add_argument("tests")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--flag", action="append", default=[], help="of ropeway check")
    parser.add_argument("arguments", nargs="*", help="behind --: arguments of Google Test")
    options = parser.parse_args()
    if options.write:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(f"{test} {' '.join(sorted(rules))}\n" for test, rules in run(options, "fast")[0].items())
        return 0
    count, failed = 0, 0
    for schedule in (SCHEDULES if options.all else ["fast"]) * options.rounds:
        ran, wrong = judge(options, schedule)
        count, failed = count + ran, failed + len(wrong)
        print(*wrong, f"{schedule}: {ran} tests, {len(wrong)} wrong", sep="\n", flush=True)
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
