"""Which rows are a group: the trainer's own groups, or else those of a prompt and its image."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import plaudit
from plaudit.recipes import load
from plaudit.runs import finish, open_recorded
from plaudit.runs.recording import TrainerCall
from plaudit.tables import open_scored
from plaudit.trainers import ms_swift, slime, verl

sys.path.insert(0, str(Path(__file__).parents[1] / "watch"))
from made_runs import GROUP, Trainer


def right(completions, **kwargs):
    """1.0 for each completion that is a 1."""
    return [float(text == "1") for text in completions]


def rows(folder):
    finish(folder)
    scored = open_scored(folder)
    names = pq.read_schema(scored.parts[0]).names
    return [row for _, batch in scored.batches(names) for row in batch.to_pylist()]


def sizes(folder):
    """How many rows each group has."""
    ids = [row["group_id"] for row in rows(folder)]
    return [ids.count(one) for one in dict.fromkeys(ids)]


def batch(prompts, completions="10101010", **columns):
    """Rows as TRL passes them: each prompt for as many completions as a group has."""
    repeated = {
        name: [value for value in values for _ in range(GROUP)] for name, values in columns.items()
    }
    asked = [prompt for prompt in prompts for _ in range(GROUP)]
    return {"prompts": asked, "completions": list(completions) * len(prompts), **repeated}


def images(count):
    """Images that differ; each is decoded anew for every row, as TRL's are."""
    return [Image.new("RGB", (640, 480), (40 * n, 90, 20)) for n in range(count)]


