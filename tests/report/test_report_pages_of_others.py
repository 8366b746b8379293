"""What the report lends to other pages: look, skeleton, line chart, progress."""

import io
import subprocess
import sys

import pytest

from plaudit.reports import Chart, Line, html_page, line_chart, render_html
from plaudit.reports.page import packed
from plaudit.tables.summary import ProgressLine

HOSTILE = "</script><script>window.broken = 1</script>"


def test_what_is_text_stays_text():
    page = html_page(
        HOSTILE,
        render_html("<p>{{ text }}</p>", text=HOSTILE),
        about=HOSTILE,
        sections={"a": HOSTILE},
        data={"given": HOSTILE, "more": packed([HOSTILE])},
        scripts=[f"const text = '{HOSTILE}'"],
        styles=["p::after { content: '</style>' }"],
    )
    assert "window.broken = 1</script>" not in page
    assert page.count("<style>") == page.count("</style>") == 2
    assert html_page("a", HOSTILE).count("<script>") == 1


def test_only_a_page_that_is_served_may_ask_its_server():
    assert "connect-src" not in html_page("a", "")
    assert "connect-src 'self'" in html_page("a", "", fetches=True)


def test_charts_are_in_the_page_with_their_script():
    chart = Chart("curve", "Total", line_chart([Line("total", [1], [0.5])]))
    body = render_html("{{ figure(chart) }}", chart=chart)
    page = html_page("a", body, charts=[chart], vega="window.vegaEmbed = 0")
    assert 'data-chart="curve"' in page and '"name":"curve"' in page
    assert "vegaEmbed = 0" in page


def test_lines_of_unequal_length_are_named():
    with pytest.raises(ValueError, match="line 'total': y must have as many entries as x: 2 exp"):
        line_chart([Line("total", [1, 2], [0.5])])
    with pytest.raises(ValueError, match="low and high go together"):
        line_chart([Line("total", [1], [0.5], low=[0.1])])


def test_what_is_not_finite_leaves_a_gap():
    values = [0.5, float("inf"), float("nan"), -float("inf"), None]
    chart = Chart("curve", "Total", line_chart([Line("total", range(5), values)], percent=True))
    assert [point["y"] for point in chart.spec["data"]["values"]] == [0.5, None, None, None, None]
    assert html_page("Findings", "", charts=[chart], vega="")  # as JSON, which has no infinity


def test_shares_that_are_small_are_not_drawn_at_the_bottom():
    def domain(*values):
        spec = line_chart([Line("a", list(range(len(values))), values)], percent=True)
        return spec["layer"][0]["encoding"]["y"]["scale"]["domain"]

    assert domain(0.2, 0.9) == [0, 1]
    assert domain(0.02, None, float("nan")) == [0, 0.025]
    assert domain() == [0, 1]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_line_on_a_terminal_and_goes_at_the_end():
    out = Terminal()
    with ProgressLine(out, quiet=0.0) as progress:
        progress("reading", 10, 4000)
    assert out.getvalue() == "\rplaudit: reading: 10 of 4,000 rows\r" + " " * 34 + "\r"


def test_a_quick_report_says_nothing():
    out = io.StringIO()
    with ProgressLine(out) as progress:
        progress("reading", 1, 2)
    assert out.getvalue() == ""


def test_the_line_chart_needs_nothing_that_is_heavy():
    code = "import sys; from plaudit.reports import Line, line_chart"
    code += "; line_chart([Line('a', [1], [2])])"
    code += "; print('altair' in sys.modules, 'numpy' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout.split() == ["False", "False"]
