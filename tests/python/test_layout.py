"""How the module is built up, and what every one of its functions has in common."""
import importlib
import inspect
import sys

import pytest

import acl
import facts
from helpers import run_program

SUBMODULES = ("rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv")


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodules_are_attributes_and_importable(name):
    module = getattr(acl, name)
    assert inspect.ismodule(module)
    assert sys.modules[f"acl.{name}"] is module
    assert importlib.import_module(f"acl.{name}") is module
    assert module.__name__ == f"acl.{name}"


@pytest.mark.parametrize(
    "statement",
    [
        "import acl",
        "import acl.rt",
        "from acl import rt",
        "from acl.rt import memcpy",
        "import acl.util as util",
        "from acl.mdl import create_dataset",
    ],
)
def test_every_form_of_import_works_as_the_first_statement(statement):
    run_program(f"{statement}\nimport acl\nassert acl.rt.memcpy")


def test_unknown_submodules_are_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("acl.foo")


def test_it_is_a_module_and_not_a_package():
    assert not hasattr(acl, "__path__")
    assert acl.__doc__ and acl.rt.__doc__


def test_every_documented_function_is_there():
    missing = [fact.name for fact in facts.ALL if not callable(fact.find())]
    assert missing == []
    assert len(facts.ALL) == 404


def test_there_are_no_functions_that_nobody_documents():
    known = {fact.name for fact in facts.ALL} | {fact.name for fact in facts.OURS}
    there = {function.__module__ + "." + function.__name__ for function in facts.all_functions()}
    assert {name for name in there - known if not name.startswith("acl.blas.")} == set()


def test_it_exports_functions_and_nothing_else():
    for module in (acl, *(getattr(acl, name) for name in SUBMODULES)):
        for name in dir(module):
            if not name.startswith("__"):
                assert inspect.isbuiltin(getattr(module, name)) or (module is acl and name in SUBMODULES), name


def test_there_are_exactly_seven_util_functions():
    names = {name for name in dir(acl.util) if not name.startswith("_")}
    assert names == {
        "numpy_to_ptr",
        "numpy_contiguous_to_ptr",
        "ptr_to_numpy",
        "bytes_to_ptr",
        "ptr_to_bytes",
        "start_thread",
        "stop_thread",
    }


def test_names_that_do_not_exist_are_absent():
    for name in (
        "memcpy_2d",
        "set_current_context",
        "get_current_context",
        "set_op_execute_timeout",
        "un_subscribe_report",
    ):
        assert not hasattr(acl.rt, name)
    assert not hasattr(acl, "ACL_MEMCPY_HOST_TO_DEVICE") and not hasattr(acl, "__version__")


@pytest.mark.parametrize("function", facts.all_functions(), ids=lambda function: function.__name__)
def test_every_function_has_a_docstring_and_a_signature(function):
    assert "Returns " in function.__doc__
    assert inspect.signature(function)


def test_import_touches_no_device():
    run_program(
        """
        import ctypes, os
        before = len(os.listdir("/proc/self/task"))
        import acl
        assert len(os.listdir("/proc/self/task")) == before, "the import started threads"
        assert acl.rt.get_context()[1] == 107002
    """
    )


def test_calls_before_init_work():
    run_program(
        """
        import acl
        assert acl.rt.get_run_mode() == (1, 0)
        assert acl.get_soc_name().startswith("Ascend")
        assert acl.get_version()[-1] == 0
        assert acl.data_type_size(0) == 4
        assert acl.float16_to_float(acl.float_to_float16(1.5)) == 1.5
        assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(b"abc"), 3) == b"abc"
        acl.app_log(1, "100 % before init")
    """
    )
