# SPDX-License-Identifier: Apache-2.0
"""Types filters into pages of nn/html.h in a headless Chromium, and compares what is coloured with the answers of C++.

The browser is driven by its DevTools protocol over a pipe, so that nothing but Python and the browser is needed.
With --screenshot IN.html OUT.png it takes a picture of a page instead.
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77


class Browser:
    def __init__(self, executable, profile):
        commands_out, self.commands = os.pipe()
        self.events, events_in = os.pipe()
        def hand_over():
            # The browser reads from 3 and writes to 4, numbers that the pipes may have themselves.
            copies = [os.dup(commands_out), os.dup(events_in)]
            for number, copy in zip((3, 4), copies):
                os.dup2(copy, number)
                os.set_inheritable(number, True)
        self.process = subprocess.Popen(
            [executable, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands_out)
        os.close(events_in)
        self.buffer = b""
        self.last_id = 0
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Page.enable")

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.events, 1 << 16)
            if not part:
                raise RuntimeError("the browser has gone")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **parameters):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, page, width=1100, height=6000):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
        while self.receive().get("method") != "Page.loadEventFired":
            pass

    def run(self, expression):
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def type(self, number, text):
        """Types into the filter of that number as a user does."""
        self.run(f"(() => {{ const i = document.querySelectorAll('.filter input')[{number}]; i.focus(); i.select(); }})()")
        self.send("Input.insertText", text=text)

    def close(self):
        try:
            self.session = None
            self.send("Browser.close")
        finally:
            os.close(self.commands)
            self.process.wait(timeout=60)


COLOURED = "[...document.querySelectorAll('.row[data-group]')].map((r) => [r.dataset.path, Number(r.dataset.group)])"
ERROR = """(() => { const box = document.querySelector('.filter');
  return { column: Number(box.dataset.column), text: box.querySelector('pre').textContent }; })()"""


def caret_column(text):
    """Where the caret of an error stands, in the text that is shown above it."""
    lines = text.split("\n")
    return next(i for i, line in enumerate(lines) if line.lstrip().startswith("^")), lines


def check_answer(browser, answer):
    # Browsers take line ends out of what is typed.
    if any(c in answer["filter"] for c in "\r\n"):
        browser.run(f"fields[0].input.value = {json.dumps(answer['filter'])}; colour()")
    else:
        browser.type(0, answer["filter"])
    coloured = [path for path, _ in browser.run(COLOURED)]
    error = browser.run(ERROR)
    if "paths" in answer:
        if error["text"] or coloured != answer["paths"]:
            return f"takes {coloured}, C++ takes {answer['paths']}; {error['text']}"
        return None
    if not error["text"] or coloured:
        return f"is no filter in C++, but takes {coloured}"
    place, lines = caret_column(error["text"])
    if answer["filter"].startswith("regex"):
        return None
    if error["column"] != answer["column"]:
        return f"has its mistake at column {answer['column']}; the page says {error['text']}"
    if answer["column"] < 60 and lines[place].index("^") != 1 + answer["column"]:
        return f"shows its caret in the wrong place: {error['text']}"
    return None


def check_case(browser, folder, name):
    browser.open(folder / f"{name}.html")
    # The page holds the rows that can be seen: let that be all.
    browser.run("document.getElementById('unfold').click(); document.getElementById('list').style.flex = 'none';"
                "document.getElementById('list').style.height = rows.length * lineHeight + 'px'; draw()")
    answers = json.loads((folder / f"{name}.json").read_text())
    failures = [(answer["filter"], failure) for answer in answers if (failure := check_answer(browser, answer))]
    print(f"{name}: {len(answers) - len(failures)} of {len(answers)} filters take the same variables")
    for text, failure in failures[:10]:
        print(f"  {text[:200]!r} {failure[:400]}")
    return not failures


def expect(what, got, wanted):
    if got != wanted:
        print(f"{what}: got {got!r}, wanted {wanted!r}")
    return got == wanted


def check_start(browser, folder):
    """The filters that C++ gave colour the page at the start; search and folding change what is seen."""
    browser.open(folder / "start.html")
    groups = dict(browser.run(COLOURED))
    good = expect("title", browser.run("document.title"), "start")
    good &= expect("groups", [groups[p] for p in ("encoder/0/kernel", "encoder/0/bias", "step")], [0, 1, 2])
    browser.type(0, "BatchStat")
    groups = dict(browser.run(COLOURED))
    good &= expect("new groups", [groups[p] for p in ("encoder/0/kernel", "norm/mean")], [1, 0])
    browser.type(1, "rest")
    browser.type(2, "Param")
    good &= expect("misplaced rest", browser.run(COLOURED), [])
    count = "document.querySelectorAll('.row[data-path]').length"
    browser.run("document.getElementById('fold').click()")
    good &= expect("folded rows", browser.run(count), 2)  # `step` and the hostile key stand at the root
    browser.run("document.getElementById('search').focus()")
    browser.send("Input.insertText", text="NORM/")
    good &= expect("rows found", browser.run(count), 2)
    return good


def check_large(browser, folder):
    """Of 10,000 variables, the page holds the rows that can be seen, and counts all."""
    browser.open(folder / "large.html", height=600)
    browser.run("document.getElementById('unfold').click()")
    good = expect("few rows", browser.run("document.querySelectorAll('.row').length") < 60, True)
    good &= expect("height", browser.run("document.getElementById('rows').clientHeight"), (10000 + 2000 + 2) * 22)
    browser.run("document.getElementById('list').scrollTop = 1e9; draw()")
    good &= expect("last row", browser.run("[...document.querySelectorAll('.row')].pop().dataset.path"), "layers/1999/var")
    for answer in json.loads((folder / "large.json").read_text()):
        browser.type(0, answer["filter"])
        count = browser.run("document.querySelector('.count').textContent.split(' ')[0]")
        good &= expect(answer["filter"], int(count), len(answer["paths"]))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", default="chromium")
    parser.add_argument("--writer", help="the program write_pages")
    parser.add_argument("--screenshot", nargs=2, metavar=("IN", "OUT"))
    parser.add_argument("--size", default="900x560")
    arguments = parser.parse_args()
    if not arguments.browser or arguments.browser.endswith("NOTFOUND"):
        print("Skipped: there is no Chromium. Install it (tools/install_packages browser) and configure again.")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        browser = Browser(arguments.browser, folder / "profile")
        try:
            if arguments.screenshot:
                width, height = map(int, arguments.size.split("x"))
                browser.open(arguments.screenshot[0], width, height)
                picture = browser.send("Page.captureScreenshot", format="png")["data"]
                pathlib.Path(arguments.screenshot[1]).write_bytes(base64.b64decode(picture))
                return 0
            subprocess.run([arguments.writer, str(folder)], check=True, stderr=subprocess.DEVNULL,
                           env={**os.environ, "RC_PARAMS": "seed=1"})
            good = [check_case(browser, folder, name) for name in ("plain", "random")]
            good += [check_start(browser, folder), check_large(browser, folder)]
            return 0 if all(good) else 1
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(main())
