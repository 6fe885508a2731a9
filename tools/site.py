#!/usr/bin/env python3
"""site.py OUTPUT: writes the pages of docs/ and of the root as a web site, and looks after every link of it. Needs python3-markdown (Debian). Closes with
"N passed, M failed", counted in pages. 77: no python3-markdown.
"""
import html
import os
import re
import shutil
import sys
from html.parser import HTMLParser

sys.dont_write_bytecode = True
from check_pages import anchor

try:
    import markdown
except ImportError:
    print("NOT MADE: needs python3-markdown (tools/packages.sh site)")
    sys.exit(77)

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
MENU = (("Quick start", "docs/quick_start.md"), ("Errors", "docs/troubleshooting.md"), ("Settings", "docs/config.md"), ("Rules", "docs/rules/README.md"),
        ("All pages", "docs/README.md"))
EXTENSIONS = ["tables", "fenced_code", "sane_lists", "toc"]

STYLE = """
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 4rem; font: 1rem/1.5 system-ui, sans-serif; color: #222; background: #fff }
nav { padding: .8rem 0; border-bottom: 1px solid #ccc } nav a { margin-right: 1.2rem }
a { color: #0645ad } h1, h2, h3 { line-height: 1.2 }
code, pre { font: .9em/1.4 ui-monospace, monospace } pre { overflow-x: auto; padding: .7rem; background: #f4f4f4 }
table { border-collapse: collapse; display: block; overflow-x: auto } th, td { border: 1px solid #ccc; padding: .25rem .5rem; text-align: left; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } a { color: #8ab4f8 } pre { background: #242424 } nav, th, td { border-color: #444 } }
"""
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title} - Ropeway</title>
<link rel="stylesheet" href="{up}style.css">
<nav>{menu}</nav>
{body}
</html>
"""


def pages():
    yield from TOP
    for path, _, names in os.walk(os.path.join(ROOT, "docs")):
        yield from (os.path.relpath(os.path.join(path, name), ROOT) for name in sorted(names) if name.endswith(".md"))


def place(page):
    """Where a page lies in the site: README.md is what its folder shows."""
    name = "index.html" if os.path.basename(page) == "README.md" else os.path.basename(page)[:-3] + ".html"
    return os.path.join(os.path.dirname(page), name)


def link(page, target, known):
    """What a link to another page becomes; those to files that are no pages stay words."""
    path, mark, heading = target.partition("#")
    if re.match(r"[a-z]+:", target) or not path:
        return target
    found = os.path.normpath(os.path.join(os.path.dirname(page), path))
    return os.path.relpath(place(found), os.path.dirname(page) or ".") + mark + heading if found in known else None


def convert(page, text, known):
    text = re.sub(r"^(```\w+).*$", r"\1", text, flags=re.MULTILINE)  # words for tests/docs
    settings = {"toc": {"slugify": lambda heading, _: anchor(heading)}}
    body = markdown.markdown(text, extensions=EXTENSIONS, extension_configs=settings)

    def rewrite(match):
        target = link(page, html.unescape(match[1]), known)
        return f'<a href="{html.escape(target)}">{match[2]}</a>' if target is not None else match[2]

    body = re.sub(r'<a href="([^"]*)">(.*?)</a>', rewrite, body, flags=re.DOTALL)
    here = os.path.dirname(page) or "."
    menu = f'<a href="{os.path.relpath("index.html", here)}">Ropeway</a>' + "".join(
        f'<a href="{os.path.relpath(place(target), here)}">{name}</a>' for name, target in MENU)
    title = html.escape(re.search(r"^# (.*)$", text, re.MULTILINE)[1])
    return PAGE.format(title=title, up=os.path.relpath(".", here) + "/", menu=menu, body=body)


class Names(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.add(values.get("id"))
        if "href" in values:
            self.links.append(values["href"])


def offences(made):
    read = {name: Names(text) for name, text in made.items()}
    for name, here in read.items():
        for target in here.links:
            path, _, heading = target.partition("#")
            if re.match(r"[a-z]+:", target) or path.endswith("style.css"):
                continue
            there = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if there not in read:
                yield name, f"links to {target}, which is not there"
            elif heading and heading not in read[there].names:
                yield name, f"links to {target}, and there is no such heading"


def main():
    output = sys.argv[1]
    known = set(pages())
    made = {}
    for page in sorted(known):
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            made[place(page)] = convert(page, file.read(), known)
    shutil.rmtree(output, ignore_errors=True)
    for name, text in [*made.items(), ("style.css", STYLE)]:
        path = os.path.join(output, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    found = list(offences(made))
    for name, offence in found:
        print(f"FAILED {name} {offence}")
    bad = len({name for name, _ in found})
    print(f"{len(made) - bad} passed, {bad} failed: {os.path.join(output, 'index.html')}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
