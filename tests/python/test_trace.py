"""What a trace says of a Python program: the lines of the program, and not of the module."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = """\
import acl

def copy(device, host, stream):
    return acl.rt.memcpy_async(device, 4096, host, 4096, 1, stream)  # copy

assert acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
device, ret = acl.rt.malloc(4096, 0)
host, ret = acl.rt.malloc_host(4096)
for i in range(100):
    assert copy(device, host, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.memcpy(device, 4096, host, 4096, 1) == 0  # now
"""


def test_sites_are_lines_of_the_program(tmp_path):
    if "ROPEWAY_TEST_TREE" not in os.environ:
        pytest.skip("needs the tree, for its command")
    ropeway = pathlib.Path(os.environ["ROPEWAY_TEST_TREE"]) / "bin" / "ropeway"
    program, trace, exported = tmp_path / "step.py", tmp_path / "t.rwt", tmp_path / "t.json"
    program.write_text(PROGRAM)
    subprocess.run([sys.executable, program], check=True, env={**os.environ, "ROPEWAY_TRACE": str(trace)})
    subprocess.run([ropeway, "trace", "export", trace, "-o", exported], check=True)
    events = json.loads(exported.read_text())["traceEvents"]
    sites = [event["args"]["site"] for event in events if event.get("args", {}).get("call") == "aclrtMemcpyAsync"]
    line = PROGRAM.splitlines().index("    return acl.rt.memcpy_async(device, 4096, host, 4096, 1, stream)  # copy") + 1
    assert sites == [f"{program}:{line}"] * 100
