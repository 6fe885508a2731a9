#!/usr/bin/env python3
"""settings_page.py LIBASCENDCL [--check]: writes the tables of docs/config.md from the settings that the library declares
(src/base/settings.h). With --check nothing is written, and a page that says something else is an error; closes with "N passed, M failed",
counted in lines.
"""
import ctypes
import difflib
import itertools
import os
import re
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "config.md")
MARKS = "<!-- written by tools/settings_page.py: do not edit -->\n", "<!-- end of what is written -->\n"


class Setting(ctypes.Structure):
    """ropewaySetting of include/ropeway/ropeway.h."""
    _fields_ = [(name, ctypes.c_char_p) for name in ("variable", "stands_for", "standard", "meaning", "page", "library", "placeholder")] + [
        ("wanted", ctypes.c_char * 64), ("secret", ctypes.c_int32), ("usable", ctypes.c_int32)]

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return value.decode() if isinstance(value, bytes) else value


def settings(library):
    for index in itertools.count():
        setting = Setting()
        if library.ropewayGetSetting(ctypes.c_size_t(index), None, ctypes.byref(setting)) != 0 or setting.variable is None:
            return
        yield setting


def flag(setting):
    ours = setting.variable.startswith("ROPEWAY_") and not setting.secret
    return f"`{setting.variable.replace('ROPEWAY_', '--').replace('_', '-').lower()}`" if ours else ""


def line(setting, stand_ins):
    variables = ", else ".join(f"`{name}`" for name in [setting.variable] + stand_ins.get(setting.variable, []))
    values = setting.placeholder.lower() if setting.wanted == "a text" else setting.wanted
    # Names of variables and of functions stand out.
    meaning = re.sub(r"\b([A-Z]+(_[A-Z]+)+|acl\w+[A-Z]\w+)\b", r"`\1`", setting.meaning)
    more = f" ([{setting.page[:-3].replace('_', '-')}]({setting.page}))" if setting.page else ""
    return f"| {variables} | {flag(setting)} | {values} | {setting.standard or '-'} | {meaning}{more} |\n"


def render(library):
    known = list(settings(library))
    stand_ins = {}
    for setting in known:
        stand_ins.setdefault(setting.stands_for, []).append(setting.variable)
    text = ""
    for reader, group in itertools.groupby((one for one in known if one.stands_for is None), lambda one: one.library):
        text += f"\nRead by {reader if ' ' in reader else '`' + reader + '`'}:\n\n"
        text += "| variable | flag | values | default | meaning |\n|---|---|---|---|---|\n"
        text += "".join(line(setting, stand_ins) for setting in group)
    return text + "\n"


def main():
    with open(PAGE, encoding="utf-8") as file:
        old = file.read()
    head, _, rest = old.partition(MARKS[0])
    tail = rest.partition(MARKS[1])[2]
    new = head + MARKS[0] + render(ctypes.CDLL(os.path.abspath(sys.argv[1]))) + MARKS[1] + tail
    if "--check" not in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(new)
        return 0
    changes = [one for one in difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="") if one[:2] not in ("--", "++", "@@")]
    print(*changes, sep="\n", end="\n" if changes else "")
    if changes:
        print("docs/config.md is not what src/base/settings.h says: run tools/settings_page.py LIBASCENDCL and commit the result")
    print(f"{new.count(chr(10)) - len(changes)} passed, {len(changes)} failed")
    return 1 if changes else 0


sys.exit(main())
