"""The page and the door: what is written, that it is safe, small, the same each time."""

import argparse
import base64
import hashlib
import html
import re
import subprocess
import sys
from pathlib import Path

import pytest
from page_contents import data_of, scripts_of, styles_in, text_of
from PIL import Image
from scored_sample import (
    HOSTILE,
    MATH,
    SMALL_BUNDLE,
    box_rows,
    hostile_row,
    math_rows,
    reason,
    write_folder,
)

import plaudit.reports
from plaudit.cli import main
from plaudit.reports import ReportError, _report, page, write_report


@pytest.fixture(autouse=True)
def small_bundle(request, monkeypatch):
    """Most tests look at other things than Vega's script."""
    if "whole" not in request.keywords.get("usefixtures", argparse.Namespace(args=())).args:
        monkeypatch.setattr(page, "_CODE", SMALL_BUNDLE)


@pytest.fixture
def whole():
    """The page with all of its script."""


@pytest.fixture
def sums(tmp_path):
    return write_folder(tmp_path / "sums", math_rows(160), MATH, [{"line": 7, "reason": "broken"}])


@pytest.mark.usefixtures("whole")
def test_a_page_and_its_charts_are_written(sums):
    page = write_report(sums)
    assert page == sums / "_report" / "index.html"
    assert 1_500_000 < page.stat().st_size < 1_900_000
    names = {file.stem for file in page.parent.glob("*.png")}
    assert names == {
        "total",
        *("at-k", "groups", "length", "correlation", "statuses"),
        *(f"component-0{place}-{name}" for place, name in enumerate(MATH, 1)),
    }
    for file in page.parent.glob("*.png"):
        with Image.open(file) as image:
            assert min(image.size) > 200
    assert len(scripts_of(page)[0]) > 500_000


@pytest.mark.long
def test_the_same_folder_gives_the_same_page(sums, tmp_path):
    first, second = (write_report(sums, out=tmp_path / name) for name in "ab")
    assert text_of(first) == text_of(second)


def test_charts_of_components_that_are_gone_go_and_what_is_not_ours_stays(sums, tmp_path):
    for name in ("component-07-gone.png", "holiday.png"):
        (tmp_path / name).write_bytes(b"")
    write_report(sums, out=tmp_path)
    assert not (tmp_path / "component-07-gone.png").exists()
    assert (tmp_path / "holiday.png").exists()


def test_nothing_on_the_page_is_fetched(sums):
    text = text_of(write_report(sums))
    assert "default-src 'none'" in text
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    links = re.findall(r"(?:src|href)=\"([^\"]*)\"", markup)
    assert [link for link in links if not link.startswith(("#", "data:"))] == []
    assert re.findall(r"url\((?!data:)[^)]*", styles_in(markup)) == []
    for script in scripts_of(sums / "_report" / "index.html"):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in text


def test_the_headline_says_what_the_rows_say(sums):
    text = html.unescape(text_of(write_report(sums)))
    assert "160 rows in 20 groups" in text
    assert "All 160 rows." in text
    assert "whole text" not in text


def test_the_table_holds_rows_as_they_are(sums):
    data = data_of(write_report(sums))
    row = next(iter(math_rows(1)))
    strings = data["strings"]
    assert data["id"][0] == 0
    assert data["text"][0] == row["completion"]
    assert strings[data["prompt"][0]] == row["prompt"]
    assert strings[data["gold"][0]] == row["solution"]
    assert data["values"][0] == [row[name] for name in MATH]
    value, *rest, ungated = data["reasons"][0][0]
    because = row["explanation"][0]
    assert (value, ungated) == (because["value"], None)
    fields = ("component", "status", "decided_by", "answer", "gold", "why")
    assert [strings[place] for place in rest] == [because[name] for name in fields]


def test_what_a_model_wrote_cannot_break_out(tmp_path):
    rows = [hostile_row(0), hostile_row(1, total=1.0, accuracy_reward=1.0)]
    rejected = [{"line": HOSTILE, HOSTILE: "\ud800"}]
    name = "accuracy_reward"
    folder = write_folder(tmp_path, rows, [name], rejected, recipe=HOSTILE, inputs=[HOSTILE])
    page = write_report(folder)
    text = text_of(page)
    assert "window.broken = 1</script>" not in text
    assert "<img src=x" not in text
    assert "\0" not in text
    assert text.count("<script") == text.count("</script>") == 6
    assert HOSTILE in data_of(page)["strings"]


