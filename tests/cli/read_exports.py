#!/usr/bin/env python3
"""read_exports.py JSON PFTRACE PROCESSES: both exports of one trace, decoded as their viewers do, tell the same.

Perfetto's file is held against the part of its schema that is used: an unknown field, a wrong wire type, a slice that ends and did not begin, an
arrow without a begin, or a text that was never interned fails.
"""
import collections
import json
import struct
import sys

# Message: field: (name, type); a type that is no wire type is another message.
SCHEMA = {
    "Trace": {1: ("packet", "TracePacket")},
    "TracePacket": {8: ("timestamp", "varint"), 10: ("sequence", "varint"), 11: ("event", "TrackEvent"), 12: ("interned", "InternedData"),
                    13: ("flags", "varint"), 60: ("track", "TrackDescriptor")},
    "TrackDescriptor": {1: ("uuid", "varint"), 2: ("name", "text"), 3: ("process", "ProcessDescriptor"), 4: ("thread", "ThreadDescriptor"),
                        5: ("parent", "varint"), 8: ("counter", "CounterDescriptor")},
    "ProcessDescriptor": {1: ("pid", "varint"), 6: ("name", "text")},
    "ThreadDescriptor": {1: ("pid", "varint"), 2: ("tid", "varint"), 5: ("name", "text")},
    "CounterDescriptor": {3: ("unit", "varint")},
    "TrackEvent": {4: ("annotation", "DebugAnnotation"), 9: ("type", "varint"), 10: ("name", "varint"), 11: ("track", "varint"),
                   30: ("value", "varint"), 47: ("flow", "fixed64"), 48: ("flow_end", "fixed64")},
    "DebugAnnotation": {1: ("name", "varint"), 3: ("number", "varint"), 17: ("text", "varint")},
    "InternedData": {2: ("event_name", "Entry"), 3: ("annotation_name", "Entry"), 29: ("annotation_text", "Entry")},
    "Entry": {1: ("number", "varint"), 2: ("text", "text")},
}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def decode(kind, data):
    message = collections.defaultdict(list)
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        name, wanted = SCHEMA[kind][tag >> 3]
        if tag & 7 == 0:
            assert wanted == "varint", (kind, name)
            value, at = varint(data, at)
        elif tag & 7 == 1:
            assert wanted == "fixed64", (kind, name)
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            assert tag & 7 == 2 and wanted not in ("varint", "fixed64"), (kind, name)
            length, at = varint(data, at)
            assert at + length <= len(data), (kind, name)
            inner, at = data[at:at + length], at + length
            value = inner.decode() if wanted == "text" else decode(wanted, inner)
        message[name].append(value)
    return message


def read_perfetto(path):
    with open(path, "rb") as file:
        packets = decode("Trace", file.read())["packet"]
    tracks, texts, open_slices = {}, {}, collections.defaultdict(int)
    told = collections.Counter()
    last = collections.defaultdict(int)
    flows, flow_ends = set(), set()
    for packet in packets:
        for track in packet["track"]:
            if track["parent"]:
                assert track["parent"][0] in tracks
            tracks[track["uuid"][0]] = track
            told["track"] += 1
            told["process"] += len(track["process"])
        for data in packet["interned"]:
            for table in data:
                for entry in data[table]:
                    texts[table, entry["number"][0]] = entry["text"][0]
        for event in packet["event"]:
            kind, track = event["type"][0], event["track"][0]
            assert track in tracks
            assert packet["timestamp"][0] >= last[track], "events of a track are in order"
            last[track] = packet["timestamp"][0]
            told[kind] += 1
            open_slices[track] += {BEGIN: 1, END: -1}.get(kind, 0)
            assert open_slices[track] >= 0
            if kind in (BEGIN, INSTANT):
                assert ("event_name", event["name"][0]) in texts
            if kind == COUNTER:
                assert tracks[track]["counter"] and event["value"]
            for annotation in event["annotation"]:
                assert ("annotation_name", annotation["name"][0]) in texts
                assert annotation["number"] or ("annotation_text", annotation["text"][0]) in texts
            flows.update(event["flow"])
            flow_ends.update(event["flow_end"])
    assert not any(open_slices.values())
    assert flow_ends <= flows and flow_ends
    told["slices"] = told[BEGIN] + told[INSTANT]
    told["flows"] = len(flow_ends)
    return told


def read_json(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    told = collections.Counter(event["ph"] for event in events)
    named = {(event["pid"], event.get("tid")) for event in events if event["ph"] == "M"}
    assert all((event["pid"], event.get("tid")) in named for event in events if event["ph"] in "Xsf")
    assert {event["id"] for event in events if event["ph"] == "f"} <= {event["id"] for event in events if event["ph"] == "s"}
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in events if event["ph"] == "X")
    told["process"] = sum(event["name"] == "process_name" for event in events if event["ph"] == "M")
    return told


def main():
    as_json, perfetto = read_json(sys.argv[1]), read_perfetto(sys.argv[2])
    assert as_json["process"] == perfetto["process"] == int(sys.argv[3]), (as_json, perfetto)
    assert as_json["X"] == perfetto["slices"] > 0, (as_json, perfetto)
    assert as_json["C"] == perfetto[COUNTER] > 0, (as_json, perfetto)
    assert as_json["f"] == perfetto["flows"] > 0, (as_json, perfetto)


main()
