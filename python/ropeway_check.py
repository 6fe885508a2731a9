"""A plugin for pytest: a test in which `ropeway check` finds something fails, and no other.

    ropeway check -- python3 -m pytest -p ropeway_check --ropeway-check tests
"""
import ctypes

import pytest


def _layer():
    try:
        errors = ctypes.CDLL(None).ropewayCheckErrors
    except AttributeError:
        return None
    errors.restype = ctypes.c_ulong
    return errors


def pytest_addoption(parser):
    parser.addoption("--ropeway-check", action="store_true", help="fail each test in which ropeway check finds something")


def pytest_configure(config):
    if config.getoption("--ropeway-check") and _layer() is None:
        raise pytest.UsageError("--ropeway-check: the layer is not loaded; start it as: ropeway check -- python3 -m pytest ...")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    errors = _layer() if item.config.getoption("--ropeway-check") else None
    before = errors() if errors else 0
    yield
    item.ropeway_errors = errors() - before if errors else 0


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    found = getattr(item, "ropeway_errors", 0)
    if call.when == "call" and report.passed and found:
        report.outcome = "failed"
        report.longrepr = f"ropeway check found {found} error{'s' if found > 1 else ''}"
