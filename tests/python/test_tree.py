"""The drop-in tree, as scripts use it: PYTHONPATH in every spelling, set_env.sh, whatever python3 comes first."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import acl

TREE = pathlib.Path(acl.__file__).resolve().parents[2]
PROGRAM = "import acl, acl.rt; print(acl.__file__, acl.rt.get_run_mode())"

pytestmark = pytest.mark.skipif(not (TREE / "set_env.sh").exists(), reason="acl was not loaded from a drop-in tree")


def bare_environment():
    drop = ("PYTHONPATH", "LD_LIBRARY_PATH", "ASCEND_HOME_PATH")
    return {name: value for name, value in os.environ.items() if name not in drop}


def in_bash(command, *arguments):
    words = ["bash", "-euc", command, "bash", *map(str, arguments)]
    return subprocess.run(words, env=bare_environment(), text=True, capture_output=True)


@pytest.mark.parametrize(
    "folder",
    [
        "python/site-packages",
        "python/site-packages/acl",
        "pyACL/python/site-packages/acl",
        "pyACL/python/site-packages",
    ],
)
def test_pythonpath_in_every_spelling(folder):
    environment = dict(bare_environment(), PYTHONPATH=str(TREE / folder))
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, text=True, capture_output=True)
    assert done.stdout == f"{TREE / folder}/acl.abi3.so (1, 0)\n", done.stderr


@pytest.mark.parametrize("script", ["set_env.sh", "bin/setenv.bash"])
def test_sourcing_the_environment(script):
    done = in_bash('source "$1" && exec "$2" -c "$3"', TREE / script, sys.executable, PROGRAM)
    assert done.stdout == f"{TREE}/python/site-packages/acl.abi3.so (1, 0)\n", done.stderr


def test_whatever_python3_comes_first_on_path():
    """The stable ABI: one file for every python3 from 3.10 on."""
    python = shutil.which("python3", path=bare_environment()["PATH"])
    version = subprocess.run(
        [python, "-c", "import sys; print(sys.version_info >= (3, 10))"], text=True, capture_output=True
    )
    if version.stdout != "True\n":
        pytest.skip(f"{python} is older than 3.10")
    done = in_bash('source "$1" && exec python3 -c "$2"', TREE / "set_env.sh", PROGRAM)
    assert done.stdout == f"{TREE}/python/site-packages/acl.abi3.so (1, 0)\n", done.stderr


def test_the_module_needs_nothing_private_of_the_interpreter():
    """Private symbols come and go with versions; the two that every module needs are part of the stable ABI."""
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    symbols = subprocess.run(
        ["nm", "-D", "--undefined-only", acl.__file__], text=True, capture_output=True, check=True
    ).stdout
    interpreter = [line.split()[-1] for line in symbols.splitlines() if " Py" in line or " _Py" in line]
    assert interpreter and {name for name in interpreter if name.startswith("_Py")} <= {"_Py_NoneStruct", "_Py_Dealloc"}
