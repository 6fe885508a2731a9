"""What every test of the module acl stands on: a device, a stream, and the certainty that nothing is left behind."""
import faulthandler
import os

import pytest

import acl
import live

# A test that hangs is to leave the stacks of its Python threads behind; the watchdog around us shows only C. The full run
# of test_references.py may take longer.
if "ROPEWAY_TEST_ROUNDS" not in os.environ:
    faulthandler.dump_traceback_later(240, exit=True)


def pytest_configure(config):
    # Under ctest a missing NumPy would turn tests into skips that nobody reads.
    if "ROPEWAY_TEST_TREE" in os.environ:
        import numpy  # noqa: F401


def pytest_report_header(config):
    return f"acl: {acl.__file__}"


@pytest.fixture(autouse=True)
def nothing_left_behind():
    acl.get_recent_err_msg()
    acl.rt.get_last_error(0)
    before = live.counts()
    yield
    acl.get_recent_err_msg()
    acl.rt.get_last_error(0)
    assert live.counts() == before


@pytest.fixture
def device():
    """Device 0 is set on the test's thread, and forced down at the end."""
    assert acl.rt.set_device(0) == 0
    yield 0
    assert acl.rt.reset_device_force(0) == 0


@pytest.fixture
def stream(device):
    handle, ret = acl.rt.create_stream()
    assert ret == 0
    yield handle
    assert acl.rt.destroy_stream_force(handle) == 0
