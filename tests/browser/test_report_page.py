"""The report's page in a browser: as wide as a desk and as a phone, light and dark."""

import pytest
from report_pages import choose, column, every, found, one, show, whole_page
from scored_sample import HOSTILE, MATH, box_rows, hostile_row, math_rows, reason, write_folder
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from plaudit.reports import write_report

from conftest import assert_quiet, wait_until  # isort: skip

LONG = "<think>" + "First this, then that. " * 2000 + "</think> So it is \\boxed{77}."


def sums():
    """Rows of sums, one that would break the page if it could, and one that is very long."""
    yield from math_rows(800, tokens=False)
    plain = {"think_format_reward": 1.0, "repetition_penalty": 0.0}
    yield hostile_row(800, group_id="hostile", **plain)
    long = reason("accuracy_reward", 1.0, "equal", "77", "77", "77 is equal to the gold 77.")
    changes = {"completion": LONG, "status": "scored", "explanation": [long], "solution": "77"}
    yield hostile_row(801, group_id="long", prompt="Which one?", **plain, **changes)


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    rejected = [{"line": 7, "reason": HOSTILE + "\ud800"}]
    kites = folder / "kites"
    return {
        "sums": write_report(write_folder(folder / "sums", sums(), MATH, rejected)),
        "kites": write_report(write_folder(kites, box_rows(kites), ["iou_reward"])),
        "empty": write_report(write_folder(folder / "empty", [], MATH)),
    }


@pytest.mark.parametrize("name", ["sums", "kites", "empty"])
def test_the_page_shows_every_chart_and_fits_its_width(browser, pages, shots, name):
    show(browser, pages[name])
    whole_page(browser, shots / f"{name}-{browser.look}.png")
    widths = browser.execute_script(
        "return [document.documentElement.scrollWidth, innerWidth, "
        "...[...document.querySelectorAll('.chart svg')].map((svg) => "
        "svg.parentElement.clientWidth - svg.getBoundingClientRect().width)]"
    )
    assert widths[0] <= widths[1]
    assert min(widths[2:], default=0) >= -1
    assert (name == "kites") == bool(every(browser, "#boxes img"))


def test_a_row_shows_its_picture(browser, pages):
    show(browser, pages["kites"])
    picture = one(browser, "#boxes .picture img")
    browser.execute_script("arguments[0].click()", picture)
    wait_until(lambda: every(browser, "#row img.drawn"))
    drawn = one(browser, "#row img.drawn")
    assert drawn.get_property("src") == picture.get_property("src")
    assert drawn.is_displayed()


def test_colours_follow_the_mode(browser, pages):
    show(browser, pages["sums"])
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    channels = [int(part) for part in colour.strip("rgb()").split(",")]
    assert (max(channels) < 60) == browser.look.endswith("dark")
    wait_until(lambda: every(browser, ".chart svg text"))
    label = browser.execute_script(
        "return document.querySelector('.chart svg text').getAttribute('fill')"
    )
    assert label == ("#9aa4b2" if browser.look.endswith("dark") else "#5b6675")


def test_rows_are_filtered_by_text_status_value_and_group(browser, pages):
    show(browser, pages["sums"])
    assert found(browser) == 802
    choose(browser, "status", "timeout")
    wait_until(lambda: found(browser) < 802)
    assert {cell.text for cell in every(browser, ".body .status")} == {"timeout"}
    choose(browser, "text", "onerror")
    wait_until(lambda: found(browser) == 1)
    one(browser, "#filters [type=reset]").click()
    wait_until(lambda: found(browser) == 802)
    choose(browser, "component", "accuracy_reward")
    choose(browser, "low", "0.5")
    wait_until(lambda: found(browser) < 802)
    right = found(browser)
    choose(browser, "group", "q00003")
    wait_until(lambda: found(browser) < right)
    assert found(browser) <= 8


def test_rows_are_sorted_by_any_column(browser, pages):
    show(browser, pages["sums"])
    one(browser, "#table [title='Sort by total']").click()
    rising = column(browser, "total")
    assert rising == sorted(rising)
    one(browser, "#table [title='Sort by total']").click()
    falling = column(browser, "total")
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > rising[0]
    choose(browser, "sort", "length down")
    one(browser, ".body .tr").click()
    assert one(browser, "#row-title").text.startswith("Row 801")
    one(browser, "#close").click()


