"""The page of `plaudit check` in a browser: as wide as a desk and as a phone."""

import json

import pytest
from selenium.webdriver.common.by import By

import plaudit.reports.check
from plaudit.recipes import load

from conftest import wait_until  # isort: skip

HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 1'>{"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checked")
    rows = [{"question": f"What is {n} + 1?", "solution": str(n + 1)} for n in range(20)]
    rows += [{"question": HOSTILE, "solution": f"\\text{HOSTILE}"}]
    rows += [{"question": f"Which {n}?", "solution": rf"\frac{{{n}}}{{"} for n in range(9)]
    rows += [{"question": "What is 3 + 1?", "solution": "5"}, {"question": "x" * 3000}]
    table = folder / "train.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plaudit.reports.check.check_table(table, load("math"), out=folder / "out")
    return folder / "out" / "index.html"


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["desk", "phone"])
def test_findings_are_shown_and_found(start, page, width, dark):
    with start(width, dark) as driver:
        driver.get(page.as_uri())
        wait_until(
            lambda: driver.execute_script("return 'ready' in document.documentElement.dataset")
        )
        text = driver.find_element(By.TAG_NAME, "main").text
        assert "32\nrows checked" in text
        assert "Golds that cannot be read: 10" in text
        assert "onerror='window.broken = 1'" in text
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width

        def visible():
            items = driver.find_elements(By.CSS_SELECTOR, ".lines li")
            return [item.text for item in items if item.is_displayed()]

        assert len(visible()) == 8  # five of ten are folded
        driver.find_element(By.CSS_SELECTOR, "details summary").click()
        assert len(visible()) == 13
        driver.find_element(By.ID, "find").send_keys("which 7?")
        wait_until(lambda: len(visible()) == 1)
        assert "line 29" in visible()[0]
        assert driver.find_element(By.ID, "found").text == "1 of 13 on this page"
        assert driver.execute_script("return window.broken") is None
        assert driver.get_log("browser") == []
