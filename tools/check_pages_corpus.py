#!/usr/bin/env python3
"""check_pages_corpus.py FOLDER OUTPUT: makes programs of the corpus of `ropeway check` out of the pages of its rules.

Every page RW-*.md has one block of C++ behind a line <!-- wrong --> and one behind <!-- right -->, each a whole program. Each gets a namespace of
its own; a call that stands alone in a statement must succeed, unless the page casts its answer to void.
"""
import os
import re
import sys

BLOCK = re.compile(r"^<!-- (wrong|right) -->\n```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)
CALL = re.compile(r"^(\s*(?:for \([^;]*\) )?)(acl\w+\([^;]*\));", re.MULTILINE)


def programs(page):
    with open(page, encoding="utf-8") as file:
        found = BLOCK.findall(file.read())
    if sorted(kind for kind, _ in found) != ["right", "wrong"]:
        sys.exit(f"{page}: needs one block <!-- wrong --> and one <!-- right -->")
    return dict(found)


def main():
    folder, output = sys.argv[1:]
    includes, parts = {'#include "tests/check/corpus/program.h"\n'}, []
    for name in sorted(os.listdir(folder)):
        if not name.startswith("RW-"):
            continue
        rule = name[:-len(".md")]
        word = rule.lower().replace("-", "_")
        for kind, text in programs(os.path.join(folder, name)).items():
            includes.update(INCLUDE.findall(text))
            body = CALL.sub(r"\1MUST(\2);", INCLUDE.sub("", text)).replace("int main() {", "static int Main() {")
            parts.append(f"namespace {word}_{kind} {{\n{body.strip()}\n}}\n")
        mains = ", ".join(f"&{word}_{kind}::Main" for kind in ("wrong", "right"))
        parts.append(f'static const int {word} = corpus::Add({{"page_{word}", "{rule}", nullptr, {mains}}});\n')
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(["".join(sorted(includes))] + parts))


if __name__ == "__main__":
    main()
