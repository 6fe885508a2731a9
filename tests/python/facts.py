"""The table of documented functions: argument classes and the shape of what comes back (functions.tsv)."""
import csv
import dataclasses
import inspect
import pathlib

import acl


@dataclasses.dataclass(frozen=True)
class Fact:
    name: str
    # Letters of docs/pyacl.md; l list, d dict, c callable, a array, b bytes, t tuple; | optional from here, * any more.
    classes: str
    returns: str
    tier: str

    def find(self):
        found = acl
        for part in self.name.split(".")[1:]:
            found = getattr(found, part, None)
        return found

    @property
    def required(self):
        return self.classes.split("|")[0].rstrip("*")

    @property
    def open_ended(self):
        return self.classes.endswith("*")

    @property
    def items(self):
        """The parts of the result, or one for a bare one."""
        return self.returns.strip("()").split(", ")

    def __str__(self):
        return self.name


ZERO = {
    "P": 0,
    "Q": 0,
    "I": 0,
    "U": 0,
    "L": 0,
    "H": 0,
    "B": 0,
    "T": 0,
    "F": 0.0,
    "S": "x",
    "O": 0,
    "l": [],
    "d": {},
    "c": print,
    "b": b"",
    "t": (1,),
}


def _load():
    table = pathlib.Path(__file__).with_name("functions.tsv")
    with open(table, newline="", encoding="ascii") as file:
        return [Fact(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


ALL = _load()
OURS = [
    Fact("acl.rt.memcpy_batch", "llllll", "(fail_index, ret)", "ours"),
    Fact("acl.rt.memcpy_batch_async", "llllllP", "(fail_index, ret)", "ours"),
    Fact("acl.rt.launch_host_func", "PcO", "ret", "ours"),
    Fact("acl.mdl.ri_capture_begin", "PI", "ret", "ours"),
    Fact("acl.mdl.ri_capture_get_info", "P", "(status, model_ri, ret)", "ours"),
    Fact("acl.mdl.ri_capture_end", "P", "(model_ri, ret)", "ours"),
    Fact("acl.mdl.ri_execute_async", "PP", "ret", "ours"),
    Fact("acl.mdl.ri_destroy", "P", "ret", "ours"),
]


def all_functions():
    modules = [acl] + [value for value in vars(acl).values() if inspect.ismodule(value)]
    return [
        function
        for module in modules
        for name, function in sorted(vars(module).items())
        if inspect.isbuiltin(function) and not name.startswith("_")
    ]
