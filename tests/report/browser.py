"""A headless Chromium, spoken to over a pipe in its own protocol: no driver and no library is needed. Every step waits for its answer."""
import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

OPTIONS = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
           "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--force-color-profile=srgb"]


class Browser:
    def __init__(self, width=1280, height=900):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        if program is None:
            raise FileNotFoundError("there is no chromium: apt-get install chromium")
        self.profile = tempfile.mkdtemp(prefix="rw-browser-")
        reads, self.output = os.pipe()
        self.input, writes = os.pipe()
        # It reads at 3 and writes at 4. First out of the way: the ends may have these numbers themselves.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (reads, writes)]
        command = [program, *OPTIONS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", f'exec 3<&{ends[0]} 4>&{ends[1]}; exec "$@"', "bash", *command], pass_fds=ends,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (reads, writes, *ends):
            os.close(end)
        self.rest, self.number, self.events = b"", 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.output)  # it ends when nobody speaks to it
        self.process.wait()
        os.close(self.input)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _read(self):
        while b"\0" not in self.rest:
            part = os.read(self.input, 1 << 20)
            if not part:
                raise EOFError("the browser is gone")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        while True:
            for i, seen in enumerate(self.events):
                if seen.get("method") == event:
                    return self.events.pop(i)["params"]
            self.events.append(self._read())

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def run(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]) + f" in {expression}")
        return answer["result"].get("value")

    def frame(self):
        """What was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector, count=1):
        x, y = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                        " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        self.mouse("mousePressed", x, y, button="left", clickCount=count)
        self.mouse("mouseReleased", x, y, button="left", clickCount=count)

    def key(self, key, text=None, modifiers=0):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        more = {"windowsVirtualKeyCode": codes[key]} if key in codes else {"text": text or key}
        if key == "Enter":
            more["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path, whole=True):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        more = {"clip": clip, "captureBeyondViewport": True} if whole else {}
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", **more)["data"]))
