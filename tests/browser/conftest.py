"""A browser without a window: of each width, light and dark.

Screenshots are kept in the folder that PLAUDIT_SCREENSHOTS names, else in pytest's own.
"""

import json
import os
import shutil
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))

# As root the sandbox cannot start; the rest keeps the browser itself off the network.
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync""".split()
LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]
NETWORK = "Network.requestWillBeSent"
NEEDED = "the browser tests need Debian's chromium and chromium-driver (apt-get install them)"


def _program(*names):
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.fail(NEEDED)
    return found


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """Starts a browser of a width, in light or dark mode; it ends with the block."""

    @contextmanager
    def browser(width, dark=False, height=900):
        options = webdriver.ChromeOptions()
        options.binary_location = _program("chromium", "chromium-browser")
        profile = tmp_path_factory.mktemp("profile")
        for flag in [*FLAGS, f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(_program("chromedriver")))
        try:
            size = {"width": width, "height": height, "deviceScaleFactor": 1}
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride", {**size, "mobile": width < 500}
            )
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            still = {"name": "prefers-reduced-motion", "value": "reduce"}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})
            yield driver
        finally:
            driver.quit()

    return browser


def wait_until(condition, seconds=20.0):
    """What a condition gives once it gives anything true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.03)
    return found


def name_of(look):
    """The name of a look, for a test and for its pictures."""
    return f"{look[0]}-{'dark' if look[1] else 'light'}"


def assert_quiet(driver):
    """Nothing was complained of, nothing was fetched, and no text became code."""
    assert driver.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    requests = [m["params"] for m in messages if m["method"] == NETWORK]
    # The browser may still be busy with the page that it starts with, which is not ours.
    own = ("chrome:", "chrome-untrusted:")
    sent = [r["request"]["url"] for r in requests if not r["documentURL"].startswith(own)]
    assert sent
    assert [url for url in sent if not url.startswith(("file:", "data:", "blob:"))] == []
    assert driver.execute_script("return window.broken") is None


@pytest.fixture(scope="module", params=LOOKS, ids=name_of)
def window(request, start):
    """A browser of each look, one for all tests of a module."""
    with start(*request.param) as driver:
        driver.look = name_of(request.param)
        yield driver


@pytest.fixture
def browser(window):
    """The browser, in which a test may leave no complaint behind."""
    yield window
    assert_quiet(window)


@pytest.fixture
def shots(tmp_path):
    """The folder of the screenshots."""
    folder = Path(os.environ.get("PLAUDIT_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
