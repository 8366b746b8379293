"""CANOE's second generation with the real TRL: both ways, two versions, and two processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plaudit.rewards.canoe import second_prompt

HERE = Path(__file__).parent
OLD_TRL = Path(sys.prefix) / "trl-1.7.0"  # installed beside, with --target


def run(folder, *modes, old=False, processes=1):
    """What each process of each run noted."""
    launch = [sys.executable]
    if processes > 1:  # --cpu would start one process only
        launch += ["-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu"]
        launch += [f"--num_processes={processes}", "--num_machines=1", "--mixed_precision=no"]
        launch += ["--dynamo_backend=no", "--main_process_port=0"]
    environment = dict(os.environ, TRL_EXPERIMENTAL_SILENCE="1", OMP_NUM_THREADS="1")
    environment["ACCELERATE_USE_CPU"] = "true"
    if old:
        paths = [str(OLD_TRL), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    for mode in modes:
        command = [*launch, str(HERE / "dual_run.py"), str(folder), mode]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
    return [
        [json.loads((folder / f"{mode}-{rank}.json").read_text()) for rank in range(processes)]
        for mode in modes
    ]


def completions_of(noted):
    return [again for batch in noted["calls"] for _, _, again in batch]


@pytest.mark.parametrize("old", [False, True], ids=["newest", "1.7.0"])
def test_a_subclass_and_a_rollout_function_give_the_same(old, tmp_path):
    if old and not OLD_TRL.exists():
        pytest.skip("TRL 1.7.0 is not installed beside the newest")
    [subclass], [rollout] = run(tmp_path, "subclass", "rollout", old=old)
    assert subclass["calls"] == rollout["calls"]
    assert subclass["rewards"] == rollout["rewards"]
    assert any(completions_of(subclass)), "no completion had a long answer"
    assert None in completions_of(subclass)
    # It is the second prompts that the model was asked, and what it wrote is the column.
    for batch, (asked, written) in zip(subclass["calls"], subclass["asked"][1::2], strict=True):
        seconds = [second_prompt(prompt, said) for prompt, said, _ in batch]
        assert asked == [second for second in seconds if second is not None]
        assert written == [again for _, _, again in batch if again is not None]


def test_rloo_generates_twice_too(tmp_path):
    [[noted]] = run(tmp_path, "rloo")
    assert any(completions_of(noted))


def test_each_process_gets_its_own_rows_and_none_waits(tmp_path):
    both, silent = run(tmp_path, "subclass", "silent", processes=2)
    for noted in both:
        for batch, (asked, written) in zip(noted["calls"], noted["asked"][1::2], strict=True):
            for (prompt, said, again), question, text in zip(batch, asked, written, strict=True):
                second = second_prompt(prompt, said)
                assert question == (prompt if second is None else second)
                assert again == (None if second is None else text)
    first, other = ([prompt for batch in n["calls"] for prompt, _, _ in batch] for n in both)
    assert first != other
    assert any(any(completions_of(noted)) for noted in both)
    assert not any(any(completions_of(noted)) for noted in silent)
