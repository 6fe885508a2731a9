#!/usr/bin/env python3
"""examples_test.py TREE BUILD [PAGE...]: carries out the examples of README.md and of every page of docs/, or of some.

The first word behind ``` says what a block is, and what is done with it:

  sh        run by bash; the first command that fails ends it
  console   a session: lines "$ command" are run, and what stands below a command must be in what it says, line by line; "..." stands for
            anything. A command with nothing below it has to succeed
  cpp       a whole program, or the inside of a function with `stream`, `other`, `event`, pinned memory `host` and device memory `device`, both
            of `size` bytes. Calls that stand alone must succeed
  python    run by python3
  text ...  any other word: to be read

Words behind it: `file=NAME` writes the block for the commands further down the page, and does no more; `not run: REASON` says why it cannot be
tried here. Indented blocks are figures: a command or code in one is a fault.

Each page has a folder of its own that looks like the root of the sources, with the tree as build/cann, this build as build/release, ./program
(examples/hello_copy.cpp, built) and ./script.py (examples/offload_numpy.py), and the environment of set_env.sh. All C++ is compiled at once.
Closes with "N passed, M failed" and with what was not run.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True
from check_pages_corpus import CALL, INCLUDE  # noqa: E402: found by the line above

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n)+")
EXAMPLE = re.compile(r" {4}(?:\$ |(?:ropeway|source|make|cmake|ctest|g\+\+|python3|git|bash) |[\w./]*(?:bench|build|tools)/\S+|[A-Z_]+=\S+ \w|import |#include|\w+\(.*;)")
RUN = ("sh", "console", "cpp", "python")
WRITTEN = ("c", "cmake", "yaml", "json", "bash", "shell", "c++")  # code that is used from a file, or has another name here
ELSEWHERE = "docs/check/RW-"  # programs of check_corpus, by tools/check_pages_corpus.py

MAIN = """
int main(int, char** arguments) {
  const int wanted = std::atoi(arguments[1]);
%s  return 99;
}
"""
PRELUDE = """#include <cstdio>
#include <cstdlib>
#include "acl/acl.h"
static void Must(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d: %s\\n", call, code, text != nullptr ? text : "");
  std::exit(1);
}
#define MUST(call) Must(call, #call)
struct Given {
  aclrtStream stream, other;
  aclrtEvent event;
  void *host, *device;
  size_t size = 1 << 20;
  Given() {
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateStream(&other));
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtMallocHost(&host, size));
    MUST(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
};
"""


class Block:
    def __init__(self, page, line, info, text):
        self.page, self.line, self.text = page, line, text
        words, _, reason = info.partition("not run:")
        self.kind, *rest = words.split() or [""]
        self.reason = reason.strip() if "not run:" in info else None
        self.file = next((word[len("file="):] for word in rest if word.startswith("file=")), None)
        self.odd = [word for word in rest if not word.startswith("file=")]

    def place(self):
        return f"{self.page}:{self.line}"

    def fault(self):
        if not self.kind or self.odd:
            return "say what the block is: ```sh, ```text ... (tests/docs/examples_test.py)"
        if self.kind in WRITTEN and self.file is None and self.reason is None:
            return "give it file=NAME, and show how it is used; or say why it is not run"
        return "not run: but why?" if self.reason == "" else None


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def blocks(page):
    text = read(page)
    return [Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in FENCE.finditer(text)]


def figures(page):
    """The indented blocks that are figures, and those that look like examples."""
    found = INDENTED.findall(FENCE.sub("", read(page)))
    return [one for one in found if not EXAMPLE.match(one)], [one for one in found if EXAMPLE.match(one)]


def pages():
    yield "README.md"
    for path, folders, names in os.walk(os.path.join(ROOT, "docs")):
        folders.sort()
        yield from (os.path.relpath(os.path.join(path, name), ROOT) for name in sorted(names) if name.endswith(".md"))


def environment(tree, build, work):
    """That of set_env.sh; python3 is the one that runs this."""
    tools = os.path.join(work, "bin")
    os.mkdir(tools)
    os.symlink(sys.executable, os.path.join(tools, "python3"))
    said = subprocess.run(["bash", "-c", '. "$0/set_env.sh" && env -0', tree], stdout=subprocess.PIPE, check=True).stdout
    found = dict(entry.split("=", 1) for entry in said.decode().split("\0") if "=" in entry and not entry.startswith(("ROPEWAY_", "HCCL_")))
    found["PATH"] = os.pathsep.join([tools, found["PATH"], os.path.join(build, "examples")])
    found["PYTHONDONTWRITEBYTECODE"] = "1"
    return found


def make_folder(folder, tree, build):
    os.makedirs(os.path.join(folder, "build"))
    for name in os.listdir(ROOT):
        if name != "build" and not name.startswith("."):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    for name, target in (("build/cann", tree), ("build/release", build), ("program", os.path.join(build, "examples/hello_copy")),
                         ("script.py", os.path.join(ROOT, "examples/offload_numpy.py"))):
        os.symlink(target, os.path.join(folder, name))


def wrap(block, index):
    """The block as namespace block_<index> with a function Main."""
    body = CALL.sub(r"\1MUST(\2);", INCLUDE.sub("", block.text))
    if "int main(" in body:
        body = re.sub(r"int main\([^)]*\)", "static int Main()", body).rstrip()
        body = body[:-1] + "return 0; }" if "return" not in body else body
    else:
        names = "\n".join(f"[[maybe_unused]] auto& {name} = given.{name};" for name in ("stream", "other", "event", "host", "device", "size"))
        body = f"static int Main() {{\nstatic Given given;\n{names}\n{{\n{body}}}\nMUST(aclrtSynchronizeDevice());\nreturn 0;\n}}"
    return f"namespace block_{index} {{\n{body}\n}}\n"


class Runner:
    def __init__(self, tree, build, work):
        self.tree, self.build, self.work = tree, build, work
        self.environment = environment(tree, build, work)
        self.program = os.path.join(work, "blocks")
        self.passed, self.failures = 0, []

    def command(self, arguments, folder):
        result = subprocess.run(arguments, cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600, check=False)
        return result.returncode, result.stdout

    def judge(self, block, good, what):
        if good:
            self.passed += 1
        else:
            self.failures.append(f"{block.place()}: {what}")

    def compile(self, cpp):
        """One program of all blocks of C++."""
        if not cpp:
            return
        includes = "".join(sorted({line for block in cpp for line in INCLUDE.findall(block.text)}))
        calls = "".join(f"  if (wanted == {index}) return block_{index}::Main();\n" for index in range(len(cpp)))
        with open(self.program + ".cpp", "w", encoding="utf-8") as file:
            file.write(includes + PRELUDE + "".join(wrap(block, index) for index, block in enumerate(cpp)) + MAIN % calls)
        status, said = self.command(["g++", "-std=c++17", "-Wall", "-O0", self.program + ".cpp", "-o", self.program, "-lascendcl", "-pthread"], self.work)
        if status != 0:
            self.failures.append(f"the blocks of C++ cannot be compiled:\n{said}")

    def run(self, block, folder):
        if block.kind == "sh":
            status, said = self.command(["bash", "-e", "-o", "pipefail", "-c", block.text], folder)
            self.judge(block, status == 0, f"status {status}:\n{said}")
        elif block.kind == "python":
            status, said = self.command(["python3", "-c", block.text], folder)
            self.judge(block, status == 0, f"status {status}:\n{said}")
        elif block.kind == "console":
            self.session(block, folder)

    def session(self, block, folder):
        parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
        if parts[0].strip() or len(parts) < 3:
            self.judge(block, False, "a session begins with '$ command'")
        for command, wanted in zip(parts[1::2], parts[2::2]):
            status, said = self.command(["bash", "-o", "pipefail", "-c", command], folder)
            lines = [line.strip() for line in wanted.splitlines() if line.strip()]
            pattern = ".*".join(".*".join(re.escape(part) for part in re.split(r"\s*\.\.\.\s*", line)) for line in lines)
            good = re.search(pattern, said, re.DOTALL) is not None if lines else status == 0
            self.judge(block, good, f"$ {command}\nwanted:\n{wanted}said, with status {status}:\n{said}")


def see_faults(runner, folder):
    """Plants examples that are wrong, and sees each of them found: a test that accepts everything would be worse than none."""
    planted = [("sh", "false\ntrue\n"), ("python", "raise SystemExit(3)\n"), ("console", "$ echo this\nthat\n"), ("console", "$ false\n"),
               ("console", "$ printf 'b\\na\\n'\na\nb\n"), ("console", "echo no prompt\n")]
    for kind, text in planted:
        runner.failures.clear()
        runner.run(Block("planted", 1, kind, text), folder)
        if not runner.failures:
            sys.exit(f"a planted {kind} block that is wrong was not found: {text}")
    runner.failures.clear()
    for info in ("", "sh quickly", "cmake", "sh not run:"):
        if not Block("planted", 1, info, "").fault():
            sys.exit(f"a planted block with the words '{info}' was not found")
    if not EXAMPLE.match("    ropeway doctor") or not EXAMPLE.match("    aclrtFree(device);") or EXAMPLE.match("    ropeways  12.5 GB/s"):
        sys.exit("examples and figures cannot be told apart")


def count(words):
    return ", ".join(f"{number} {word}" for word, number in sorted(collections.Counter(words).items())) or "none"


def main():
    tree, build, *some = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(os.path.abspath(tree), os.path.abspath(build), work)
        see_faults(runner, work)
        found = {page: blocks(page) for page in pages() if not some or page in some}
        every = [block for here in found.values() for block in here]
        elsewhere = [block for block in every if block.page.startswith(ELSEWHERE)]
        here = [block for block in every if block not in elsewhere]
        todo = [block for block in here if block.kind in RUN and block.reason is None and block.file is None]
        cpp = [block for block in todo if block.kind == "cpp"]
        runner.failures += [f"{block.place()}: {block.fault()}" for block in here if block.fault()]
        runner.compile(cpp)
        shown = 0
        for number, (page, blocks_here) in enumerate(found.items()):
            plain, examples = figures(page)
            shown += len(plain)
            runner.failures += [f"{page}: an example in an indented block; use ```sh or its like:\n{one}" for one in examples]
            if not any(block in todo or block.file for block in blocks_here):
                continue
            folder = os.path.join(work, f"page{number}")
            make_folder(folder, runner.tree, runner.build)
            start = time.monotonic()
            for block in blocks_here:
                if block.file:
                    path = os.path.join(folder, block.file)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    if os.path.islink(path):
                        os.unlink(path)
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(block.text)
                elif block in cpp:
                    status, said = runner.command([runner.program, str(cpp.index(block))], folder)
                    runner.judge(block, status == 0, f"status {status}:\n{said}")
                elif block in todo:
                    runner.run(block, folder)
            print(f"{page}: {time.monotonic() - start:.1f} s")
    print(f"run: {count(block.kind for block in todo)}; run by check_corpus: {count(block.kind for block in elsewhere)}")
    print(f"written for them: {count(block.kind for block in here if block.file)}")
    print(f"to be read: {count(block.kind for block in here if block.kind not in RUN and not block.file and block.reason is None)}, {shown} figures")
    for block in here:
        if block.reason:
            print(f"not run: {block.place()}: {block.reason}")
    for failure in runner.failures:
        print(f"FAILED {failure}")
    print(f"{runner.passed} passed, {len(runner.failures)} failed")
    return 1 if runner.failures or not runner.passed else 0


if __name__ == "__main__":
    sys.exit(main())