def test_a_component_may_have_any_name(tmp_path):
    name = "</script><b>../../x"
    row = hostile_row(explanation=[reason(name, 1.0)], **{name: 1.0})
    page = write_report(write_folder(tmp_path, [row], [name]))
    assert name not in text_of(page)
    assert {file.name for file in page.parent.iterdir()} >= {"component-01-script-b-x.png"}


def test_of_many_rows_some_are_on_the_page(tmp_path):
    rows = [hostile_row(row, completion="x" * 30_000, status="scored") for row in range(900)]
    page = write_report(write_folder(tmp_path, rows, ["accuracy_reward"]), rows=500)
    text = html.unescape(text_of(page))
    assert "500 of 900 rows" in text
    assert "400 are shown with their whole text (up to 20,000 characters)" in text
    data = data_of(page)
    assert len(data["id"]) == 500
    left_out = sorted({text[1] for text in data["text"]})
    assert left_out == [10_000, 29_600]
    assert page.stat().st_size < 500_000


def test_a_row_has_all_of_its_columns_and_long_ones_are_cut(tmp_path):
    more = {"source": "algebra", "ids": list(range(5000)), "meta": {"a": [1]}, "image": b"\x89PNG"}
    rows = [hostile_row(row, note="x" * 3000, **more) for row in range(3)]
    rows.append(hostile_row(3, note=None, **dict.fromkeys(more)))
    data = data_of(write_report(write_folder(tmp_path, rows, ["accuracy_reward"])))
    assert data["columns"] == ["note", "source", "ids", "meta", "image"]
    shown = [[None if at is None else data["strings"][at] for at in r] for r in data["others"]]
    note, source, ids, meta, image = shown[0]
    assert len(note) < 1100
    assert (source, meta) == ("algebra", '{"a": [1]}')
    assert ids.startswith("[0, 1, 2") and ids.endswith("… 5,000 in all")
    assert image == shown[3][4] == "(bytes: not shown)"
    assert shown[3][:4] == [None] * 4


def test_other_columns_do_not_make_the_page_large(tmp_path, monkeypatch):
    monkeypatch.setattr(_report, "_OTHERS", 20_000)
    rows = [hostile_row(row, note=f"{row} " + "x" * 900) for row in range(200)]
    data = data_of(write_report(write_folder(tmp_path, rows, ["accuracy_reward"])))
    notes = [len(data["strings"][others[0]]) for others in data["others"]]
    assert max(notes) > 900
    assert sum(notes) < 30_000


def test_formulas_are_drawn_by_katex_which_is_there_only_if_there_are_some(sums, tmp_path):
    write_report(sums)
    has = [any("renderToString" in script for script in scripts_of(sums / "_report/index.html"))]
    plain = [hostile_row(row, completion="It is 4.") for row in range(2)]
    page = write_report(write_folder(tmp_path / "plain", plain, ["accuracy_reward"]))
    has.append(any("renderToString" in script for script in scripts_of(page)))
    assert has == [True, False]
    assert page.stat().st_size < sums.joinpath("_report/index.html").stat().st_size - 500_000
    licence = Path(plaudit.reports.__file__).parent / "katex" / "LICENSE"
    assert "Khan Academy" in licence.read_text(encoding="utf-8")


def test_boxes_are_on_the_page(tmp_path):
    folder = write_folder(tmp_path, box_rows(tmp_path), ["iou_reward"])
    text = text_of(write_report(folder))
    assert text.count('src="data:image/jpeg;base64,') == 16


@pytest.mark.long
def test_images_are_found_beside_the_input(tmp_path):
    images = tmp_path / "data"
    rows = list(box_rows(images, 4))
    for inputs in (
        [{"path": str(images / "rows.jsonl")}],
        str(images / "rows.jsonl"),
        [str(images)],
    ):
        folder = write_folder(tmp_path / "scored", rows, ["iou_reward"], inputs=inputs)
        assert "data:image/jpeg" in text_of(write_report(folder))


