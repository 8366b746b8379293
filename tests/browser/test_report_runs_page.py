"""Reports of training runs in a browser: split, over steps, side by side, with formulas."""

import csv

import pytest
from report_pages import choose, every, found, one, show, whole_page
from scored_sample import MATH, hostile_row, run_rows, write_folder

from plaudit.reports import write_report

from conftest import wait_until  # isort: skip

# What a model may write to break the page, or to keep the browser busy.
HOSTILE_FORMULAS = [
    r"$\href{javascript:window.broken=1}{x}$",
    r"$\url{javascript:window.broken=1}$",
    r"$\includegraphics[height=1em]{https://example.com/a.png}$",
    r"$\htmlData{onclick=window.broken=1}{x} \htmlId{rows}{y} \htmlStyle{color:red}{z}$",
    r"$<img src=x onerror='window.broken=1'> </span><script>window.broken=1</script>$",
    r"$\def\a{\a\a}\a$",
    r"$\rule{99999em}{99999em}$",
    "$" + "{" * 900 + "x" + "}" * 900 + "$",
    r"\[" * 3000,
    "$5 and $6",
    r"$\frac{$ \boxed{ $$ \begin{align}",
]


@pytest.fixture(scope="session")
def rows():
    base, tuned = list(run_rows(400, seed=1)), list(run_rows(400, seed=2, skill=0.8))
    more = {"step": 100, "source": "hostile", "level": 1, "label": None, "meta": None}
    more |= {"think_format_reward": 0.0, "repetition_penalty": 0.0, "status": "scored"}
    text = "\n".join(HOSTILE_FORMULAS)
    tuned.append(hostile_row(400, prompt=text, completion=text, solution=text, **more))
    return base, tuned


