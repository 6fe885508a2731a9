"""What is alive in the library, asked through ctypes: one library, one set of handles, whoever calls."""
import ctypes

import acl  # loads the library first, from beside the module

NAMES = (
    "contexts",
    "streams",
    "events",
    "notifies",
    "deviceBlocks",
    "deviceBytes",
    "hostBlocks",
    "hostBytes",
    "registrations",
    "models",
    "managedBlocks",
    "managedBytes",
    "pools",
    "reservations",
)

library = ctypes.CDLL("libascendcl.so")


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in NAMES]


def counts():
    result = _Counts()
    assert library.ropewayGetLiveCounts(ctypes.byref(result)) == 0
    return {name: getattr(result, name) for name in NAMES}