def test_a_prompt_that_is_drawn_twice_is_two_groups_and_one_prompt(tmp_path):
    function = plaudit.record(right, tmp_path)
    given = batch(["2 + 2?", "2 + 2?", "3 + 3?"])
    given["completions"] = list("1" * GROUP + "0" * GROUP + "10" * (GROUP // 2))
    Trainer().score([function], 1, **given)
    assert sizes(tmp_path) == [GROUP] * 3
    run = open_recorded(tmp_path)
    run.refresh()
    assert (run.steps[0].groups, run.steps[0].flat) == (3, 2)
    key = plaudit.runs.sessions.prompt_key(rows(tmp_path)[0]["group_id"], 1)
    assert len(run.prompt_rows(key, most=100)) == 2 * GROUP


def test_a_group_may_be_spread_over_processes_and_a_step_over_calls():
    half = GROUP // 2
    calls = [TrainerCall(1, group_size=GROUP, process=n, processes=2) for n in range(2)]
    groups = [
        [call.group(row, rows=half, first=first) for call in calls for row in range(half)]
        for first in (0, half)
    ]
    assert groups == [[0] * GROUP, [1] * GROUP]


@pytest.mark.parametrize("has_trainer", [True, False])
@pytest.mark.parametrize("form", ["image", "images", "messages", "image_path"])
def test_prompts_with_different_images_are_different_groups(tmp_path, form, has_trainer):
    pictures = images(4)
    text = "Where is the box?"
    if form == "image_path":
        for n, picture in enumerate(pictures):
            picture.save(tmp_path / f"{n}.png")
        given = batch([text] * 4, image_path=[str(tmp_path / f"{n}.png") for n in range(4)])
    elif form == "messages":
        said = {"type": "text", "text": text}
        contents = [[{"type": "image", "image": picture}, said] for picture in pictures]
        given = batch([[{"role": "user", "content": content}] for content in contents])
    else:
        columns = {form: pictures if form == "image" else [[p] for p in pictures]}
        given = batch([text] * 4, **columns)
        if form == "image":
            given["image"] = [picture.copy() for picture in given["image"]]
    folder = tmp_path / "run"
    function = plaudit.record(right, folder)
    if has_trainer:
        Trainer().score([function], 1, **given)
    else:
        function(**given)
    assert sizes(folder) == [GROUP] * 4
    found = rows(folder)
    assert form not in found[0] or form == "image_path"
    thumbnails = [row["thumbnail"] for row in found[::GROUP]]
    assert len(set(thumbnails)) == 4
    with Image.open(folder / thumbnails[2]) as small:
        assert small.size == (160, 120)
        assert np.abs(np.array(small.getpixel((80, 60))) - (80, 90, 20)).max() < 4


def test_the_page_shows_thumbnails_and_a_broken_image_is_left_out(tmp_path):
    from plaudit.reports.watch import WatchedRun

    function = plaudit.record(right, tmp_path)
    shown = [*images(1), {"bytes": b"no image at all", "path": None}, None]
    function(prompts=["?"] * 3, completions=["1", "0", "1"], image=shown)
    finish(tmp_path)
    first, broken, none = WatchedRun(tmp_path, "run").rows({}, most=9)["rows"]
    assert first["thumbnail"].startswith("data:image/jpeg;base64,/9j/")
    assert broken["thumbnail"] is None and none["thumbnail"] is None
    assert "image" not in first["others"]


def test_what_is_evaluated_on_is_recorded_apart_with_the_step_that_the_trainer_logs(tmp_path):
    function = plaudit.record(right, tmp_path)
    trainer = Trainer()
    for step in (1, 2):
        trainer.score([function], step, **batch(["2 + 2?"]))
    trainer.model.training = False
    trainer.score([function], 2, **batch(["7 + 7?", "8 + 8?"]))
    assert [row["step"] for row in rows(tmp_path)] == [1] * GROUP + [2] * GROUP
    evaluated = rows(tmp_path / "evaluation")
    assert [row["step"] for row in evaluated] == [2] * 2 * GROUP
    assert sizes(tmp_path / "evaluation") == [GROUP] * 2


@pytest.mark.parametrize("trainer", ["verl", "slime"])
def test_the_ids_of_a_trainer_make_groups(tmp_path, monkeypatch, trainer):
    monkeypatch.setenv("PLAUDIT_RECORD", str(tmp_path))
    monkeypatch.setenv("PLAUDIT_RECORD_ROWS", "6")
    for group in ("a", "a", "b", "b", "c", "c"):
        if trainer == "verl":
            info = {"index": 1, "uid": group}
            verl.compute_score("math", r"\boxed{4}", "4", info, recipe="trl-math")
        else:
            body = {"prompt": "2 + 2?", "response": "4", "label": "4", "group_index": ord(group)}
            slime.batch_of(body).scores(plaudit.trainers.chosen("trl-math"))
    assert sizes(tmp_path) == [2, 2, 2]


def test_ms_swift_has_prompts_groups_and_lengths(tmp_path):
    classes = ms_swift.reward_classes(plaudit.record(load("trl-math"), tmp_path))
    asked = {"role": "user", "content": "What is 2 + 2?"}
    said = {"role": "assistant", "content": r"\boxed{4}"}
    classes["plaudit_accuracy_reward"]()(
        [said["content"]] * 4,
        solution=["4"] * 4,
        messages=[[asked, said]] * 4,
        prompt_id=["prompt_0"] * 2 + ["prompt_1"] * 2,
        response_token_ids=[[[1, 2, 3], [4]]] * 4,
        trainer_state=SimpleNamespace(global_step=6),
    )
    assert sizes(tmp_path) == [2, 2]
    first = rows(tmp_path)[0]
    assert (first["step"], first["tokens"]) == (7, 4)
    assert "What is 2 + 2?" in first["prompt"] and "boxed" not in first["prompt"]
    assert "messages" not in first and "response_token_ids" not in first


def test_threads_of_a_process_share_a_session(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAUDIT_RECORD", str(tmp_path))
    barrier = threading.Barrier(8)

    def score():
        barrier.wait()
        for _ in range(4):
            verl.compute_score("math", r"\boxed{4}", "4", {"index": 1}, recipe="trl-math")

    threads = [threading.Thread(target=score) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows(tmp_path)) == 32
    assert len(list((tmp_path / ".record" / "sessions").iterdir())) == 1
