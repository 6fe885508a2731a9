#!/usr/bin/env python3
"""check_pages.py [ROOT]: fails on what names a page, a section or a heading that is not there.

Whoever names a page (streams.md) names one of this tree. A number behind a page is a section of docs/rules/, and the form is
rules/<page>.md <section>, with ", step <number>" for a row of a table; several are "1, 3", "1 to 3" and "1 and 3". The sections of a page
of rules count from 1. Links between pages lead to files and headings, every page is linked by another, and the `source/files.h` that a
page names exist.

Prints each offence and closes with "N passed, M failed", counted in files.
"""
import os
import re
import sys

FOLDERS = ("bench", "cli", "cmake", "docs", "examples", "include", "packaging", "python", "src", "tests", "tools")
# These make up pages to see them missed, or say what a page may be called.
NOT_READ = ("tests/toolchain/pages.sh", "tools/check_pages.py")

PAGE = re.compile(r"(?<![\w/.*$}-])(?:[\w-]+/)*[\w-]+\.md\b")
NUMBER = r"\d+(?:\.\d+)*"
NUMBERS = rf"{NUMBER}(?:(?:, | to | and ){NUMBER})*(?!\w)"
CITED = re.compile(rf"({PAGE.pattern}) ({NUMBERS})(?:, steps? ({NUMBERS}))?")
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
SOURCE = re.compile(r"`((?:[\w-]+/)+[\w-]+\.(?:h|c|cpp|cu|py|sh|cmake))`")
SECTION = re.compile(r"^## (\d+)\. (.*)$", re.MULTILINE)
BREAK = re.compile(r"[ \t]*\n[ \t]*(?://+|#|\*)?[ \t]*")  # a citation may go on in the next line of a comment


def files(root):
    for folder in FOLDERS:
        for path, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            yield from (os.path.relpath(os.path.join(path, name), root) for name in sorted(names))
    yield from sorted(name for name in os.listdir(root) if name.endswith((".md", ".txt")))


def expand(numbers):
    listed = re.findall(NUMBER, numbers)
    for begin, end in re.findall(r"(\d+) to (\d+)", numbers):
        listed.extend(map(str, range(int(begin), int(end))))
    return listed


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


class Tree:
    def __init__(self, root):
        self.root = root
        self.texts = {}
        for name in files(root):
            with open(os.path.join(root, name), encoding="utf-8", errors="ignore") as file:
                self.texts[name] = file.read()
        self.linked = set()

    def find(self, name, page):
        """The page that a file names: from its own folder, from the top, or from docs/."""
        places = (os.path.join(os.path.dirname(name), page), page, os.path.join("docs", page))
        return next((place for place in map(os.path.normpath, places) if place in self.texts), None)

    def sections(self, page):
        """Number of a section: its text."""
        parts = SECTION.split(self.texts[page])
        return dict(zip(parts[1::3], parts[3::3]))

    def missing_pages(self, name):
        for page in sorted({match[0] for match in PAGE.finditer(self.texts[name])}):
            if self.find(name, page) is None:
                yield f"names {page}, which is no page of this tree"

    def missing_sections(self, name):
        for page, numbers, steps in CITED.findall(BREAK.sub(" ", self.texts[name])):
            found = self.find(name, page)
            if not page.startswith("rules/") or found is None:
                yield f"cites {page} {numbers}, but numbers are for rules/<page>.md"
                continue
            sections = self.sections(found)
            for number in expand(numbers):
                if number not in sections:
                    yield f"cites {page} {number}, which has sections 1 to {len(sections)}"
            rows = sections.get(expand(numbers)[0], "")
            for step in expand(steps):
                if f"\n| {step} |" not in rows:
                    yield f"cites step {step} of {page} {numbers}, which has no such row"

    def broken_links(self, name):
        for target, heading in LINK.findall(self.texts[name]):
            if target.startswith(("http:", "https:", "mailto:")):
                continue
            path = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
            if path != name:
                self.linked.add(path)
            if not os.path.exists(os.path.join(self.root, path)):
                yield f"links to {target}, which is not there"
            elif heading and heading not in map(anchor, re.findall(r"^#+ (.*)$", self.texts.get(path, ""), re.MULTILINE)):
                yield f"links to {target}#{heading}, and there is no such heading"

    def missing_files(self, name):
        for path in sorted(set(SOURCE.findall(self.texts[name]))):
            if not any(place + path in self.texts for place in ("", "src/", "include/")):
                yield f"names the file {path}, which is not there"

    def bad_numbers(self, name):
        numbers = list(self.sections(name))
        if numbers != [str(number + 1) for number in range(len(numbers))]:
            yield f"has sections {', '.join(numbers)}, but they count from 1"

    def offences(self):
        found = {name: [] for name in self.texts if name not in NOT_READ}
        for name, here in found.items():
            here.extend(self.missing_pages(name))
            here.extend(self.missing_sections(name))
            if name.endswith(".md"):
                here.extend(self.broken_links(name))
                here.extend(self.missing_files(name))
            if name.startswith("docs/rules/"):
                here.extend(self.bad_numbers(name))
        for name in found:
            if name.startswith("docs/") and name not in self.linked:
                found[name].append("is linked by no other page")
        return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    found = Tree(root).offences()
    for name, here in found.items():
        for offence in here:
            print(f"{name}: {offence}", file=sys.stderr)
    failed = sum(bool(here) for here in found.values())
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
