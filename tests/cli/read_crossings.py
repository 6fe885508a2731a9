#!/usr/bin/env python3
"""read_crossings.py JSON PROCESSES FROM TO: an export has arrows from each process to each other, each
from a slice of the call FROM to one of the call TO, and none that begins after what it leads to has ended."""
import collections
import json
import sys

processes, calls = int(sys.argv[2]), sys.argv[3:5]
with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
slices = collections.defaultdict(list)
for event in events:
    if event["ph"] == "X":
        slices[event["pid"], event["tid"], event["ts"]].append(event)


def slice_at(event):
    found = [one for one in slices[event["pid"], event["tid"], event["ts"]] if one.get("args", {}).get("call") in calls]
    assert found, event
    return found[0]


begins = {event["id"]: event for event in events if event["ph"] == "s"}
ways = collections.Counter()
for end in (event for event in events if event["ph"] == "f"):
    begin = begins[end["id"]]
    if begin["pid"] == end["pid"]:
        continue
    first, last = slice_at(begin), slice_at(end)
    assert [first["args"]["call"], last["args"]["call"]] == calls, (first, last)
    assert first["ts"] <= last["ts"] + last["dur"], (first, last)
    ways[begin["pid"], end["pid"]] += 1
assert len(ways) == processes * (processes - 1), ways
print(dict(ways))
