"""The page that follows a run, in a browser, while the run goes on: wide, narrow, light and dark.

Screenshots are kept in the folder that PLAUDIT_SCREENSHOTS names, else in pytest's own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

import plaudit
from plaudit.reports.watch import watching
from plaudit.runs import finish

from conftest import wait_until  # isort: skip

MADE = Path(__file__).parents[1] / "watch"
sys.path.insert(0, str(MADE))
from made_runs import (  # noqa: E402
    Trainer,
    accuracy_reward,
    batch,
    healthy,
    make,
    think_format_reward,
)

HOSTILE = "</script><img src=x onerror='window.broken = 1'>"


def faulty(step):
    """From step 12 on, tags are learned and answers are forgotten."""
    far = max(0, step - 12)
    return {
        **healthy(step),
        "right": max(0.0, 0.5 - 0.08 * far),
        "format": min(1.0, 0.4 + 0.06 * far),
        "no_answer": 0.0 if step < 20 else 0.6,
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that is over."""
    folder = tmp_path_factory.mktemp("runs") / f"run-a{HOSTILE.replace('/', '')}"
    make(folder, 30, faulty)
    return folder


@pytest.fixture(scope="module")
def with_images(tmp_path_factory):
    """A run whose prompts have images."""
    folder = tmp_path_factory.mktemp("runs") / "run-c"
    functions = plaudit.record([accuracy_reward, think_format_reward], folder)
    pictures = [Image.new("RGB", (300, 200), (60 * n, 90, 20)) for n in range(2) for _ in range(8)]
    for step in (1, 2):
        given = batch(step, healthy(step), prompts=2)
        Trainer().score(functions, step, **given, image=pictures)
    finish(folder)
    return folder


@pytest.fixture(scope="module")
def address(finished, with_images, tmp_path_factory):
    """A page of these runs, and of one that goes on for as long as the tests do."""
    folder = tmp_path_factory.mktemp("runs") / "run-b"
    path = os.pathsep.join(filter(None, sys.path))
    child = subprocess.Popen(
        [sys.executable, MADE / "made_runs.py", folder, "100000", "0.2"],
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        wait_until(lambda: next(folder.glob("part-*.parquet"), None), seconds=60)
        with watching(finished, folder, with_images) as url:
            yield url
    finally:
        child.kill()
        child.wait()


@pytest.fixture(
    scope="module",
    params=[(1280, False), (1280, True), (390, False), (390, True)],
    ids=lambda look: f"{look[0]}-{'dark' if look[1] else 'light'}",
)
def browser(request, start, address):
    width, dark = request.param
    with start(width, dark) as driver:
        driver.look = f"{width}-{'dark' if dark else 'light'}"
        driver.get(address)
        wait_until(
            lambda: driver.execute_script("return 'ready' in document.documentElement.dataset")
        )
        yield driver


def all_of(driver, selector):
    return driver.find_elements(By.CSS_SELECTOR, selector)


def text(driver, selector):
    return all_of(driver, selector)[0].text


def click(driver, selector):
    driver.execute_script("document.querySelector(arguments[0]).click()", selector)


def test_the_page_follows_a_run_beside_one_that_is_over(browser, tmp_path):
    assert "run-b" in text(browser, "#about") and "live" in text(browser, "#about")
    titles = [title.text for title in all_of(browser, "#charts h3")]
    assert titles[:3] == ["total", "accuracy_reward", "think_format_reward"]
    assert {"right", "groups without signal", "length in tokens"} < {*titles}
    drawn = "return document.querySelectorAll('[data-curve=\"value total\"] .line').length"
    wait_until(lambda: browser.execute_script(drawn) == 3)
    names = [one.text.split()[0] for one in all_of(browser, "#headline div:first-child .of-run")]
    assert names[1:] == ["run-b", "run-c"], "every figure says whose it is"
    at = "return document.querySelector('[data-curve=\"length\"] figcaption').textContent"
    before = browser.execute_script(at)
    wait_until(lambda: browser.execute_script(at) != before)  # the run has gone on
    width, inner = browser.execute_script(
        "return [document.documentElement.scrollWidth, innerWidth]"
    )
    assert width <= inner
    assert browser.execute_script("return window.broken") is None
    folder = Path(os.environ.get("PLAUDIT_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    browser.save_screenshot(str(folder / f"watch-{browser.look}.png"))
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_alarms_show_their_rows(browser):
    alarms = {alarm.text.split()[0]: alarm for alarm in all_of(browser, ".alarm")}
    assert {"Form", "No"} <= set(alarms)
    assert "think_format_reward rises" in alarms["Form"].text
    click(browser, ".alarm button.link")
    wait_until(lambda: len(all_of(browser, ".alarm details.row")) == 5)
    click(browser, ".alarm details.row summary")
    wait_until(lambda: "The tags are there." in text(browser, ".alarm details.row .inside"))
    click(browser, ".alarm button.link")


def test_the_rows_of_a_step_and_a_prompt_through_time(browser):
    Select(all_of(browser, "#run")[0]).select_by_index(0)
    field = all_of(browser, "#step")[0]
    browser.execute_script(
        "arguments[0].value = 12; arguments[0].dispatchEvent(new Event('change'))", field
    )
    wait_until(lambda: "64 rows of step 12" in text(browser, "#found"))
    assert len(all_of(browser, "#list article")) == 8
    click(browser, "#after")
    wait_until(lambda: "rows of step 13" in text(browser, "#found"))
    Select(all_of(browser, "#order")[0]).select_by_value("worst")
    wait_until(lambda: not all_of(browser, "#list article"))
    totals = [row.text.lstrip("✓✗") for row in all_of(browser, "#list summary b")]
    assert totals == sorted(totals)
    Select(all_of(browser, "#order")[0]).select_by_value("")
    wait_until(lambda: all_of(browser, "#list article"))
    click(browser, "#list .through-time")
    wait_until(lambda: all_of(browser, "#history[open] .sides h3"))
    assert len(all_of(browser, "#history .sides h3")) == 3
    assert all_of(browser, "#history .curve path.line, #history .curve circle")
    click(browser, "#close")
    click(browser, "#latest")
    wait_until(lambda: "rows of step 30, the latest" in text(browser, "#found"))


def test_the_address_keeps_what_is_shown(browser, address):
    browser.get(f"{address}?run=2&step=1&order=worst&status=scored")
    wait_until(lambda: all_of(browser, "#found") and "of step 1" in text(browser, "#found"))
    assert [
        Select(all_of(browser, f"#{name}")[0]).first_selected_option.get_attribute("value")
        for name in ("run", "order", "status")
    ] == ["2", "worst", "scored"]
    click(browser, "#after")
    wait_until(lambda: "of step 2" in text(browser, "#found"))
    assert browser.current_url.endswith("?run=2&step=2&order=worst&status=scored")
    Select(all_of(browser, "#order")[0]).select_by_value("")
    wait_until(lambda: len(all_of(browser, "#list article img.thumbnail")) == 2)
    widths = [image.get_property("naturalWidth") for image in all_of(browser, "#list img")]
    assert widths == [160, 160]
    assert {mark.text for mark in all_of(browser, "#list .mark")} <= {"✓", "✗"}
    assert all_of(browser, "#list .mark")
