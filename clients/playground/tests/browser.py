#!/usr/bin/python3
"""Uses the playground in headless Chromium, as a person would: tests/browser.py <command that starts it...>

With SCREENSHOT=path it writes a picture of the page instead.
"""

import json
import os
import re
import shutil
import signal
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

# Chromium's own requests to the network are switched off.
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
).split()
PATIENCE = 10
VALID = {"window": 60, "limit": 5, "count": 1, "key": "abc"}


@contextmanager
def playground():
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if found := re.search(r"http://\S+", line):
                yield found[0]
                break
        else:
            sys.exit("the playground did not start")
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()


@contextmanager
def browser():
    options = Options()
    options.binary_location = shutil.which("chromium")
    profile = tempfile.mkdtemp()
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    try:
        yield driver
    finally:
        driver.quit()
        shutil.rmtree(profile, ignore_errors=True)


class Page(unittest.TestCase):
    address = driver = None

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def until(self, condition):
        return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(lambda _: condition())

    def rows(self):
        """Of each algorithm the counts that the page shows, and how many marks there are of each kind."""
        found = {}
        for row in self.driver.find_elements(By.CSS_SELECTOR, ".row"):
            counts = tuple(map(int, re.findall(r"\d+", row.find_element(By.CLASS_NAME, "counts").text)))
            marks = tuple(len(row.find_elements(By.CSS_SELECTOR, f".marks .{kind}")) for kind in ("yes", "no"))
            found[row.find_element(By.TAG_NAME, "button").text] = (counts, marks)
        return found

    def test_a_person_uses_the_page(self):
        self.driver.get(self.address)
        self.until(lambda: self.rows() and all(sum(counts) > 0 for counts, _ in self.rows().values()))  # it sends by itself
        self.find("#run").click()
        for field, value in (("limit", "6"), ("window", "60"), ("burst", "4"), ("count", "12")):
            box = self.find(f"#{field}")
            box.clear()
            box.send_keys(value, Keys.TAB)
        self.find("#clear").click()
        self.find("#once").click()
        with open(os.path.join(os.path.dirname(__file__), "../../../vectors/capabilities.json")) as file:
            capabilities = json.load(file)["algorithms"]
        expected = {name: (4, 8) if can["burst"] else (6, 6) for name, can in capabilities.items()}
        self.until(lambda: {name: counts for name, (counts, _) in self.rows().items()} == expected)
        self.assertEqual({name: marks for name, (_, marks) in self.rows().items()}, expected)
        self.driver.find_element(By.XPATH, "//button[text()='FIXED']").click()
        self.assertRegex(self.find("#command").text, r"^RL\.FIXED playground:\w+:FIXED 60 6 HEADERS$")
        for line in ('RateLimit-Policy: "fixed";q=6;w=60', 'RateLimit: "fixed";r=0;t=', "Retry-After: ", "X-RateLimit-Limit: 6"):
            self.assertIn(line, self.find("#headers").text)
        box = self.find("#window")
        box.clear()
        box.send_keys("0", Keys.TAB)
        self.assertEqual(self.find("#problem").text, "Window, s: expected an integer from 1 to 3600")
        # It loads nothing from elsewhere, and the console has nothing.
        names = self.driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertTrue(names and all(name.startswith((self.address, "data:")) for name in names), names)
        self.assertEqual(self.driver.get_log("browser"), [])
        self.driver.set_window_size(500, 800)
        self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth - innerWidth"), 0)

    def status(self, path, body=None, **headers):
        sent = body and json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, sent, headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_only_its_own_page_and_valid_requests_are_served(self):
        port = urllib.parse.urlsplit(self.address).port
        for path, body in (("", None), ("check", VALID)):
            for host, origin, expected in (
                (f"127.0.0.1:{port}", None, 200), ("localhost", None, 200), ("[::1]:8000", "http://[::1]:8000", 200),
                # DNS rebinding, and another page
                ("attacker.example:8000", "http://attacker.example:8000", 403), ("127.0.0.1.attacker.example", None, 403),
                ("127.0.0.1:8000", "http://attacker.example", 403), ("127.0.0.1:8000", "null", 403),
            ):
                headers = {"Host": host, **({"Origin": origin} if origin else {})}
                self.assertEqual(self.status(path, body, **headers), expected, headers)
        for change in ({"window": 0}, {"limit": -1}, {"limit": True}, {"burst": "1"}, {"count": 10**9}, {"key": "a:b"}, {"other": 1}):
            self.assertEqual(self.status("check", {**VALID, **change}), 400, change)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends what was started
    with playground() as address, browser() as driver:
        if path := os.environ.get("SCREENSHOT"):
            driver.set_window_size(1200, 1000)
            driver.get(address)
            time.sleep(10)
            return not driver.save_screenshot(path)
        Page.address, Page.driver = address, driver
        result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Page))
        return not result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
