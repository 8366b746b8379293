"""The page of an audit in a browser: as wide as a desk and as a phone, light and dark."""

import pytest
from selenium.webdriver.common.by import By

from plaudit.reports.audit import Audit
from plaudit.reports.audit._findings import AuditFinding, Example, Tried, write_page

from conftest import wait_until  # isort: skip

HOSTILE = "<script>document.title = 'broken'</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    example = Example(3, HOSTILE + "x" * 3000, 1.0, f"It got 1. {HOSTILE}")
    findings = tuple(
        AuditFinding(kind, attack, component, share, 12, 12, example, "Give 0 where there is none.")
        for kind, attack, component, share in (
            ("empty", "nothing", "accuracy", 1.0),
            ("hedge", "alternatives", "total", 0.4),
        )
    )
    matrix = tuple(
        Tried(kind, attack, component, 0.0)
        for kind, attack in (("empty", "nothing"), ("hedge", "alternatives"), ("cost", "time"))
        for component in ("accuracy", "a_format_with_a_long_name", "total")
    )
    formats = dict.fromkeys(
        ("accuracy", "a_format_with_a_long_name", "total"), ("<answer>{answer}</answer>", 1.0)
    )
    found = Audit("my recipe", 64, findings, ("cost: slow",), formats, matrix, 0.5)
    return write_page(found, tmp_path_factory.mktemp("audit"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_cell_opens_its_finding(start, page, width, dark):
    with start(width, dark) as driver:
        driver.get(page.as_uri())
        assert driver.title != "broken"
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        finding = driver.find_element(By.ID, "finding-1")
        assert finding.get_attribute("open") is None
        cell = driver.find_element(By.CSS_SELECTOR, '[data-finding="1"]')
        assert cell.text == "100%"
        driver.execute_script("arguments[0].click()", cell)
        wait_until(lambda: finding.get_attribute("open"))
        assert HOSTILE in finding.find_element(By.TAG_NAME, "pre").text
        severe = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert severe == []
