#!/usr/bin/env python3
"""corpus_test.py [--all] [--rounds N] [--jobs N] [--only REGEX] [--flag=FLAG] ROPEWAY CORPUS...: runs the corpus under `ropeway check`.

CORPUS is a command, the program check_corpus or python3 and pyacl_programs.py: with --list it tells its programs, with a name it runs one.

Every wrong program must be found with exactly its rule, and no right one with any; tips count only where a tip is expected.

As a test: every program on the schedule `fast` and on one more, in turn. With --all on all of them, N times; it stops for nothing and tells its
figures after every round.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

SCHEDULES = ["fast", "earliest", "latest"] + [f"random:{seed}" for seed in range(1, 6)]
SANITIZED = {"RW-HOST-004"}  # seen in programs built with AddressSanitizer: the test check_address_sanitizer has them
LIMIT_S = 120

Program = collections.namedtuple("Program", "name rule pair_rule")  # rule "-" for a right one


def programs(corpus):
    lines = subprocess.run([*corpus, "--list"], check=True, capture_output=True, text=True).stdout.split("\n")
    listed = [line.split() for line in lines if line]
    rules = {name.rsplit(".", 1)[0]: rule for name, rule in listed if rule != "-"}
    return [Program(name, rule, rules[name.rsplit(".", 1)[0]]) for name, rule in listed]


def end(process):
    """The command and the program that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended by itself


class Run:
    def __init__(self, options, program, schedule):
        self.program, self.schedule = program, schedule
        self.options = options

    def command(self, output):
        flags = {"RW-LEAK-001": ["--leaks"], "RW-HANG-001": ["--hang", "1"], "RW-HOST-001": ["--host-access=on"],
                 "RW-HOST-002": ["--host-access=on"]}.get(self.program.pair_rule, [])
        return [self.options.ropeway, "check", "--json", "--output", output, *flags, *self.options.flag, "--", *self.options.corpus, self.program.name]

    def __call__(self):
        """None, or what is wrong with it. Findings come through a pipe, which is at its end when the program is."""
        pipe_out, pipe_in = os.pipe()
        with tempfile.TemporaryFile() as told, open(pipe_out, encoding="utf-8", errors="replace") as lines:
            process = subprocess.Popen(self.command(f"/dev/fd/{pipe_in}"), stdout=told, stderr=told, stdin=subprocess.DEVNULL, pass_fds=[pipe_in],
                                       start_new_session=True, env=dict(os.environ, ROPEWAY_SCHEDULE=self.schedule))
            os.close(pipe_in)
            late = []
            watchdog = threading.Timer(LIMIT_S, lambda: (late.append(True), end(process)))
            watchdog.start()
            found = self.read(process, lines)
            status = process.wait()
            watchdog.cancel()
            told.seek(0)
            return self.judge("ran too long" if late else status, found, told.read().decode(errors="replace"))

    def read(self, process, lines):
        """What is found; a program that hangs as it should is ended when that was."""
        found = []
        for line in lines:
            found.append(json.loads(line))
            if self.program.rule == "RW-HANG-001":
                end(process)
                break
        return found

    def judge(self, status, found, told):
        expected = {self.program.rule} - {"-"}
        is_tip = self.program.rule.startswith("RW-TIP")
        got = {one["rule"] for one in found if one["error"] or is_tip}
        right_status = -signal.SIGKILL if self.program.rule == "RW-HANG-001" else 0 if is_tip or not expected else 1
        if got == expected and status == right_status:
            return None
        lines = [f"{self.program.name} on {self.schedule}: expected {sorted(expected)}, got {sorted(got)}, status {status}"]
        lines += ["  " + "\n    ".join(one["text"]) for one in found if one["rule"] in got - expected]
        if status not in (0, 1):
            lines += ["  " + line for line in told.strip().split("\n")[-5:]]
        return "\n".join(lines)


def chosen(options):
    picked = [one for one in programs(options.corpus) if re.search(options.only, one.name) and one.rule not in SANITIZED]
    for number, program in enumerate(picked):
        # In a sample the two of a pair get the same schedule.
        others = SCHEDULES[1:] if options.all else [SCHEDULES[1 + number // 2 % (len(SCHEDULES) - 1)]]
        for schedule in ["fast"] + others:
            yield Run(options, program, schedule)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ropeway")
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)) + 1)
    parser.add_argument("--only", default="")
    parser.add_argument("--flag", action="append", default=[], help="of ropeway check, for all programs")
    options = parser.parse_args()
    runs = list(chosen(options))
    failed = 0
    for number in range(1, options.rounds + 1):
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            wrong = [text for text in pool.map(lambda run: run(), runs) if text]
        failed += len(wrong)
        print(*wrong, f"round {number}: {number * len(runs) - failed} passed, {failed} failed", sep="\n", flush=True)
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