@pytest.fixture(scope="session")
def pages(rows, tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    base, tuned = (
        write_folder(root / name, found, MATH)
        for name, found in zip(("base", "tuned"), rows, strict=True)
    )
    return {"run": write_report(tuned), "compared": write_report(base, tuned)}


def click(browser, selector):
    place = one(browser, selector)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", place)
    place.click()


def open_first(browser):
    """Open the first row of the table, which may be drawn anew at any moment."""
    browser.execute_script("document.querySelector('.body .tr').click()")


@pytest.mark.parametrize("name", ["run", "compared"])
def test_runs_are_shown_and_fit_their_width(browser, pages, shots, name):
    show(browser, pages[name])
    whole_page(browser, shots / f"{name}-{browser.look}.png")
    # On the page as a whole nothing hangs over; wide tables scroll in their cards.
    wide, window, *charts = browser.execute_script(
        "return [document.documentElement.scrollWidth, innerWidth, "
        "...[...document.querySelectorAll('.chart svg')].map((svg) => "
        "svg.parentElement.clientWidth - svg.getBoundingClientRect().width)]"
    )
    assert wide <= window
    assert len(charts) > 12 and min(charts) >= -1
    assert every(browser, ".prompts .katex")


def test_a_value_of_a_column_shows_its_rows(browser, pages, rows):
    show(browser, pages["run"])
    click(browser, "#split [data-value=algebra]")
    wait_until(lambda: found(browser) == sum(row["source"] == "algebra" for row in rows[1]))
    choose(browser, "column", "level")
    choose(browser, "value", "3")
    wait_until(lambda: found(browser) == sum(row["level"] == 3 for row in rows[1]))
    choose(browser, "sort", "column step down")
    open_first(browser)
    columns = {
        line.find_element("tag name", "th").text: line.find_element("tag name", "td").text
        for line in every(browser, "#row .columns tr")
    }
    assert columns.keys() == {"step", "source", "level", "label", "meta"}
    assert (columns["step"], columns["level"]) == ("100", "3")
    assert '"tags": ["sum", "easy"]' in columns["meta"]


def test_rows_that_disagree_with_the_label_are_shown(browser, pages, rows):
    show(browser, pages["run"])
    expected = sum(r["accuracy_reward"] == 1 and r["label"] is False for r in rows[1])
    assert expected > 0
    click(browser, "#agreement .confusion [data-agreement=paid]")
    wait_until(lambda: found(browser) == expected)
    open_first(browser)
    assert "they disagree" in one(browser, "#row .warning").text


def test_formulas_are_drawn_and_can_be_read_as_they_were_written(browser, pages, shots):
    show(browser, pages["run"], "#row=5")
    assert one(browser, "#row").is_displayed()
    browser.save_screenshot(str(shots / f"formulas-{browser.look}.png"))
    assert len(every(browser, "#row .completion .katex")) >= 2
    assert every(browser, "#row .completion .display .mfrac")
    assert "\\frac" not in one(browser, "#row .completion").text
    fonts = browser.execute_script(
        "return [...document.fonts].filter((font) => font.status === 'loaded').length"
    )
    assert fonts >= 2
    one(browser, "#source").click()
    assert "\\frac" in one(browser, "#row .completion").text
    assert every(browser, "#row .katex") == []


def test_formulas_cannot_break_the_page(browser, pages):
    show(browser, pages["run"], "#row=400")
    wait_until(lambda: one(browser, "#row").is_displayed())
    assert every(browser, "#row a, #row img, #row script, #row [onclick], #detail #rows") == []
    widest = browser.execute_script(
        "return Math.max(...[...document.querySelectorAll('#row .formula')]"
        ".map((found) => found.getBoundingClientRect().height))"
    )
    assert widest < 2000
    # WebDriver's own .text takes half a minute for what is nested so deeply.
    text = browser.execute_script("return document.querySelector('#row .completion').textContent")
    assert "$5 and $6" in text


def test_a_link_leads_to_its_row(browser, pages):
    show(browser, pages["run"], "#row=17")
    assert one(browser, "#row-title").text.startswith("Row 17 ")
    one(browser, "#next").click()
    assert browser.current_url.endswith("#row=18")
    browser.execute_script("location.hash = '#row=3'")
    wait_until(lambda: one(browser, "#row-title").text.startswith("Row 3 "))
    one(browser, "#close").click()
    wait_until(lambda: "row=" not in browser.current_url)
    show(browser, pages["run"], "#row=999")
    assert "not on this page" in one(browser, "#found").text
    assert not one(browser, "#row").is_displayed()


def test_what_is_filtered_is_downloaded(browser, pages, rows, tmp_path):
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    show(browser, pages["run"])
    choose(browser, "column", "source")
    choose(browser, "value", "arithmetic")
    wait_until(lambda: found(browser) < 401)
    click(browser, "#csv")
    file = tmp_path / "rows.csv"
    wait_until(file.exists)
    with file.open(encoding="utf-8-sig", newline="") as lines:
        written = list(csv.DictReader(lines))
    expected = [row for row in rows[1] if row["source"] == "arithmetic"]
    assert [int(row["row_id"]) for row in written] == [row["row_id"] for row in expected]
    for row, given in zip(written, expected, strict=True):
        assert (row["completion"], row["prompt"]) == (given["completion"], given["prompt"])
        assert (row["source"], row["step"]) == ("arithmetic", str(given["step"]))
        assert (float(row["total"]) if row["total"] else None) == given["total"]


def test_text_that_a_spreadsheet_would_run_is_marked_as_text(browser, pages):
    show(browser, pages["run"])
    given = ["=1+1", "+cmd", "-x", "-5", "@a", 'say "hi", you', "two\nlines", None, -0.5]
    text = browser.execute_script(
        "const cells = arguments[0];"
        "return plaudit.csvOf([['a', (row) => cells[row]]], cells.map((_, at) => at))",
        given,
    )
    cells = [row[0] if row else "" for row in csv.reader(text.splitlines(keepends=True))][1:]
    shown = ["'=1+1", "'+cmd", "'-x", "-5", "'@a", 'say "hi", you', "two\nlines", "", "-0.5"]
    assert cells == shown


def test_two_runs_are_compared_row_by_row(browser, pages, shots):
    show(browser, pages["compared"])
    assert found(browser) == 801
    choose(browser, "change", "lower")
    wait_until(lambda: found(browser) < 801)
    assert found(browser) % 2 == 0
    open_first(browser)
    browser.save_screenshot(str(shots / f"two-rows-{browser.look}.png"))
    earlier, later = every(browser, "#row .side .run")
    assert earlier.text.startswith("base · row ") and later.text.startswith("tuned · row ")
    totals = [float(side.text.rpartition(" ")[2].replace("−", "-")) for side in (earlier, later)]
    assert totals[1] < totals[0]
    sides = every(browser, "#row .side")
    beside = sides[1].rect["x"] > sides[0].rect["x"] + 100
    assert beside == browser.look.startswith("1280")
    one(browser, "#close").click()
    click(browser, "#prompts [data-prompt]")
    wait_until(lambda: "of one prompt" in one(browser, "#found").text)
    assert 2 <= found(browser) <= 16
    click(browser, "#prompts [data-run]")
    assert one(browser, "#row-title").text.startswith("tuned · Row ")
    assert browser.current_url.endswith("&run=2")
