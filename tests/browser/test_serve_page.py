"""The server's front page in a browser: as wide as a monitor and as a phone, light and dark.

Screenshots are kept in the folder that PLAUDIT_SCREENSHOTS names, else in pytest's own.
"""

import base64
import json
import os
from pathlib import Path

import httpx
import pytest
from selenium.webdriver.common.by import By

from plaudit.recipes import Component, Recipe, load
from plaudit.serve import serving

from conftest import wait_until  # isort: skip

LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]
HOSTILE = "</script><img src=x onerror='window.broken = 1'><b>bold</b>"
RECIPE = Recipe(
    "brief-math",
    (
        Component("accuracy", "trl.accuracy_reward"),
        Component("format", "trl.think_format_reward", weight=0.5, gate="accuracy"),
    ),
)


@pytest.fixture(scope="module")
def url():
    with serving(RECIPE) as address:
        for number in range(4):
            golds = ["4", "5", None, "4"]
            completions = [rf"\boxed{{{number + 2}}}", r"\boxed{5}", "4", r"\boxed{9^{9^{9^9}}}"]
            batch = {"completions": completions, "columns": {"solution": golds}}
            assert httpx.post(f"{address}/v1/score", json=batch).status_code == 200
        yield address


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look[0]}-{'dark' if look[1] else 'light'}")
def browser(request, start):
    width, dark = request.param
    with start(width, dark) as driver:
        driver.look = f"{width}-{'dark' if dark else 'light'}"
        yield driver


@pytest.fixture
def shots(tmp_path):
    folder = Path(os.environ.get("PLAUDIT_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def show(driver, url):
    driver.get_log("performance")  # what the browser did for itself, before
    driver.get(url)
    wait_until(lambda: driver.execute_script("return 'ready' in document.documentElement.dataset"))


def one(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def text(driver, selector):
    return one(driver, selector).text


def write(driver, selector, content):
    field = one(driver, selector)
    field.clear()
    field.send_keys(content)


def score(driver, completion, solution):
    write(driver, "#completion", completion)
    write(driver, "[name=solution]", solution)
    one(driver, "#score").click()
    wait_until(lambda: one(driver, "#score").is_enabled() and text(driver, "#result"))
    return text(driver, "#result")


def whole_page(driver, file):
    width, height = driver.execute_script(
        "const page = document.documentElement; return [innerWidth, page.scrollHeight]"
    )
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    file.write_bytes(base64.b64decode(taken["data"]))


def asked(driver):
    """The addresses that the page asked for."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    # The browser may still be busy with the page that it starts with, which is not ours.
    own = ("chrome:", "chrome-untrusted:")
    return [one["request"]["url"] for one in sent if not one["documentURL"].startswith(own)]


def test_the_page_shows_the_recipe_figures_and_why(browser, url, shots):
    show(browser, url)
    assert text(browser, "#name") == "brief-math"
    assert "format" in text(browser, "#components")
    assert "counts where accuracy passed" in text(browser, "#components")
    wait_until(lambda: text(browser, "#ready") == "ready")
    wait_until(lambda: int(text(browser, "#rows").replace(",", "")) >= 16)
    assert "bad_gold" in text(browser, "#statuses") and "limit" in text(browser, "#statuses")
    said = score(browser, r"So it is \boxed{\frac{2}{4}}.", "1/2")
    assert "is equal to the gold 1/2" in said
    assert "The text does not start with <think>." in said
    wait_until(lambda: text(browser, "#rate") != "–", seconds=10)
    whole_page(browser, shots / f"serve-{browser.look}.png")
    width, inner = browser.execute_script(
        "return [document.documentElement.scrollWidth, innerWidth]"
    )
    assert width <= inner
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    channels = [int(part) for part in colour.strip("rgb()").split(",")]
    assert (max(channels) < 60) == browser.look.endswith("dark")
    assert browser.get_log("browser") == []
    places = asked(browser)
    assert places and all(place.startswith((url, "data:")) for place in places)


@pytest.fixture
def monitor(start):
    with start(1280) as driver:
        yield driver


def test_what_a_model_wrote_stays_text(monitor, url):
    show(monitor, url)
    said = score(monitor, rf"\boxed{{\text{{{HOSTILE}}}}}", HOSTILE)
    assert "onerror" in said
    assert monitor.execute_script("return window.broken") is None
    assert monitor.get_log("browser") == []


def test_what_cannot_be_scored_says_why(monitor, url):
    show(monitor, url)
    assert "solution 0 must be text" in score(monitor, "4", '{"a": 1}')


def test_a_guarded_page_asks_for_the_token(monitor, shots):
    with serving(load("trl-math"), token="sesame") as url:
        show(monitor, url)
        assert one(monitor, "#locked").is_displayed()
        assert "trl-math" not in monitor.page_source
        whole_page(monitor, shots / "serve-locked.png")
        write(monitor, "#token", "sesame")
        one(monitor, "#unlock button").click()
        wait_until(lambda: text(monitor, "#name") == "trl-math")
        assert not one(monitor, "#locked").is_displayed()
        assert "1.0" in score(monitor, r"\boxed{4}", "4") or "1" in text(monitor, ".total")
        assert "is equal to the gold 4" in text(monitor, "#result")


def test_the_highest_rate_is_remembered_when_the_chart_has_moved_on(start, url):
    """The chart shows the last 120 rates; the very first one was by far the highest."""
    with start(1280, False) as driver:
        show(driver, url)
        said = driver.execute_script(
            "before = {rows: 0, uptime: 1e6};"
            "for (let i = 1; i < 200; i++) draw({rows: 5000 + i, uptime: 1e6 + i});"
            "return document.getElementById('peak').textContent;"
        )
        assert said == "5,001 at most since this page was opened"
