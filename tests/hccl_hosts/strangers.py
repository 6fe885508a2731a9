"""strangers.py PREFIX FOLDER: until FOLDER/stop appears, connects to every port that listens on hosts 0 and 1, from a host that is no
rank and from the ranks' own hosts, and says things that no rank says. Prints how often; nobody may have answered with a byte of use."""
import os
import random
import socket
import subprocess
import sys

prefix, folder = sys.argv[1:3]
random.seed(20261115)


def listening(host):
    text = subprocess.run(["ip", "netns", "exec", f"{prefix}-{host}", "ss", "-ltnH"], capture_output=True, text=True).stdout
    return sorted({int(line.split()[3].rsplit(":", 1)[1]) for line in text.splitlines()})


def sayings():
    yield b""
    yield bytes(random.randrange(256) for _ in range(random.randrange(1, 4000)))
    yield b"\0" * 5000
    yield b"\xff" * 5000
    # As a rank begins, for every purpose, with a proof of nothing.
    for purpose in range(0, 5):
        yield b"RWhccl\x02\n" + bytes(16) + (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + purpose.to_bytes(4, "little") + b"\x41" * 64


def knock(address):
    """Child process inside the namespace: one line per connection that was accepted."""
    accepted = refused = 0
    for saying in sayings():
        try:
            with socket.create_connection(address, timeout=0.05) as one:
                accepted += 1
                one.settimeout(0.02)
                one.sendall(saying)
                try:
                    one.recv(4096)
                except OSError:
                    pass
        except OSError:
            refused += 1
    return accepted, refused


def enter(host):
    descriptor = os.open(f"/run/netns/{prefix}-{host}", os.O_RDONLY)
    import ctypes
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(descriptor)


# Connections that say nothing and stay: the oldest of them are hung up on, and ranks get in all the same.
silent = []


def stay(address):
    try:
        silent.append(socket.create_connection(address, timeout=0.05))
    except OSError:
        pass
    if len(silent) > 300:
        silent.pop(0).close()


total = [0, 0]
while not os.path.exists(f"{folder}/stop"):
    for target in (0, 1):
        for port in listening(target):
            for source in (3, target):
                enter(source)
                accepted, refused = knock((f"10.99.0.{target + 1}", port))
                for _ in range(20):
                    stay((f"10.99.0.{target + 1}", port))
                total[0] += accepted
                total[1] += refused
print(f"{total[0]} connections, {total[1]} refused")
