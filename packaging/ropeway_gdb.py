"""The gdb command `info ropeway`: what the streams of the program do and wait for, as `ropeway ps` tells it of a running process.

    (gdb) source .../share/ropeway/ropeway_gdb.py

works for running programs and core files alike, without debug information. All that is known about the library's state is in the command
`ropeway`, which this script runs and reads memory for.
"""
import os
import shutil
import subprocess
import tempfile

import gdb

HERE = os.path.dirname(os.path.realpath(__file__))


def find_command():
    """The command of the tree that this script belongs to; else the one that the shell would find."""
    for folder in (os.environ.get("ROPEWAY_BIN", ""), os.path.join(HERE, "..", "..", "bin"), os.path.join(HERE, "..", "bin")):
        path = os.path.join(folder, "ropeway")
        if folder and os.access(path, os.X_OK):
            return path
    path = shutil.which("ropeway")
    if path is None:
        raise gdb.GdbError("there is no command ropeway beside %s or in PATH; put its folder into PATH or ROPEWAY_BIN" % HERE)
    return path


def find_table():
    try:
        return int(gdb.parse_and_eval("(unsigned long)&ropewayStateTable"))
    except gdb.error:
        raise gdb.GdbError("no libascendcl.so of Ropeway is loaded here (there is no ropewayStateTable)")


def answer(question):
    """One question is "ADDRESS SIZE"; what is there, or a byte 0."""
    address, size = map(int, question.split())
    try:
        return b"\1" + bytes(gdb.selected_inferior().read_memory(address, size))
    except gdb.error:
        return b"\0"


class InfoRopeway(gdb.Command):
    """What Ropeway's streams do and wait for, and the memory of its devices.
info ropeway [--json]"""

    def __init__(self):
        super().__init__("info ropeway", gdb.COMMAND_STATUS)

    def invoke(self, arguments, from_tty):
        questions, asking = os.pipe()
        command = [find_command(), "ps", str(gdb.selected_inferior().pid or 1), "--debugger", str(find_table()), str(asking)]
        with tempfile.TemporaryFile("w+") as said, os.fdopen(questions) as asked:
            process = subprocess.Popen(command + gdb.string_to_argv(arguments), stdin=subprocess.PIPE, stdout=said, stderr=said, pass_fds=(asking,))
            os.close(asking)
            for question in asked:
                process.stdin.write(answer(question))
                process.stdin.flush()
            process.stdin.close()
            process.wait()
            said.seek(0)
            gdb.write(said.read())


InfoRopeway()
