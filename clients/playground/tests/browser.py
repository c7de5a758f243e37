#!/usr/bin/python3
"""Uses the playground in headless Chromium, as a person would: tests/browser.py <command that starts it...>

With SCREENSHOT=path it writes a picture of the page instead.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import playground as playground_program

# Chromium's own requests to the network are switched off.
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
).split()
PATIENCE = 10
VECTORS = pathlib.Path(__file__).parents[3] / "vectors"
CAPABILITIES = json.loads((VECTORS / "capabilities.json").read_text())["algorithms"]
# A request of the page.
VALID = {"algorithm": "TOKEN", "window": 1, "limit": 5, "key": "test"}

# Counts the pixels of a strip that have the colour of a custom property.
PIXELS = """
const [canvas, name] = arguments;
const probe = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
probe.fillRect(0, 0, 1, 1);
const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
let count = 0;
for (let at = 0; at < data.length; at += 4)
  if (data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3] === 255) count += 1;
return count;
"""


def child_of(process):
    """The program that scripts/with-server has started, and the socket of the server, from its arguments."""
    for child in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        if found := re.search(r"redis\+unix://([^\0]+)", pathlib.Path(f"/proc/{child}/cmdline").read_text()):
            return child, found[1]


@contextmanager
def playground():
    """Runs the playground, and gives its address, its process and the socket of its server."""
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if found := re.search(r"http://\S+", line):
                yield found[0], *child_of(process)
                break
        else:
            sys.exit("the playground did not start")
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()


@contextmanager
def browser(*flags):
    options = Options()
    options.binary_location = shutil.which("chromium")
    profile = tempfile.mkdtemp()
    for flag in (*FLAGS, *flags, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    try:
        yield driver
    finally:
        driver.quit()
        shutil.rmtree(profile, ignore_errors=True)


def size(driver, width, height, scale=1):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600},
    )


class Page(unittest.TestCase):
    address = process = socket = driver = None

    def setUp(self):
        size(self.driver, 1200, 900)
        self.driver.get_log("browser")
        self.driver.get(self.address)
        # It sends by itself at first.
        self.until(lambda: self.find("#run").text == "Stop")
        self.find("#run").click()
        self.find("#clear").click()
        for field, value in (("limit", "10"), ("window", "10"), ("size", "8")):
            self.set(field, value)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def row(self, algorithm):
        return self.driver.find_element(By.XPATH, f"//section[@class='row'][.//button[text()='{algorithm}']]")

    def count(self, algorithm, name):
        return self.row(algorithm).find_element(By.CSS_SELECTOR, f"[data-count={name}]").text

    def pixels(self, algorithm, color):
        canvas = self.row(algorithm).find_element(By.TAG_NAME, "canvas")
        return self.driver.execute_script(PIXELS, canvas, color)

    def until(self, condition):
        return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(lambda _: condition())

    def set(self, field, value):
        box = self.find(f"#{field}")
        box.clear()
        box.send_keys(value, Keys.TAB)

    def wanted(self, *algorithms):
        for label in self.driver.find_elements(By.CSS_SELECTOR, "#algorithms label"):
            box = label.find_element(By.TAG_NAME, "input")
            if box.is_selected() != (label.text in algorithms):
                box.click()

    def test_loads_only_itself_and_without_errors(self):
        self.assertEqual(self.driver.get_log("browser"), [])
        names = self.driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertTrue(names)
        for name in names:
            self.assertTrue(name.startswith((self.address, "data:")), name)

    def test_shows_by_itself_within_three_seconds_that_the_algorithms_differ(self):
        self.driver.get(self.address)
        shown = ("FIXED", "WINDOW", "ROLLING", "COUNTER", "TOKEN", "LEAKY")
        end = time.monotonic() + 3
        self.until(lambda: self.pixels("LEAKY", "--later") and len({self.count(one, "allowed") for one in shown}) > 1)
        self.assertLess(time.monotonic(), end)

    def test_steady_traffic_changes_the_picture_and_stops(self):
        self.wanted("FIXED", "TOKEN")
        self.find("input[value=steady]").send_keys(Keys.SPACE)
        self.set("rate", "20")
        self.set("limit", "3")
        self.assertEqual([self.pixels("TOKEN", color) for color in ("--yes", "--no-mark")], [0, 0])
        self.find("#run").click()
        for algorithm in ("FIXED", "TOKEN"):
            for color in ("--yes", "--no-mark"):
                self.until(lambda: self.pixels(algorithm, color) > 20)
        # They differ by their shape, too.
        full, hollow = (self.pixels("TOKEN", color) for color in ("--yes", "--no-mark"))
        allowed, denied = (int(self.count("TOKEN", name)) for name in ("allowed", "denied"))
        self.assertGreater(full / allowed, 1.1 * hollow / denied)
        self.until(lambda: int(self.count("TOKEN", "denied")) > 3)
        self.assertEqual(self.count("TOKEN", "remaining"), "0")
        self.assertRegex(self.count("TOKEN", "retry"), r"^\d\.\d s$")
        self.find("#run").click()
        self.assertEqual(self.find("#run").text, "Start")
        self.until(lambda: "TOKEN: " in self.find("#announcement").get_attribute("textContent"))
        self.find("#clear").click()
        self.until(lambda: self.pixels("TOKEN", "--yes") == 0)
        self.assertEqual(self.count("TOKEN", "allowed"), "0")

    def test_a_burst_by_algorithm(self):
        """Of 12 requests at once, those with a burst of 4 allow 4, and LEAKY delays what it allows."""
        labels = self.driver.find_elements(By.CSS_SELECTOR, "#algorithms label")
        self.assertEqual({label.text for label in labels}, set(CAPABILITIES))
        self.wanted(*CAPABILITIES)
        self.set("limit", "6")
        self.set("window", "60")
        self.set("burst", "4")
        self.set("size", "12")
        self.find("#many").click()
        for algorithm, can in CAPABILITIES.items():
            allowed = 4 if can["burst"] else 6
            outcome = lambda: (self.count(algorithm, "allowed"), self.count(algorithm, "denied"))
            self.until(lambda: sum(map(int, outcome())) == 12)
            self.assertEqual(outcome(), (str(allowed), str(12 - allowed)), algorithm)
        self.until(lambda: self.pixels("LEAKY", "--later") > 20)
        # The leases end after two seconds.
        self.until(lambda: self.find("#one").click() or int(self.count("LEASE", "allowed")) > 6)

    def test_a_429_shows_its_headers(self):
        self.wanted("FIXED", "TOKEN")
        self.set("limit", "1")
        self.find("#many").click()
        self.row("TOKEN").find_element(By.CSS_SELECTOR, "button").click()
        self.until(lambda: "429" in self.find("#denied-reply").text)
        reply = self.find("#denied-reply").text
        self.assertIn("HTTP/1.1 429 Too Many Requests", reply)
        for line in (
            r"retry-after: ([1-9]|10)\b", r'ratelimit: "token";r=0;t=\d+', r'ratelimit-policy: "token";q=1;w=10',
            r"x-ratelimit-limit: 1\b", r"x-ratelimit-remaining: 0\b", r"x-ratelimit-reset: \d{10}\b",
        ):
            self.assertRegex(reply, line)
        self.assertIn("HTTP/1.1 200 OK", self.find("#allowed-reply").text)
        # The console has nothing but the browser's own note of each 429.
        others = [entry for entry in self.driver.get_log("browser") if " 429 " not in entry["message"]]
        self.assertEqual(others, [])

    def test_the_command_is_the_one_that_the_server_gets(self):
        monitor = subprocess.Popen(
            ["redis-cli", "-s", self.socket, "MONITOR"], stdout=subprocess.PIPE, text=True, bufsize=1
        )
        try:
            self.assertEqual(monitor.stdout.readline().strip(), "OK")
            self.set("burst", "3")
            for algorithm in ("FIXED", "TOKEN", "LEASE"):
                self.wanted(algorithm)
                self.find("#clear").click()
                self.assertEqual(self.find("#command").text, "None yet.")
                self.find("#one").click()
                self.until(lambda: f"RL.{algorithm}" in self.find("#command").text)
                # A line of MONITOR has the words in quotes; the client also sends commands of the connection.
                sent = next(line for line in monitor.stdout if f'"RL.{algorithm}"' in line)
                words = re.findall(r'"([^"]*)"', sent)
                if algorithm == "LEASE":
                    words[words.index("ID") + 1] = "…"
                self.assertEqual(self.find("#command").text, " ".join(words))
        finally:
            monitor.kill()
            monitor.wait()
            monitor.stdout.close()

    def test_the_headers_are_those_of_the_server(self):
        for algorithm in playground_program.ALGORITHMS:
            for number in range(2):
                keys = [f"{{{algorithm}}}:{at}" for at in ("line", "headers")]
                tail = ["2", "1", *(["ID", f"{number}"] if algorithm == "LEASE" else [])]
                # Both at one time.
                script = "return {" + ", ".join(
                    f"redis.call('RL.{algorithm}', '{key}', {str(tail)[1:-1]}, '{form}')"
                    for key, form in zip(keys, ("LINE", "HEADERS"))
                ) + "}"
                command = ["redis-cli", "-s", self.socket, "--json", "EVAL", script, "0"]
                line, reply = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
                figures = dict(zip(playground_program.FIGURES, map(int, line.split())))
                expected = dict(zip(reply[3][::2], map(str, reply[3][1::2])))
                self.assertEqual(playground_program.headers(algorithm.lower(), 2, figures), expected)

    def status(self, path, body=None, **headers):
        """The status of a request, and the body of the reply. Another request for each: one that was sent keeps its host."""
        sent = body and json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, sent, {"Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            with error as reply:
                return reply.code, reply.read()

    def test_leases_need_no_threads(self):
        check = {**VALID, "algorithm": "LEASE", "limit": 10_000, "window": 60, "work_ms": 60_000}
        for _ in range(200):
            self.assertEqual(self.status("api/check", check)[0], 200)
        short = {**check, "key": "short", "limit": 1, "work_ms": 500}
        self.assertEqual([self.status("api/check", short)[0] for _ in range(2)], [200, 429])
        self.until(lambda: self.status("api/check", short)[0] == 200)  # although longer ones came first
        threads = re.search(r"Threads:\s+(\d+)", pathlib.Path(f"/proc/{self.process}/status").read_text())[1]
        self.assertLess(int(threads), 50)

    def test_only_its_own_page_is_served(self):
        port = urllib.parse.urlsplit(self.address).port
        for path, body in (("", None), ("api/check", VALID)):
            for host, origin, expected in (
                (f"127.0.0.1:{port}", None, 200),
                ("localhost:8000", "http://localhost:8000", 200),
                ("[::1]:8000", "http://[::1]:8000", 200),
                ("192.168.1.7:8000", "http://192.168.1.7:8000", 200),
                ("localhost", None, 200),
                # DNS rebinding
                ("attacker.example:8000", "http://attacker.example:8000", 403),
                ("localhost.attacker.example:8000", None, 403),
                ("127.0.0.1.attacker.example:8000", None, 403),
                # another page
                ("127.0.0.1:8000", "http://attacker.example", 403),
                ("127.0.0.1:8000", "http://127.0.0.1:9000", 403),
                ("127.0.0.1:8000", "null", 403),
            ):
                headers = {"Host": host, **({"Origin": origin} if origin else {})}
                self.assertEqual(self.status(path, body, **headers)[0], expected, headers)

    def test_errors_are_shown_at_the_field(self):
        self.set("window", "0")
        self.assertEqual(self.find("#problem").text, "Window, s: expected an integer from 1 to 3600")
        self.assertEqual(self.find("#window").get_attribute("aria-invalid"), "true")
        self.find("#run").click()
        self.assertEqual(self.find("#run").text, "Start")
        self.set("window", "5")
        self.assertEqual(self.find("#problem").text, "")
        self.assertIsNone(self.find("#window").get_attribute("aria-invalid"))

    def test_the_application_rejects_invalid_requests(self):
        for change, field in (
            ({"algorithm": "TOKENS"}, "algorithm"), ({"window": 0}, "window"), ({"limit": 2**63}, "limit"),
            ({"burst": 0}, "burst"), ({"algorithm": "FIXED", "burst": 5}, "burst"), ({"key": "a:b"}, "key"),
            ({"work_ms": 10**9}, "work"), ({"limit": -1}, "limit"), ({"limit": True}, None), ({"other": 1}, None),
        ):
            status, body = self.status("api/check", {**VALID, **change})
            reply = json.loads(body)
            self.assertEqual((status, reply["field"]), (400, field), change)
            self.assertTrue(reply["error"], change)

    def test_a_taken_port_is_one_line_that_names_the_setting(self):
        root = pathlib.Path(__file__).resolve().parents[3]
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            page = [sys.executable, root / "clients/playground/playground.py", "redis://127.0.0.1:1", f"127.0.0.1:{port}"]
            for command, setting in ((page, "PAGE="), ([root / "scripts/run", "redis-server", str(port), "none"], "PORT=")):
                run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (1, "", 1), run.stderr)
                self.assertIn(f"{setting}", run.stderr)

    def test_everything_has_a_name(self):
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        roles = ("button", "checkbox", "radio", "spinbutton", "image", "group", "region")
        named = [node for node in nodes if not node["ignored"] and node["role"]["value"] in roles]
        self.assertGreater(len(named), 20)
        for node in named:
            self.assertTrue(node["name"]["value"], node)

    def test_fits_a_phone(self):
        self.wanted("FIXED", "WINDOW", "SLIDING", "ROLLING", "COUNTER", "TOKEN", "LEAKY", "GCRA", "LEASE")
        self.set("limit", "10000")
        self.find("#many").click()
        self.until(lambda: self.count("LEASE", "allowed") == "8")
        for width in (360, 768):
            size(self.driver, width, 740)
            inside = self.driver.execute_script(
                "return [...document.querySelectorAll('body *')]"
                ".filter(element => element.getBoundingClientRect().right > innerWidth + 0.5)"
                ".map(element => element.outerHTML.slice(0, 80))"
            )
            self.assertEqual(inside, [])
            self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), width)


def screenshot(driver, address, path):
    """Of ten seconds of the traffic that the page starts with, from a second after a window has started."""
    size(driver, 1200, 800)
    time.sleep((1 - time.time()) % 4)
    driver.get(address)
    time.sleep(10)
    size(driver, 1200, driver.execute_script("return document.body.scrollHeight"))
    driver.save_screenshot(path)


def main():
    # Ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with playground() as (address, process, socket), browser() as driver:
        if path := os.environ.get("SCREENSHOT"):
            return screenshot(driver, address, path)
        Page.address, Page.process, Page.socket, Page.driver = address, process, socket, driver
        result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Page))
        return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