def test_a_row_shows_its_answer_and_its_gold_under_names_of_their_own(browser, pages):
    show(browser, pages["sums"])
    titles = [option.text for option in every(browser, "#filters [name=sort] option")]
    assert len(set(titles)) == len(titles)
    assert {"extracted answer ↑", "gold ↑"} <= {*titles}


def test_only_the_rows_in_view_are_in_the_page(browser, pages):
    show(browser, pages["sums"])
    assert len(every(browser, ".body .tr")) < 60
    browser.execute_script("document.querySelector('.body').scrollTop = 1e9")
    wait_until(lambda: every(browser, ".body [data-place='801']"))
    assert len(every(browser, ".body .tr")) < 60


def test_a_row_opens_with_the_keyboard_and_marks_the_answer(browser, pages, shots):
    show(browser, pages["sums"])
    choose(browser, "text", "is equal to the gold")
    wait_until(lambda: found(browser) < 802)
    one(browser, ".body .tr").send_keys(Keys.ARROW_DOWN)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    wait_until(lambda: one(browser, "#row").is_displayed())
    browser.save_screenshot(str(shots / f"row-{browser.look}.png"))
    answer = one(browser, "#row mark").text
    one(browser, "#source").click()
    assert one(browser, "#row mark").text == answer
    assert f"\\boxed{{{answer}}}" in one(browser, "#row .completion").text
    assert one(browser, "#row .gold").text == answer
    assert len(every(browser, "#row .reason")) == 3
    title = one(browser, "#row-title").text
    one(browser, "#next").click()
    assert one(browser, "#row-title").text != title
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    wait_until(lambda: not one(browser, "#row").is_displayed())


def test_what_a_model_wrote_stays_text(browser, pages):
    show(browser, pages["sums"])
    choose(browser, "group", "hostile")
    wait_until(lambda: found(browser) == 1)
    one(browser, ".body .tr").click()
    assert "<script>window.broken = 1</script>" in one(browser, "#row .completion").text
    assert every(browser, "#row script, #row img") == []
    assert "<script>" in one(browser, "#row mark").text


def test_of_a_long_text_the_page_says_what_it_left_out(browser, pages):
    show(browser, pages["sums"])
    choose(browser, "group", "long")
    wait_until(lambda: found(browser) == 1)
    one(browser, ".body .tr").click()
    left_out = f"{len(LONG) - 20_000:,} characters left out"
    assert left_out in one(browser, "#row .left-out").text
    assert one(browser, "#row mark").text == "77"


def test_a_bar_and_a_list_show_their_rows(browser, pages):
    show(browser, pages["sums"])
    chart = one(browser, "[data-chart=component-01-accuracy_reward]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    bars = wait_until(lambda: every(chart, "path[aria-roledescription=bar]"))
    bars[1].click()
    wait_until(lambda: found(browser) < 802)
    assert one(browser, "#filters [name=component]").get_attribute("value") == "accuracy_reward"
    assert one(browser, "#filters [name=low]").get_attribute("value") == "1"
    contested = one(browser, "#prompts .halves > :last-child [data-group]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", contested)
    contested.click()
    wait_until(lambda: found(browser) == 8)


def test_every_status_is_on_the_first_screen_and_shows_its_rows(browser, pages):
    show(browser, pages["sums"])
    statuses = one(browser, ".statuses")
    assert statuses.rect["y"] + statuses.rect["height"] <= 900
    timeout = one(browser, ".statuses [data-status=timeout]")
    many = int(timeout.find_element(By.TAG_NAME, "b").text)
    timeout.click()
    wait_until(lambda: found(browser) == many)
    assert one(browser, "#filters [name=status]").get_attribute("value") == "timeout"


def test_a_hundred_thousand_rows_are_quick(start, tmp_path):
    page = write_report(write_folder(tmp_path, math_rows(100_000), MATH))
    assert page.stat().st_size < 8_000_000
    with start(1280) as browser:
        show(browser, page)
        assert "20,000 of 100,000 rows" in one(browser, "#sampled").text
        took = browser.execute_script("return performance.now()")
        choose(browser, "text", "boxed{1")
        wait_until(lambda: found(browser) < 20_000, seconds=2)
        assert took < 10_000
        assert_quiet(browser)
