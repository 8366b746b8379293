"""Rewards with a hole are found with its class, and sound ones are left alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import audited_rewards
import pytest
from audited_tables import TABLES

import plaudit
from plaudit.recipes import Component, Recipe

HERE = str(Path(__file__).parent)
QUICK = {
    *("gold_holds_reply", "numbered_steps", "any_of_the_tags", "recall_of_boxes"),
    *("effort_between_limits", "time_limit_by_signal"),
    *("exact_number", "letter", "overlap"),
    *("expected_calls_are_among_them", "keys_only", "calls_by_plaudit", "fields_by_plaudit"),
}
LONG = {
    *("finds_its_own_verdict", "works_it_out_itself", "whole_part_only", "word_f1"),
    *("what_follows_is_not_read", "whole_pixels_only", "form_with_content"),
    *("calls_anywhere_in_the_text", "names_of_functions_only"),
    *("value_or_a_list_that_has_it", "pairs_anywhere_in_the_text"),
}
REPEATED = ("numbered_steps", "any_of_the_tags", "recall_of_boxes", "time_limit_by_signal")
AUDIT = pytest.mark.skipif(
    not os.environ.get("PLAUDIT_AUDIT_TESTS"), reason="`make test-audit` runs it"
)
# Time is measured where it is the point: it takes most of an audit's time.
SKIPPED = {False: ["cost"], True: []}


def audited(name, table, folder=HERE, module="audited_rewards"):
    recipe = Recipe(name, (Component("", f"{module}:{name}", folder=folder),))
    skip = SKIPPED["cost" in audited_rewards.HOLED.get(name, (set(), ""))[0]]
    return plaudit.audit(table, recipe, skip=skip)


def each(names):
    """A few for everybody; all of them take many minutes, `make test-audit` runs these."""
    marks = {**dict.fromkeys(QUICK, ()), **dict.fromkeys(LONG, pytest.mark.long)}
    return [pytest.param(name, marks=marks.get(name, AUDIT), id=name) for name in names]


@pytest.mark.parametrize("name", each(audited_rewards.HOLED))
def test_a_hole_is_found_with_its_class(name):
    kinds, table = audited_rewards.HOLED[name]
    found = audited(name, TABLES[table]())
    assert kinds & {finding.kind for finding in found.findings if finding.share >= 0.5}, str(found)


@pytest.mark.parametrize("name", each(audited_rewards.SOUND))
def test_a_sound_reward_has_no_hole(name):
    found = audited(name, TABLES[audited_rewards.SOUND[name]]())
    assert not [f for f in found.findings if f.share >= 0.5], str(found)


@pytest.mark.long
@pytest.mark.parametrize("name", [*REPEATED, "qa"])
def test_the_same_seed_gives_the_same_findings_byte_for_byte(name, tmp_path):
    """In two processes, in which the order of sets is another."""
    table = {**audited_rewards.HOLED, "qa": (None, "words")}[name][1]
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in TABLES[table]()))
    what = ["--recipe", name] if name == "qa" else ["--reward", f"audited_rewards:{name}"]
    command = ["-m", "plaudit", "audit", str(rows), *what, "--skip", "cost", "--json", "--quiet"]
    once, again = (
        subprocess.run(
            [sys.executable, *command, "--seed", "3"],
            cwd=HERE,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert json.loads(once)["findings"] or name == "qa"
    assert once == again


@AUDIT
def test_collected_rewards(shared):
    folder = shared / "audit" / "rewards"
    known = json.loads((folder / "visible.json").read_text())
    found, of_its_class, flagged = [], [], []
    for name, facts in known.items():
        lines = (folder / facts["table"]).read_text().splitlines()
        recipe = Recipe(name, (Component("", f"visible:{name}", folder=str(folder)),))
        audited = plaudit.audit(list(map(json.loads, lines)), recipe)
        holes = [finding for finding in audited.findings if finding.share >= 0.5]
        kinds = {finding.kind for finding in holes}
        if facts["class"] is None:
            flagged += [name] if holes else []
        else:
            found += [name] if holes else []
            of_its_class += [name] if kinds & {facts["class"], *facts["also"]} else []
    holed = {name for name, facts in known.items() if facts["class"]}
    assert set(found) == holed
    assert len(of_its_class) >= 29
    assert flagged == []
