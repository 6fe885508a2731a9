"""The report page in a headless Chromium: what it shows is compared with the trace that it was made of.

page_test.py MAKE_PAGE FOLDER; screenshots are left in FOLDER.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

from browser import Browser

MAKE_PAGE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
FINDING = {"rule": "RW-RACE-001", "error": True, "title": "RACE", "text": "kv.cpp:17 reads <b>block</b>", "operations": [], "fix": "record an event", "pid": 12}
KINDS = {"H2D": 0, "D2H": 1, "D2D": 2}
SHADE = {"H2D": "--h2d", "D2H": "--d2h", "D2D": "--d2d"}


def make_page(name, tasks, findings=()):
    page = FOLDER / f"{name}.html"
    lines = FOLDER / f"{name}.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in findings))
    made = subprocess.run([MAKE_PAGE, page, str(tasks), lines], check=True, capture_output=True, text=True)
    return page, json.loads(made.stdout or "null")  # none of a large one


def is_copy(task):
    return task["kind"] in ("copy", "batch")


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page, cls.trace = make_page("small", 1000, [FINDING])
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def setUp(self):
        self.open(self.page)

    def open(self, page):
        self.browser.open(page)
        self.browser.frame()

    def run_js(self, expression):
        return self.browser.run(expression)

    def text(self, selector):
        return self.run_js(f"document.querySelector({json.dumps(selector)}).innerText")

    def view(self):
        return self.run_js("[ropeway.timeline.view.from, ropeway.timeline.view.to]")

    def show(self, begin, end):
        self.run_js(f"ropeway.timeline.show({begin}, {end})")
        self.browser.frame()

    def x_of(self, ns):
        begin, end = self.view()
        gutter, width = self.run_js("[gutter, ropeway.timeline.width]")
        return gutter + (ns - begin) / (end - begin) * width

    def y_of(self, stream):
        """The middle of a stream's row inside of the canvas."""
        return self.run_js(f"(() => {{ const row = ropeway.timeline.rows.find((row) => row.stream === {stream - 1}); return row.y + row.height / 2; }})()")

    def pixel(self, x, y):
        """Above the text that may stand in the middle of a row."""
        return self.run_js(f"[...document.getElementById('rows').getContext('2d').getImageData({x} * devicePixelRatio, {y - 7} * devicePixelRatio, 1, 1).data].slice(0, 3)")

    def colour(self, name):
        value = self.run_js(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()")
        return [int(value[i:i + 2], 16) for i in (1, 3, 5)]

    def point(self, x, y):
        """From inside of the canvas to the window."""
        left, top = self.run_js("(() => { document.getElementById('timeline').scrollIntoView({block: 'center'}); const b = document.getElementById('rows').getBoundingClientRect(); return [b.left, b.top]; })()")
        return left + x, top + y

    def tasks(self, stream=None):
        return [task for task in self.trace["tasks"] if stream is None or task["stream"] == stream]

    def table(self, selector):
        return self.run_js(f"[...document.querySelectorAll('{selector} tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))")

    def focus_timeline(self):
        for _ in range(40):
            self.browser.key("Tab")
            if self.run_js("document.activeElement.id") == "timeline":
                return
        self.fail("the timeline is not reached by Tab")

    def test_nothing_fails_and_nothing_is_fetched(self):
        failures = [event for event in self.browser.events if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
        asked = {event["params"]["request"]["url"].split(":")[0] for event in self.browser.events if event.get("method") == "Network.requestWillBeSent"}
        self.assertEqual(failures, [])
        self.assertEqual(asked, {"file"})
        self.assertNotIn("http", self.run_js("[...document.querySelectorAll('[src], link')].map((e) => e.outerHTML).join()"))

    def test_browsers_without_base64_of_their_own(self):
        self.assertTrue(self.run_js("""(() => {
          const text = document.getElementById('data').textContent, one = fromBase64(text);
          Uint8Array.fromBase64 = undefined;
          const other = fromBase64(text);
          return one.length > 1000 && one.length === other.length && one.every((byte, i) => byte === other[i]);
        })()"""))

    def test_the_words_come_first(self):
        words = self.run_js("meta.words")
        self.assertRegex(self.text("#summary"), r"^2 host threads waiting \d+ % of ")
        self.assertIn("pageable copies of 256 KiB", self.text("h1"))
        self.assertIn("slow.cpp:30", self.text("h1"))
        self.assertTrue(words[0].startswith(self.text("#summary") + "; "))
        self.assertEqual(self.run_js("document.querySelectorAll('#findings li').length"), len(words) - 1)
        self.assertIn(f"{len(self.trace['tasks']):,} tasks", self.text("#program"))

    def test_every_task_is_drawn_where_it_ran(self):
        stream = self.tasks(2)
        self.show(stream[0]["start"] - 1000, stream[7]["end"] + 1000)
        y = self.y_of(2)
        for task in stream[:8]:
            self.assertEqual(self.pixel(self.x_of((task["start"] + task["end"]) / 2), y), self.colour(SHADE[task["direction"]]), task)
        gaps = [(one["end"], two["start"]) for one, two in zip(stream, stream[1:8]) if two["start"] - one["end"] > 5000]
        self.assertNotEqual(gaps, [])
        for begin, end in gaps:
            self.assertNotIn(self.pixel(self.x_of((begin + end) / 2), y), [self.colour(name) for name in SHADE.values()])
        self.assertGreater(self.run_js("ropeway.timeline.edgesDrawn"), 0)
        self.browser.screenshot(FOLDER / "zoomed.png")

    def test_every_arrow_is_drawn(self):
        """A few from far and from near, and none that the filter hides."""
        edges = self.run_js("""(() => {
          const {edges, tasks} = ropeway.timeline.trace;
          return Array.from({length: edges.n}, (_, i) => [tasks.end[edges.from[i]], tasks.start[edges.to[i]]]);
        })()""")
        self.assertEqual(len(edges), self.trace["edges"])
        drawn = "ropeway.timeline.edgesDrawn"
        near = edges[len(edges) // 2]
        self.show(near[0] - 20_000, near[1] + 20_000)
        self.assertEqual(self.run_js(drawn), sum(begin <= near[1] + 20_000 and end >= near[0] - 20_000 for begin, end in edges))
        self.show(0, self.trace["end"])
        self.assertEqual(self.run_js(drawn), len(edges))
        self.run_js("ropeway.timeline.filter('stream=1')")
        self.browser.frame()
        self.assertEqual(self.run_js(drawn), 0)

    def test_ranks_have_rows_of_their_own(self):
        headings = self.run_js("ropeway.timeline.rows.filter((row) => row.heading).map((row) => row.heading)")
        self.assertEqual(headings, ["rank 0 · Host threads", "rank 0 · Streams", "rank 0 · Lanes", "rank 0 · Marks", "rank 1 · Host threads", "rank 1 · Streams"])
        shown = self.run_js("ropeway.timeline.rows.find((row) => row.label === 'stream 7').layers[0].ids.length")
        self.assertEqual(shown, len(self.tasks(7)))
        self.assertEqual(shown, 8)

    def test_hover_says_what_is_there(self):
        task = self.tasks(2)[5]
        self.show(task["start"] - 500_000, task["end"] + 500_000)
        self.browser.mouse("mouseMoved", *self.point(self.x_of((task["start"] + task["end"]) / 2), self.y_of(2)))
        tip = self.text("#tip")
        self.assertIn("D2H 1 MiB", tip)
        self.assertIn(f"stream 2 #{task['sequence']}", tip)
        self.assertIn(f"slow.cpp:{task['line']}", tip)
        self.browser.mouse("mouseMoved", 5, 5)
        self.assertEqual(self.run_js("document.getElementById('tip').style.display"), "none")

    def test_marks_of_the_program(self):
        rows = self.run_js("""ropeway.timeline.rows.filter((row) => row.marks).map((row) => row.layers[0].ids.length)""")
        self.assertEqual(rows, [2, 1])
        said = self.run_js("""ropeway.timeline.rows.filter((row) => row.marks).flatMap((row) => [...row.layers[0].ids].map(
            (id) => describe(ropeway.timeline, {layer: row.layers[0], id}).join('; ')))""")
        self.assertRegex(said[0], r"^the loop; a range of ")
        self.assertRegex(said[1], r"^a step; a range of ")
        self.assertRegex(said[2], r"^the stream was here; a mark; at .*; stream 1 came to it$")
        self.run_js("(() => { const filter = document.getElementById('filter'); filter.value = 'loop'; filter.dispatchEvent(new Event('input')); })()")
        self.browser.frame()
        rows = self.run_js("ropeway.timeline.rows.filter((row) => row.marks).map((row) => row.layers[0].ids.length)")
        self.assertEqual(rows, [1, 0])

    def test_hover_counts_where_tasks_are_too_many(self):
        small = self.tasks(3)
        self.browser.mouse("mouseMoved", *self.point(self.x_of(small[30]["start"]), self.y_of(3)))
        self.assertRegex(self.text("#tip"), r"^\d+ tasks in ")

    def test_keys(self):
        self.focus_timeline()
        self.assertNotEqual(self.run_js("getComputedStyle(document.activeElement).outlineStyle"), "none")
        begin, end = self.view()
        self.browser.key("+")
        closer = self.view()
        self.assertAlmostEqual(closer[1] - closer[0], (end - begin) / 1.5, delta=1)
        self.browser.key("ArrowRight")
        self.assertAlmostEqual(self.view()[0] - closer[0], 0.15 * (closer[1] - closer[0]), delta=1)
        self.browser.key("ArrowLeft")
        self.assertAlmostEqual(self.view()[0], closer[0], delta=1)
        self.browser.key("-")
        self.browser.key("0")
        self.assertEqual(self.view(), [begin, end])
        self.browser.key("ArrowDown")
        self.assertRegex(self.text("#detail"), "waited|by the calling thread")
        self.browser.key("ArrowDown")
        first = self.text("#detail")
        self.assertIn("stream 1 #", first)
        self.browser.key(".")
        number = lambda text: int(text.split("stream 1 #")[1].split()[0])
        self.assertEqual(number(self.text("#detail")), number(first) + 1)
        self.browser.key("Enter")
        chosen = self.tasks(1)[number(first)]
        begin, end = self.view()
        self.assertLess(begin, chosen["start"])
        self.assertLess(chosen["end"], end)
        self.assertLess(end - begin, 6 * (chosen["end"] - chosen["start"]))
        self.browser.key("Escape")
        self.assertEqual(self.text("#detail"), "")

    def test_the_wheel_zooms_around_the_pointer(self):
        x, y = 600, self.y_of(1)
        before = self.run_js(f"ropeway.timeline.at({x})")
        self.browser.mouse("mouseWheel", *self.point(x, y), deltaX=0, deltaY=-600, modifiers=2)
        self.browser.frame()
        self.assertAlmostEqual(self.run_js(f"ropeway.timeline.at({x})"), before, delta=self.trace["end"] / 500)
        begin, end = self.view()
        self.assertLess(end - begin, 0.6 * self.trace["end"])

    def test_drag_and_buttons(self):
        self.browser.click("#zoom-in")
        self.browser.click("#zoom-in")
        begin, end = self.view()
        self.assertAlmostEqual(end - begin, self.trace["end"] / 2.25, delta=2)
        x, y = self.point(600, self.y_of(1))
        self.browser.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.browser.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
        self.browser.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
        moved = 100 / self.run_js("ropeway.timeline.width") * (end - begin)
        self.assertAlmostEqual(self.view()[0] - begin, moved, delta=2)
        self.browser.click("#fit")
        self.assertEqual(self.view(), [0, self.trace["end"]])

    def test_filter(self):
        for words, wanted in {
            "stream=2": lambda task: task["stream"] == 2,
            "h2d": lambda task: task["direction"] == "H2D",
            "d2d slow.cpp:20": lambda task: task["direction"] == "D2D" and task["line"] == 20,
            ">64KiB": lambda task: task["bytes"] > 64 << 10,
            "batch": lambda task: task["kind"] == "batch" or task["line"] == 22,
            "no such word": lambda task: False,
        }.items():
            self.run_js("document.getElementById('filter').value = ''; document.getElementById('filter').focus()")
            self.browser.type(words)
            number = sum(map(wanted, self.trace["tasks"]))
            self.assertEqual(self.text("#matches"), f"{number:,} of {len(self.trace['tasks']):,} tasks", words)
        self.run_js("document.getElementById('filter').value = ''")
        self.browser.type("stream=2")
        one, two = self.tasks(1)[0], self.tasks(2)[0]
        self.show(min(one["start"], two["start"]), max(one["end"], two["end"]))
        self.assertEqual(self.pixel(self.x_of((two["start"] + two["end"]) / 2), self.y_of(2)), self.colour("--d2h"))
        self.assertNotEqual(self.pixel(self.x_of((one["start"] + one["end"]) / 2), self.y_of(1)), self.colour("--h2d"))
        self.assertEqual([row[0] for row in self.table("#sizes")], ["device to host"])

    def test_kinds_are_switched_off(self):
        self.browser.click("#legend button:first-child")
        self.assertEqual(self.run_js("document.querySelector('#legend button').getAttribute('aria-pressed')"), "false")
        number = sum(not (is_copy(task) and task["direction"] == "H2D") for task in self.trace["tasks"])
        self.assertEqual(self.text("#matches"), f"{number:,} of {len(self.trace['tasks']):,} tasks")

    def test_tables(self):
        sizes = self.table("#sizes")
        self.assertEqual(sum(int(row[2].replace(",", "")) for row in sizes), sum(map(is_copy, self.trace["tasks"])))
        large = [task for task in self.trace["tasks"] if task["direction"] == "D2H"]
        self.assertEqual([row[2:5] for row in sizes if row[0] == "device to host"], [[str(len(large)), "", f"{len(large)} MiB"]])
        self.assertEqual(sum(int(row[2]) for row in self.table("#blocked")), len(self.trace["waits"]))
        longest = max(task["end"] - task["start"] for task in self.trace["tasks"])
        self.assertEqual(self.table("#slowest")[0][0], f"{longest / 1000:.0f} µs")
        self.browser.click("#slowest tbody tr:first-child button")
        self.assertIn(f"{longest / 1000:.0f} µs", self.text("#detail"))
        self.assertNotEqual(self.table("#held"), [])

    def test_bandwidth(self):
        """All bytes are seen, from far and from near."""
        seen = "ropeway.timeline.rateSeen.reduce((sum, rate) => sum + rate, 0) * ropeway.timeline.span / ropeway.timeline.rateSeen.length"
        every = sum(task["bytes"] for task in self.trace["tasks"])
        self.assertAlmostEqual(self.run_js(seen) / every, 1, delta=0.01)
        middle = self.tasks(1)[20]
        begin, end = middle["start"], middle["end"]
        self.show(begin, end)
        inside = 0
        for task in self.trace["tasks"]:
            shared = min(end, task["end"]) - max(begin, task["start"])
            if shared > 0:
                inside += task["bytes"] * shared / (task["end"] - task["start"])
        self.assertAlmostEqual(self.run_js(seen) / inside, 1, delta=0.02)

    def test_a_large_trace_at_every_distance(self):
        page, _ = make_page("large", 60_000)
        self.open(page)
        whole = self.run_js("(() => { let sum = 0; const {tasks, classes} = ropeway.timeline.trace; for (let i = 0; i < tasks.n; ++i) sum += classes.bytes[tasks.class[i]]; return sum; })()")
        seen = self.run_js("ropeway.timeline.rateSeen.reduce((sum, rate) => sum + rate, 0) * ropeway.timeline.span / ropeway.timeline.rateSeen.length")
        self.assertAlmostEqual(seen / whole, 1, delta=0.01)
        self.assertGreater(self.run_js("ropeway.timeline.trace.tasks.n"), 59_999)
        # A frame costs pixels: whatever the distance, it draws no more than a few things for each.
        walked = self.run_js("""(() => {
          const timeline = ropeway.timeline, layer = timeline.rows.find((row) => row.stream === 2).layers[0], counts = [];
          for (let part = 1; part > 1e-5; part /= 4) {
            let visited = 0;
            walk(layer, 0, meta.end * part, meta.end * part / timeline.width, () => ++visited, () => ++visited);
            counts.push(visited);
          }
          return counts.map((n) => n / timeline.width);
        })()""")
        self.assertLess(max(walked), 10)
        # Nor does it look at more: a pixel of bandwidth is two places of running sums, and arrows have levels as rows have.
        looked = self.run_js("""(() => {
          const timeline = ropeway.timeline, {edges} = timeline.trace, looks = [];
          const counted = {...edges, to: new Proxy(edges.to, {get: (to, i) => { ++looks[0]; return to[i]; }})};
          const sums = timeline.buckets.map((list) => new Proxy(list, {get: (_, i) => { ++looks[1]; return list[i]; }}));
          timeline.trace = {...timeline.trace, edges: counted};
          timeline.buckets = sums;
          const worst = [0, 0];
          for (let part = 1; part > 1e-5; part /= 4) {
            looks[0] = looks[1] = 0;
            timeline.view = {from: 0, to: meta.end * part};
            timeline.draw();
            worst.forEach((most, i) => { worst[i] = Math.max(most, looks[i] / timeline.width); });
          }
          return [edges.n / timeline.width, ...worst];
        })()""")
        self.assertGreater(looked[0], 1)
        self.assertLess(looked[1], 0.5)
        self.assertLess(looked[2], 20)
        self.browser.screenshot(FOLDER / "large.png")

    def test_light_and_dark(self):
        self.assertEqual(self.run_js("document.documentElement.dataset.theme"), "light")
        self.browser.screenshot(FOLDER / "light.png")
        self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.open(self.page)
        self.assertEqual(self.run_js("document.documentElement.dataset.theme"), "dark")
        dark = self.run_js("getComputedStyle(document.body).backgroundColor")
        self.browser.screenshot(FOLDER / "dark.png")
        self.browser.click("#theme")
        self.assertEqual(self.run_js("document.documentElement.dataset.theme"), "light")
        self.assertNotEqual(self.run_js("getComputedStyle(document.body).backgroundColor"), dark)
        self.browser.call("Emulation.setEmulatedMedia", features=[])

    def test_readable_at_1280(self):
        self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), 1280)
        cut = self.run_js("[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.parentElement.id)")
        self.assertEqual(cut, [])

    def test_what_the_checker_found(self):
        self.assertFalse(self.run_js("document.getElementById('checked').hidden"))
        self.assertIn("RW-RACE-001 RACE", self.text("#checks"))
        self.assertIn("kv.cpp:17 reads <b>block</b>", self.text("#checks"))

    def test_an_empty_trace(self):
        page, _ = make_page("empty", 0)
        self.open(page)
        self.test_nothing_fails_and_nothing_is_fetched()
        self.assertEqual(self.text("h1"), "No slow pattern found")
        self.assertTrue(self.run_js("document.getElementById('checked').hidden"))


if __name__ == "__main__":
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        print("SKIPPED: no chromium (apt-get install chromium): the report page was not opened", file=sys.stderr)
        sys.exit(77)
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
