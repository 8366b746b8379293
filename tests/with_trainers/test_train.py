"""`plaudit train` with the real TRL: it trains, and goes on where it was killed."""

import json
import os
import signal
import subprocess
import sys

import pytest
from dual_run import ASKED, LONG, SAID, tokenizer_of
from tiny_models import model_of

RUN = """
model = "model"
data = "rows.jsonl"
recipe = "canoe-dual"
output = "{output}"

[prompts]
template = "canoe"

[trainer]
max_steps = 6
save_steps = 2
per_device_train_batch_size = 8
num_generations = 4
max_completion_length = 6
use_cpu = true
bf16 = false
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, rows, and two files that differ in where the results go."""
    folder = tmp_path_factory.mktemp("train")
    tokenizer = tokenizer_of([*LONG, *SAID, *ASKED])
    tokenizer.chat_template = "{{ messages[-1]['content'] }}"
    model = model_of(tokenizer, "olmo")
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    rows = [
        {"context": "Cy is here", "question": f"Who ?{number}", "answer": "Ada"}
        for number in range(16)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for output in ("whole", "killed"):
        (folder / f"{output}.toml").write_text(RUN.format(output=output))
    return folder


def started(file):
    return subprocess.Popen(
        [sys.executable, "-m", "plaudit", "train", str(file)],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(file):
    """The lines that a run prints."""
    out, err = (process := started(file)).communicate(timeout=300)
    assert process.returncode == 0, err[-3000:]
    return out.splitlines()


def steps_of(lines):
    return [line.split()[1] for line in lines if line.startswith("step ")]


def rewards_of(output):
    """What was logged of the rewards in each step, by the run's last checkpoint."""
    state = json.loads((output / "checkpoint-6" / "trainer_state.json").read_text())
    return [
        {name: value for name, value in log.items() if name.startswith("rewards/")}
        for log in state["log_history"]
        if "reward" in log
    ]


def test_a_killed_run_goes_on_from_its_checkpoint(folder):
    whole = finished(folder / "whole.toml")
    assert steps_of(whole) == [f"{step}/6" for step in range(1, 7)]
    assert "influence_reward" in whole[-1]
    assert (folder / "whole" / "model" / "config.json").exists()
    with started(folder / "killed.toml") as process:
        for line in process.stdout:
            if line.startswith("step 3/6"):
                process.send_signal(signal.SIGKILL)
                break
    assert not (folder / "killed" / "model").exists()
    assert steps_of(finished(folder / "killed.toml")) == [f"{step}/6" for step in range(3, 7)]
    assert rewards_of(folder / "killed") == rewards_of(folder / "whole")
    assert (
        recorded(folder / "killed") == recorded(folder / "whole") == dict.fromkeys(range(1, 7), 8)
    )


def test_a_finished_run_is_left_as_it_is(folder):
    """With evaluation data and LoRA; it is evaluated before its first step and after its last."""
    file, output = folder / "lora.toml", folder / "lora"
    more = 'bf16 = false\n[peft]\nr = 4\ntarget_modules = ["q_proj"]'
    text = RUN.format(output="lora").replace("bf16 = false", more)
    file.write_text(text.replace("data =", 'eval_data = "rows.jsonl"\ndata =', 1))
    first = finished(file)
    kinds = [" ".join(line.split()[:2]) for line in first]
    evaluated = ["eval 0/6", "eval 2/6", "eval 4/6", "eval 6/6"]
    assert [kind for kind in kinds if kind.startswith("eval")] == evaluated
    assert recorded(output) == dict.fromkeys(range(1, 7), 8)
    assert recorded(output, "record/evaluation") == dict.fromkeys([0, 2, 4, 6], 16 * 4)
    model = output / "model" / "adapter_model.safetensors"
    before = model.stat().st_mtime_ns, model.read_bytes()
    assert finished(file) == []
    assert (model.stat().st_mtime_ns, model.read_bytes()) == before
    # Killed after the last checkpoint, before the model was saved: no step is made.
    (output / "trainer_state.json").unlink()
    model.unlink()
    assert finished(file) == []
    assert model.read_bytes() == before[1]
    file.write_text(file.read_text().replace("max_steps = 6", "max_steps = 8"))
    assert steps_of(finished(file)) == ["7/8", "8/8"]


def test_a_wrong_model_is_said_and_does_not_refuse_the_corrected_run(folder, capsys):
    from plaudit.cli import main

    file, text = folder / "misspelt.toml", RUN.format(output="misspelt")
    file.write_text(text.replace('"model"', '"modle"'))
    assert main(["train", str(file)]) == 1
    assert 'there is no model "modle": no file or folder has this name' in capsys.readouterr().err
    assert not (folder / "misspelt").exists()


def recorded(output, name="record"):
    """How many rows of each step the record has."""
    from plaudit.tables import open_scored

    counts = {}
    for _, batch in open_scored(output / name).batches(["step"]):
        for step in batch["step"].to_pylist():
            counts[step] = counts.get(step, 0) + 1
    return counts


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("max_steps", "max_step", 'has no argument "max_step"; did you mean "max_steps"?'),
        ("bf16 = false", 'output_dir = "x"', "output_dir is set by plaudit train: leave it out"),
        ('"canoe-dual"', '"vlm-r1-rec"', 'no column "image_path" or "image" or "images"'),
        ('template = "canoe"', 'template = "canoe"\nanswer = "gold"', 'row 0 has no "gold"'),
        ("max_steps = 6", "max_steps = 6\nnum_generations = 3", "Cannot overwrite a value"),
        ("max_steps = 6", 'max_steps = "6"', "[trainer] max_steps must be a whole number, got"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_loaded(folder, old, new, complaint, capsys):
    from plaudit.cli import main

    file = folder / "wrong.toml"
    file.write_text(RUN.format(output="wrong").replace(old, new, 1))
    assert main(["train", str(file)]) == 2
    assert complaint in capsys.readouterr().err
    assert not (folder / "wrong").exists()
