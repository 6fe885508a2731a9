#!/usr/bin/env python3
"""report_page.py BUILD [TASKS]: how long the report page of 1,000,000 tasks takes to open in a headless Chromium, and a frame while zooming.

Opened is when the page can be used: words, timeline and tables are there. A frame is the time between two of them, what the page draws in it,
and what the page's thread works for it by its own clock, which stands still while other programs have the core. Limits: 3 s, and 33 ms for
the worst work and for the median of the others: of these a busy machine has the worst. Five runs of both kinds, each in a new browser.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "report"))
from browser import Browser  # noqa: E402

RUNS, STEPS = 5, 120
STEP = """timeline.zoom(step < {half} ? 0.86 : 1 / 0.86, meta.end * (0.3 + 0.2 * step / {half}));""".format(half=STEPS // 2)
# In to a ten-thousandth and out again, to the side all the while.
ZOOM = f"""(async () => {{
  const timeline = ropeway.timeline, draws = [], frames = [];
  const next = () => new Promise((done) => requestAnimationFrame(done));
  let last = await next();
  for (let step = 0; step < {STEPS}; ++step) {{
    {STEP}
    const now = await next();
    frames.push(now - last);
    last = now;
    draws.push(timeline.drawMs);
  }}
  return [draws, frames.slice(1)];
}})()"""
ONE_STEP = f"""(async (step) => {{
  const timeline = ropeway.timeline, next = () => new Promise((done) => requestAnimationFrame(done));
  await next();
  {STEP}
  await next();
}})"""


def worked(browser):
    """Milliseconds that the page's thread has had a core, for tasks of all kinds."""
    return 1000 * next(metric["value"] for metric in browser.call("Performance.getMetrics")["metrics"] if metric["name"] == "TaskDuration")


def work_of_steps(page):
    with Browser() as browser:
        browser.call("Performance.enable", timeDomain="threadTicks")
        browser.open(page)
        at = [worked(browser)]
        for step in range(STEPS):
            browser.run(f"{ONE_STEP}({step})")
            at.append(worked(browser))
        return [later - earlier for earlier, later in zip(at, at[1:])]


def main():
    build, tasks = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    opened, draws, frames, work = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        subprocess.run([build / "make_page", page, str(tasks)], check=True, stdout=subprocess.DEVNULL)
        print(f"{tasks:,} tasks, {page.stat().st_size / 1e6:.1f} MB")
        for _ in range(RUNS):
            with Browser() as browser:
                browser.open(page)
                opened.append(browser.run("ropeway.openedMs"))
                some_draws, some_frames = browser.run(ZOOM)
                draws += some_draws
                frames += some_frames
            work += work_of_steps(page)
    row = lambda name, values, limit: print(f"{name:28} median {statistics.median(values):7.1f} ms   19 of 20 within {sorted(values)[len(values) * 19 // 20 - 1]:7.1f} ms   "
                                            f"worst {max(values):7.1f} ms   limit {limit} ms")
    row("open", opened, 3000)
    row("draw one frame", draws, 33)
    row("work of the page's thread", work, 33)
    row("from one frame to the next", frames, 33)
    return 0 if statistics.median(opened) <= 3000 and max(work) <= 33 and statistics.median(draws + frames) <= 33 else 1


sys.exit(main())
