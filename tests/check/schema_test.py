#!/usr/bin/env python3
"""schema_test.py ROPEWAY CORPUS SCHEMA RULES: every finding of `ropeway check --json` is as the schema says, of each family of rules, with and without
stacks; and what is not, is refused.
"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}
KNOWN = {"$schema", "title", "description", "type", "required", "additionalProperties", "properties", "pattern", "minLength", "minItems", "items",
         "minimum"}
PROGRAMS = ["page_rw_race_001", "page_rw_host_001", "page_rw_host_003", "page_rw_life_001", "page_rw_life_005", "page_rw_batch_001",
            "page_rw_desc_001", "page_rw_event_002", "page_rw_graph_001", "page_rw_leak_001", "page_rw_tip_001", "page_rw_tip_005"]


def problems(value, schema, path="$"):
    """What a value has that its schema does not allow: the few words of JSON Schema that ours uses."""
    unknown = set(schema) - KNOWN
    if unknown:
        return [f"{path}: the schema has words that are not understood here: {sorted(unknown)}"]
    wanted = TYPES[schema["type"]]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        return [f"{path}: {value!r} is not of type {schema['type']}"]
    found = []
    if wanted is dict:
        found += [f"{path}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, part in value.items():
            if name in schema["properties"]:
                found += problems(part, schema["properties"][name], f"{path}.{name}")
            elif not schema.get("additionalProperties", True):
                found.append(f"{path}: nobody has heard of {name}")
    if wanted is list:
        if len(value) < schema.get("minItems", 0):
            found.append(f"{path}: {len(value)} items are too few")
        for number, part in enumerate(value):
            found += problems(part, schema["items"], f"{path}[{number}]")
    if wanted is str and (len(value) < schema.get("minLength", 0) or not re.search(schema.get("pattern", ""), value)):
        found.append(f"{path}: {value!r} is not such a string")
    if wanted is int and value < schema.get("minimum", value):
        found.append(f"{path}: {value} is too small")
    return found


def findings(ropeway, corpus, program, flags):
    with tempfile.NamedTemporaryFile() as told:
        subprocess.run([ropeway, "check", "--json", "--leaks", "--host-access=on", "--output", told.name, *flags, "--", corpus, program + ".wrong"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, ROPEWAY_SCHEDULE="fast"), check=False)
        return [json.loads(line) for line in told]


def broken(finding):
    """The same with one thing wrong each."""
    for name in finding:
        yield {key: value for key, value in finding.items() if key != name}
    for name, value in [("rule", "RACE"), ("error", 1), ("pid", True), ("pid", "7"), ("text", []), ("text", [3]), ("operations", {}), ("more", 1)]:
        yield dict(finding, **{name: value})
    for name in finding["operations"][0]:
        other = copy.deepcopy(finding)
        del other["operations"][0][name]
        yield other


def main():
    ropeway, corpus, schema_file, rules_file = sys.argv[1:]
    with open(schema_file, encoding="utf-8") as file:
        schema = json.load(file)
    with open(rules_file, encoding="utf-8") as file:
        titles = dict(re.findall(r'"(RW-[A-Z]+-\d{3})", "[A-Z]+", \w+, "([^"]+)"', file.read()))
    wrong = []
    for program in PROGRAMS:
        rule = program[len("page_"):].upper().replace("_", "-")
        for flags in ([], ["--stacks"]):
            found = findings(ropeway, corpus, program, flags)
            wrong += [f"{program}: {text}" for one in found for text in problems(one, schema)]
            wrong += [f"{program}: {one['rule']} is titled {one['title']!r}" for one in found if titles.get(one["rule"]) != one["title"]]
            mine = [one for one in found if one["rule"] == rule]
            if not mine:
                wrong.append(f"{program}: no finding of {rule}")
            elif any((one["operations"][0]["stack"] == []) != (flags == []) for one in mine):
                wrong.append(f"{program}: stacks with {flags}")
    refused = [one for one in broken(mine[0]) if not problems(one, schema)] if not wrong else []
    wrong += [f"the schema takes {json.dumps(one)}" for one in refused]
    print("\n".join(wrong))
    print(f"{2 * len(PROGRAMS)} runs, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
