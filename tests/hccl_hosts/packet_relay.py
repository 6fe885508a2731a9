#!/usr/bin/env python3
"""packet_relay.py PREFIX READY MILLISECONDS PERCENT SEED [nat]: a path between hosts 0 and 1 of hosts.sh, packet by packet, over a TUN device in each of
them (10.98.0.1 and 10.98.0.2). Packets take MILLISECONDS each way, and PERCENT of them are lost. With nat, host 1 is behind a translation of
addresses: host 0 sees it as 10.98.0.9, cannot reach the address that it has, and cannot call it. Writes READY when the path is there; ends when READY
is removed."""
import fcntl
import heapq
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time

prefix, ready, delay, percent, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]) / 1000, int(sys.argv[4]), int(sys.argv[5])
nat = sys.argv[6:] == ["nat"]
OWN, SEEN, PEER = (socket.inet_aton(a) for a in ("10.98.0.2", "10.98.0.9", "10.98.0.1"))
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def open_tun(host):
    name = f"{prefix}t{host}"
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    space = f"{prefix}-{host}"
    run = lambda *words: subprocess.run(words, check=True)
    run("ip", "link", "set", name, "netns", space)
    run("ip", "-n", space, "link", "set", name, "name", "tun0")
    run("ip", "-n", space, "addr", "add", f"10.98.0.{host + 1}/24", "dev", "tun0")
    run("ip", "-n", space, "link", "set", "tun0", "up", "mtu", "1400")
    return fd


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_addresses(packet, source, target):
    """The packet of IPv4 and TCP with other addresses."""
    size = (packet[0] & 15) * 4
    head = packet[:10] + b"\0\0" + source + target + packet[20:size]
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    body = packet[size:]
    body = body[:16] + b"\0\0" + body[18:]
    sum_ = checksum(source + target + struct.pack("!HH", 6, len(body)) + body)
    return head + body[:16] + struct.pack("!H", sum_) + body[18:]


def translate(packet, from_inside):
    """What comes out at the other side; nothing if it does not pass."""
    if packet[0] >> 4 != 4 or packet[9] != 6:
        return None
    if from_inside:
        return with_addresses(packet, SEEN, packet[16:20])
    flags = packet[(packet[0] & 15) * 4 + 13]
    if packet[16:20] != SEEN or (flags & 2 and not flags & 16):
        return None
    return with_addresses(packet, packet[12:16], OWN)


dice = random.Random(seed)
tuns = [open_tun(0), open_tun(1)]
open(ready, "w").close()
waiting, count = [], 0
while os.path.exists(ready):
    now = time.monotonic()
    while waiting and waiting[0][0] <= now:
        _, _, to, packet = heapq.heappop(waiting)
        try:
            os.write(to, packet)
        except OSError:
            pass
    limit = min(0.2, waiting[0][0] - now if waiting else 0.2)
    for fd in select.select(tuns, [], [], max(0, limit))[0]:
        inside = fd == tuns[1]
        packet = os.read(fd, 65536)
        if nat:
            packet = translate(packet, inside)
        if packet is None or dice.random() * 100 < percent:
            continue
        count += 1
        heapq.heappush(waiting, (time.monotonic() + delay, count, tuns[0] if inside else tuns[1], packet))
