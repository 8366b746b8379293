"""A browser without a window, and reports to look at."""

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
