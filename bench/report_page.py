#!/usr/bin/env python3
"""report_page.py BUILD [TASKS]: how long the report page of 1,000,000 tasks takes to open in a headless Chromium, and a frame while zooming.

Opened is when the page can be used: words, timeline and tables are there. A frame is what the page does for it, and the time between two of
them. Limits: 3 s and 33 ms. Medians of five runs; a busy machine shows in the worst.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "report"))
from browser import Browser  # noqa: E402

RUNS, STEPS = 5, 120
# In to a ten-thousandth and out again, to the side all the while.
ZOOM = f"""(async () => {{
  const timeline = ropeway.timeline, draws = [], frames = [];
  const next = () => new Promise((done) => requestAnimationFrame(done));
  let last = await next();
  for (let step = 0; step < {STEPS}; ++step) {{
    timeline.zoom(step < {STEPS} / 2 ? 0.86 : 1 / 0.86, meta.end * (0.3 + 0.4 * step / {STEPS}));
    const now = await next();
    frames.push(now - last);
    last = now;
    draws.push(timeline.drawMs);
  }}
  return [draws, frames.slice(1)];
}})()"""


def main():
    build, tasks = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    opened, draws, frames = [], [], []
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
    row = lambda name, values, limit: print(f"{name:28} median {statistics.median(values):7.1f} ms   19 of 20 within {sorted(values)[len(values) * 19 // 20 - 1]:7.1f} ms   "
                                            f"worst {max(values):7.1f} ms   limit {limit} ms")
    row("open", opened, 3000)
    row("draw one frame", draws, 33)
    row("from one frame to the next", frames, 33)
    return 0 if statistics.median(opened) <= 3000 and statistics.median(frames) <= 33 else 1


sys.exit(main())
