#!/usr/bin/env python3
"""read_ranks.py JSON RANKS: the export of ring_exchange's trace has each rank's exchanges with their link, size and the program's line, and the waits of
its calls that need the others."""
import collections
import json
import sys

ranks = int(sys.argv[2])
with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
of_rank = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
assert len(of_rank) == ranks, of_rank
exchanges, waits, ends = collections.Counter(), collections.Counter(), {}
for event in events:
    args = event.get("args", {})
    if event["ph"] != "X":
        continue
    ends[event["pid"]] = max(ends.get(event["pid"], 0), event["ts"] + event["dur"])
    if args.get("call") == "HcclBatchSendRecv":
        assert args["link"] == "shared memory" and args["bytes"] == 2 * (4 << 20) and args["items"] == 2, args
        assert "ring_exchange.cpp:" in args["site"], args
        exchanges[event["pid"]] += 1
    waits[event["pid"], event["name"]] += 1
assert exchanges == {pid: ranks - 1 for pid in of_rank}, exchanges
for pid in of_rank:
    assert waits[pid, "HcclCommInitRootInfo waits: rank"] == 1, sorted(waits)
    assert waits[pid, "HcclCommDestroy waits: rank"] == 1, sorted(waits)
assert len(ends) == ranks and max(ends.values()) > 0
