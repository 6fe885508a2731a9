#!/usr/bin/env python3
"""release.py VERSION [ROOT]: makes the tree (or the one under ROOT) ready for the tag of a release: the number goes into include/ropeway/ropeway.h and into the
examples for CI, and what CHANGELOG.md has under "Unreleased" gets it as its heading, with subjects that came twice put together. docs/versions.md says which
number is due. Changes nothing where something is wrong, and makes no commit and no tag: it closes with the commands for these.
"""
import os
import re
import sys

HEADER, CHANGELOG = "include/ropeway/ropeway.h", "CHANGELOG.md"
CI = ("packaging/ci/github-actions.yml", "packaging/ci/gitlab-ci.yml")


def by_subject(text):
    """The entries of a section, each subject once, in the order in which they came first."""
    subjects = {}
    for part in re.split(r"(?m)^(?=### )", text.strip()):
        if not part:
            continue
        heading, _, entries = part.partition("\n")
        name, known = subjects.setdefault(heading.lower(), (heading, []))
        known.append(re.sub(r"\n{2,}", "\n", entries.strip("\n")))
    return "\n\n".join(name + "\n" + "\n".join(entries) for name, entries in subjects.values()) + "\n"


def as_number(version):
    """As ROPEWAY_VERSION has it."""
    major, minor, patch = (int(number) for number in version)
    return major * 10000 + minor * 100 + patch


def released(changelog, version):
    match = re.search(r"(?ms)^## Unreleased\n(.*?)(?=^## )", changelog)
    if match is None or "- " not in match[1]:
        sys.exit(f"release.py: {CHANGELOG} has nothing under '## Unreleased': there is nothing to release")
    return changelog[: match.start()] + f"## {version}\n\n{by_subject(match[1])}\n" + changelog[match.end():]


def main():
    version = sys.argv[1] if len(sys.argv) > 1 else ""
    numbers = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    if numbers is None:
        sys.exit(f"release.py: '{version}' is no version: say one such as 0.3.0")
    root = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    files = {}
    for name in (HEADER, CHANGELOG, *CI):
        with open(os.path.join(root, name), encoding="utf-8") as file:
            files[name] = file.read()
    old = re.findall(r"#define ROPEWAY_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", files[HEADER])
    before = ".".join(old)
    if as_number(numbers.groups()) <= as_number(old):
        sys.exit(f"release.py: {version} does not come behind {before}, which {HEADER} has")
    files[CHANGELOG] = released(files[CHANGELOG], version)
    for name, number in zip(("MAJOR", "MINOR", "PATCH"), numbers.groups()):
        files[HEADER] = re.sub(rf"(#define ROPEWAY_VERSION_{name}) \d+", rf"\1 {number}", files[HEADER])
    files[HEADER] = files[HEADER].replace(f"{as_number(old)} for {before}", f"{as_number(numbers.groups())} for {version}")
    for name in (HEADER, *CI):
        files[name] = files[name].replace(before, version)
    for name, text in files.items():
        with open(os.path.join(root, name), "w", encoding="utf-8") as file:
            file.write(text)
    print(f"release.py: {version} is ready: read the section in {CHANGELOG}, then\n"
          f"  make abi && make test && git commit -am 'release: Ropeway {version}' && git tag v{version}")


if __name__ == "__main__":
    main()
