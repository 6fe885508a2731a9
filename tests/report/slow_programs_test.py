"""Every program of slow_programs.cpp, traced: the first line of its report names its pattern and the line that has it.

slow_programs_test.py ROPEWAY SLOW_PROGRAMS FOLDER; pages and traces are left in FOLDER.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROPEWAY, PROGRAM, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
SOURCE = pathlib.Path(__file__).with_name("slow_programs.cpp")
WORDS = {
    "pageable": r"1,024 pageable copies of 4 KiB(, each followed by a wait)?, WHERE: pin the buffer .* and use aclrtMemcpyBatchAsync",
    "synchronous": r"100 synchronous copies of 1 MiB \(aclrtMemcpy\), WHERE: use aclrtMemcpyAsync",
    "wait-behind-each": r"aclrtSynchronizeStream behind each of \d+ copies of 256 KiB, WHERE: queue all",
    "small-copies": r"10,000 copies of 1 KiB, one by one, WHERE: use one aclrtMemcpyBatchAsync",
    "serial-streams": r"streams \d+ and \d+ (never|hardly) overlapped: \d+ event waits, WHERE: ",
    "one-stream": r"stream \d+ alone carries both directions in turn, .*, WHERE: give each direction a stream",
    "memory-in-loop": r"100 blocks of 1 MiB made by aclrtMallocHost and given back in a loop, each behind a wait, WHERE: make the buffers once",
    "host-function": r"\d+ host functions held up stream \d+ for .*, WHERE: ",
    "value-wait": r"stream \d+ stood still for .*, WHERE: ",
    "small-rows": r"20 2-D copies with rows of 16 B, WHERE: ",
}


def lines_of(pattern):
    lines = SOURCE.read_text().splitlines()
    return [i + 1 for i, line in enumerate(lines) if line.endswith(f"// {pattern}")]


class SlowProgramsTest(unittest.TestCase):
    def test_every_pattern_has_words(self):
        names = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(sorted(names), sorted(WORDS))
        self.assertGreaterEqual(len(names), 8)

    def test_first_line(self):
        for pattern, words in WORDS.items():
            with self.subTest(pattern):
                trace, page = FOLDER / f"{pattern}.rwt", FOLDER / f"{pattern}.html"
                trace.unlink(missing_ok=True)
                subprocess.run([PROGRAM, pattern], check=True, env={**os.environ, "ROPEWAY_TRACE": str(trace)})
                report = subprocess.run([ROPEWAY, "report", trace, "-o", page, "--limit", "10"], check=True, capture_output=True, text=True).stdout.splitlines()
                where = "|".join(f"slow_programs.cpp:{line}" for line in lines_of(pattern))
                self.assertRegex(report[0], r"^host waiting \d+ % of [\d.]+ m?s; " + words.replace("WHERE", f"({where})"))
                meta = json.loads(re.search(r'id="meta">(.*?)</script>', page.read_text(), re.S).group(1))
                self.assertEqual(meta["findings"][0]["pattern"], pattern)
                self.assertEqual(meta["words"], report[:-1])
                self.assertEqual(report[-1], f"page: {page}")

    def test_mistakes(self):
        trace, lines = FOLDER / "mistake.rwt", FOLDER / "mistake.jsonl"
        trace.unlink(missing_ok=True)
        subprocess.run([PROGRAM, "small-rows"], check=True, env={**os.environ, "ROPEWAY_TRACE": str(trace)})
        lines.write_text("RACE  RW-RACE-001\n")
        for words, said in {
            (SOURCE,): f"ropeway report: {SOURCE}: this is no trace",
            (trace, "-o", FOLDER / "missing" / "page.html"): "page.html cannot be written: No such file or directory",
            (trace, "-o", FOLDER / "mistake.html", "--findings", lines): f"ropeway report: --findings {lines}: line 1 is not a finding of ropeway check --json",
        }.items():
            report = subprocess.run([ROPEWAY, "report", *words], capture_output=True, text=True)
            self.assertEqual(report.returncode, 1, words)
            self.assertIn(said, report.stderr)
        self.assertEqual(subprocess.run([ROPEWAY, "report", FOLDER / "not_there"], capture_output=True).returncode, 2)

    def test_limit_and_findings(self):
        trace, page, lines = FOLDER / "given.rwt", FOLDER / "given.html", FOLDER / "given.jsonl"
        trace.unlink(missing_ok=True)
        subprocess.run([PROGRAM, "one-stream"], check=True, env={**os.environ, "ROPEWAY_TRACE": str(trace)})
        lines.write_text('{"rule":"RW-RACE-001","title":"RACE"}\n')
        for more, limit in ((["--limit", "12.5"], 12.5e9), ([], None)):
            subprocess.run([ROPEWAY, "report", trace, "-o", page, "--findings", lines, *more], check=True, stdout=subprocess.DEVNULL)
            meta = json.loads(re.search(r'id="meta">(.*?)</script>', page.read_text(), re.S).group(1))
            self.assertEqual(meta["checked"], [{"rule": "RW-RACE-001", "title": "RACE"}])
            self.assertTrue(meta["limit"] == limit if limit else meta["limit"] > 0)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
