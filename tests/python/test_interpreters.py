"""One file for every python3 from 3.7 on: what the module needs of the interpreter, and whether every one that is found here runs it."""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import acl

FOLDER = pathlib.Path(__file__).parent
PROGRAM = FOLDER / "portable_program.py"
OLDEST = (3, 7)
PLACES = (
    "/usr/bin",
    "/usr/local/bin",
    "/opt/*/bin",
    "~/.pyenv/versions/*/bin",
    "~/.local/bin",
    "~/*conda3/bin",
    "~/*conda3/envs/*/bin",
)
WHO = (
    "import os, struct, sys, sysconfig; print(*sys.version_info[:2], os.path.realpath(sys.executable), struct.calcsize('P'),"
    " sys.implementation.name, int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))"
)


def bare_environment():
    drop = ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")
    return {name: value for name, value in os.environ.items() if name not in drop}


def who_is(python):
    """Version and place of an interpreter; None when it does not run, or when extension modules are not for it."""
    try:
        done = subprocess.run([python, "-c", WHO], env=bare_environment(), text=True, capture_output=True)
    except OSError:
        return None
    match = re.fullmatch(r"(\d+) (\d+) (.+) 8 cpython 0\n", done.stdout)
    return ((int(match[1]), int(match[2])), match[3]) if match else None


def other_interpreters():
    folders = os.environ.get("PATH", "").split(":") + [found for place in PLACES for found in glob.glob(os.path.expanduser(place))]
    names = {path for folder in folders for path in glob.glob(f"{folder}/python3*") if re.search(r"/python3(\.\d+)?$", path)}
    known = {who_is(name) for name in sorted(names)} - {None, who_is(sys.executable)}
    return sorted(one for one in known if one[0] >= OLDEST)


OTHERS = other_interpreters()


def test_the_module_needs_nothing_newer_than_3_7():
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed (package binutils)")
    lines = (FOLDER / "stable_abi_3_7.txt").read_text().splitlines()
    offered = {line for line in lines if not line.startswith("#")}
    symbols = subprocess.run(["nm", "-D", "--undefined-only", acl.__file__], text=True, capture_output=True, check=True).stdout
    needed = {name for name in re.findall(r" U (_?Py\w+)", symbols)}
    assert "PyModule_Create2" in needed, "nm shows what the module needs"
    assert needed - offered == set()


@pytest.mark.parametrize("python", [sys.executable] + ([place for _, place in OTHERS] or [None]))
def test_it_works_in(python):
    if python is None:
        pytest.skip("no other python3 from 3.7 on is on this machine")
    environment = dict(bare_environment(), PYTHONPATH=str(pathlib.Path(acl.__file__).parent), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([python, str(PROGRAM)], env=environment, text=True, capture_output=True)
    assert done.returncode == 0 and " works in 3." in done.stdout, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
