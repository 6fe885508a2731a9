#!/usr/bin/env python3
"""What Python adds to a submit: acl.rt.memcpy_async of 4 KiB beside the C call, in one run, and the time of the import.

    source build/cann/set_env.sh && /usr/bin/python3 bench/python_submit.py

The C side is python_submit.c, compiled by cc into a temporary folder and run in turns with the Python side. Exits
with 1 when a goal is missed.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import acl

SIZE, COPIES, ROUNDS, TURNS = 4096, 1000, 60, 9
ADDED_NS_LIMIT, IMPORT_MS_LIMIT = 1000, 50


def build_c_side(folder):
    source = pathlib.Path(__file__).with_suffix(".c")
    tree = pathlib.Path(acl.__file__).resolve().parents[2]
    program = pathlib.Path(folder) / "python_submit"
    subprocess.run(
        [
            "cc",
            "-O2",
            f"-I{tree}/include",
            str(source),
            "-o",
            str(program),
            f"-L{tree}/lib64",
            "-lascendcl",
            f"-Wl,-rpath,{tree}/lib64",
        ],
        check=True,
    )
    return program


def c_submit_ns(program):
    return float(subprocess.run([program, str(ROUNDS), str(COPIES)], check=True, capture_output=True, text=True).stdout)


def python_submit_ns(stream, device, host, middle=statistics.median):
    memcpy_async, synchronize, now = acl.rt.memcpy_async, acl.rt.synchronize_stream, time.perf_counter_ns
    size, rounds = SIZE, []
    for _ in range(ROUNDS):
        start = now()
        for _ in range(COPIES):
            memcpy_async(device, size, host, size, 1, stream)
        rounds.append((now() - start) / COPIES)
        synchronize(stream)
    return middle(rounds)


def empty_loop_ns():
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        for _ in range(COPIES):
            pass
        rounds.append((time.perf_counter_ns() - start) / COPIES)
    return statistics.median(rounds)


def import_ms():
    code = "import time; start = time.perf_counter_ns(); import acl; print((time.perf_counter_ns() - start) / 1e6)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
        for _ in range(TURNS)
    ]
    return statistics.median(times)


def beside_a_busy_thread(measure):
    """The same while another Python thread computes and wants the interpreter lock: a mean, with the turns it gets."""
    stop = threading.Event()

    def compute():
        while not stop.is_set():
            sum(range(100))

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        return measure()
    finally:
        stop.set()
        thread.join()


def main():
    assert acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    host, _ = acl.rt.malloc_host(SIZE)
    device, _ = acl.rt.malloc(SIZE, 0)
    with tempfile.TemporaryDirectory() as folder:
        program = build_c_side(folder)
        turns = [(c_submit_ns(program), python_submit_ns(stream, device, host)) for _ in range(TURNS)]
    c_ns, python_ns = (statistics.median(side) for side in zip(*turns))
    added_ns = statistics.median(python - c for c, python in turns)
    busy_ns = beside_a_busy_thread(lambda: python_submit_ns(stream, device, host, statistics.mean))
    loading_ms = import_ms()
    print(f"python {sys.version.split()[0]}, {acl.__file__}; medians of {TURNS} turns")
    print(f"submit of 4 KiB from C             {c_ns:8.1f} ns")
    print(f"submit of 4 KiB from Python        {python_ns:8.1f} ns  (of which {empty_loop_ns():.1f} ns are the loop)")
    print(f"added by Python                    {added_ns:8.1f} ns  must be <= {ADDED_NS_LIMIT}")
    print(f"the same beside a busy thread      {busy_ns:8.1f} ns")
    print(f"import acl                         {loading_ms:8.2f} ms  must be <= {IMPORT_MS_LIMIT}")
    acl.rt.free(device)
    acl.rt.free_host(host)
    acl.rt.destroy_stream(stream)
    acl.rt.reset_device(0)
    return 0 if added_ns <= ADDED_NS_LIMIT and loading_ms <= IMPORT_MS_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