@pytest.mark.parametrize("count", [0, 1])
def test_no_row_and_one_row(tmp_path, count):
    page = write_report(write_folder(tmp_path, math_rows(count), MATH))
    assert len(data_of(page)["id"]) == count


def test_nothing_but_none(tmp_path):
    row = hostile_row(accuracy_reward=None, total=None, explanation=None, solution=None)
    page = write_report(write_folder(tmp_path, [row, row], ["accuracy_reward"]))
    assert data_of(page)["total"] == [None, None]
    assert "No row has a value." in text_of(page)


def test_an_unfinished_run_says_so(tmp_path):
    page = write_report(write_folder(tmp_path, math_rows(8), MATH, finished=False))
    assert "has not finished" in text_of(page)


def test_a_recorded_run_is_not_called_unfinished_for_ever(tmp_path):
    folder = write_folder(tmp_path, math_rows(8), MATH, finished=False, recorded=True)
    said = text_of(write_report(folder))
    assert "has not finished" not in said
    assert "This run was recorded" in said


@pytest.mark.long
def test_what_is_right_can_be_chosen(sums):
    assert "<code>accuracy_reward</code>" in text_of(write_report(sums))
    assert "<code>accuracy_reward</code>" in text_of(write_report(sums, correct=MATH[0]))
    with pytest.raises(
        ReportError, match=r"think_format_reward does not say which .*: choose accuracy_reward, or"
    ):
        write_report(sums, correct="think_format_reward")
    with pytest.raises(ReportError, match="no component is called 'accuracy'; the run has acc"):
        write_report(sums, correct="accuracy")


def run_with(capsys, *arguments):
    code = main(["report", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_the_command_prints_where_the_page_is(sums, tmp_path, capsys):
    code, out, err = run_with(capsys, sums, "--out", tmp_path / "there", "--rows", "10")
    # Nothing is wrong; what a slow machine may say is how far it is.
    assert (code, out) == (0, f"{tmp_path / 'there' / 'index.html'}\n")
    assert "cannot" not in err


def test_the_command_says_in_one_line_what_is_wrong(sums, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for arguments in (
        [tmp_path / "nowhere"],
        [tmp_path],
        [sums, "--rows", "0"],
        [sums, "--correct", "nothing"],
        [sums, "--out", tmp_path / "file"],
        [sums, "--by", "source"],
        [sums, "--step", "solution"],
        [sums, "--label", "solution"],
        [sums, tmp_path / "nowhere"],
    ):
        code, out, err = run_with(capsys, *arguments)
        assert (code, out) == (2, "")
        assert err.startswith("plaudit: ")
        assert err.count("\n") == 1


def test_what_is_not_installed_is_named(sums):
    code = "import sys; from pathlib import Path; from plaudit.reports import write_report; "
    code += "sys.modules['altair'] = None; write_report(Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, sums], capture_output=True, text=True)
    assert "ReportError: a report needs altair: pip install 'plaudit[report]'" in done.stderr


def test_a_mistake_of_our_own_is_no_missing_package(sums, monkeypatch):
    monkeypatch.setitem(sys.modules, "plaudit.reports._report", None)
    with pytest.raises(ImportError):
        write_report(sums)


def test_where_the_other_process_fails_the_script_is_made_here(monkeypatch):
    monkeypatch.setattr(page, "_CODE", "raise SystemExit(1)")
    monkeypatch.setattr(page.vl_convert, "javascript_bundle", lambda snippet: "made here")
    with page.bundling() as script:
        assert script() == "made here"


def test_the_other_process_ends_with_the_block(monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(page, "_CODE", "import time; time.sleep(600)")
    monkeypatch.setattr(
        subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[0]
    )
    with pytest.raises(KeyError), page.bundling():
        raise KeyError
    assert started[0].poll() is not None


def test_importing_the_door_is_light():
    code = "import sys, plaudit.reports; print('altair' in sys.modules, 'pyarrow' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout.split() == ["False", "False"]


def test_the_files_of_the_page_are_in_the_package():
    here = Path(plaudit.reports.__file__).parent
    assert {"page.css", "page.js", "shared.js", "page.html.jinja", "skeleton.html.jinja"} <= {
        file.name for file in here.iterdir()
    }
