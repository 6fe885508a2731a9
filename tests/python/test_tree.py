"""The drop-in tree, as scripts use it: PYTHONPATH in every spelling, set_env.sh."""
import os
import pathlib
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
