"""The command line, as a person meets it."""

import argparse
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import pytest

import plaudit
from plaudit.cli import COMMANDS, main
from plaudit.cli.arguments import add_arguments
from plaudit.recipes import load, presets
from plaudit.reports.audit._attack import CLASSES
from plaudit.rewards import trl

REWARDS = {
    "canoe": "accuracy_reward influence_reward format_reward len_reward",
    "vlm_r1": "default_accuracy_reward iou_reward detection_score cosine_reward repetition_reward "
    "format_reward format_reward_rec accuracy_reward cosine_rewards get_cosine_rewards "
    "repetition_rewards",
    "trl": "accuracy_reward reasoning_accuracy_reward get_cosine_scaled_reward "
    "think_format_reward get_repetition_penalty_reward get_soft_overlong_punishment",
    "answers": "answer_reward choice_reward mention_reward exact_match_reward f1_reward",
    "text": "anls_reward relaxed_accuracy_reward vqa_accuracy_reward wer_reward cer_reward",
    "vision": "box_reward boxes_reward point_reward count_reward span_reward",
    "instructions": "instruction_reward",
    "tools": "tool_call_reward tool_schema_reward bfcl_reward",
    "structured": "json_schema_reward fields_reward format_reward",
    "code": "code_reward",
    "messages": "tool_use_reward turn_limit_reward no_repeat_reward",
}
RUN = [sys.executable, "-c", "import sys; from plaudit.cli import main; sys.exit(main())"]


def run(capsys, *arguments):
    """The exit code, what was printed, and what was complained."""
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


def tried(capsys, *arguments):
    code, out, err = run(capsys, "try", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def refused(capsys, *arguments):
    """The one line that says what is wrong."""
    code, out, err = run(capsys, "try", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    return err


def test_list_names_every_reward_with_its_signature_and_a_line(capsys):
    code, out, err = run(capsys, "list")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    signatures, descriptions = lines[0::2], lines[1::2]
    names = {signature.partition("(")[0] for signature in signatures}
    assert names == {f"{system}.{name}" for system in REWARDS for name in REWARDS[system].split()}
    assert "canoe.len_reward(completions, **kwargs)" in signatures
    assert "vlm_r1.default_accuracy_reward(content, sol, **kwargs)" in signatures
    assert "trl.get_repetition_penalty_reward(ngram_size=3, max_penalty=-1.0)" in signatures
    assert all(line.startswith("    ") and len(line) > 20 for line in descriptions)


def test_list_with_words_names_the_rewards_that_have_them_all(capsys):
    code, out, _ = run(capsys, "list", "VLM_R1", "box")
    names = [line.partition("(")[0] for line in out.splitlines()[0::2]]
    assert code == 0
    assert "vlm_r1.iou_reward" in names
    assert all(name.startswith("vlm_r1.") for name in names)


def test_presets_are_listed_and_printed_as_files(capsys, tmp_path):
    code, out, _ = run(capsys, "presets")
    assert code == 0
    assert [line for line in out.splitlines() if not line.startswith(" ")] == presets()
    assert "    trl.accuracy_reward\n    columns: completions, solution\n" in out
    code, out, _ = run(capsys, "presets", "canoe")
    (tmp_path / "mine.toml").write_text(out)
    assert load(tmp_path / "mine.toml").needs() == load("canoe").needs()


def test_a_whole_recipe_can_be_tried(capsys):
    asked = ("--recipe", "trl-reasoning", "--completion", r"\boxed{4}", "--solution", "4")
    code, out, err = run(capsys, "try", *asked)
    assert (code, err) == (0, "")
    assert out.startswith(
        "recipe      trl-reasoning\ntotal       0.0\nstatus      no_answer\n\nreasoning_"
    )
    assert "\nthink_format_reward (trl.think_format_reward)\n  value       0.0\n" in out
    printed = tried(capsys, *asked)
    assert (printed["recipe"], printed["total"]) == ("trl-reasoning", 0.0)
    assert printed["components"]["think_format_reward"]["value"] == 0.0


def test_a_column_of_a_recipe_may_be_passed_by_either_name(capsys, tmp_path):
    recipe = '[columns]\nsolution = "answer"\n[[rewards]]\nreward = "trl.accuracy_reward"'
    (tmp_path / "mine.toml").write_text(recipe)
    asked = ("--recipe", str(tmp_path / "mine.toml"), "--completion", r"\boxed{4}")
    for given in (("--solution", "4"), ("--column", "answer=4"), ("--column", "solution=4")):
        assert tried(capsys, *asked, *given)["total"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name either a REWARD or a --recipe"),
        (("trl.accuracy_reward", "--recipe", "trl-math"), "name either a REWARD or a --recipe"),
        (("--recipe", "trl-math", "--param", "a=1"), "--param is for a REWARD"),
    ],
)
def test_a_reward_or_a_recipe_is_tried_and_not_both(capsys, arguments, said):
    code, _, err = run(capsys, "try", *arguments, "--completion", "4")
    assert code == 2
    assert said in err


def test_try_prints_the_value_and_the_reasons(capsys):
    code, out, _ = run(
        capsys, *("try", "trl.accuracy_reward"), *("--completion", r"\boxed{2/4}"), "--solution=1/2"
    )
    facts = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0
    assert list(facts) == ["reward", "value", "answer", "gold", "decided_by", "status", "why"]
    assert facts["value"] == "1.0"
    assert facts["gold"] == "1/2"


def test_try_as_json_is_the_explanation(capsys):
    score = plaudit.explain(trl.accuracy_reward, r"\boxed{3}", "4")
    printed = tried(capsys, "trl.accuracy_reward", "--completion", r"\boxed{3}", "--solution", "4")
    assert printed["reward"] == "trl.accuracy_reward"
    assert printed["value"] == score.value == 0.0
    assert printed["why"] == score.why


def test_a_skipped_row_says_so(capsys):
    _, out, _ = run(
        capsys, *("try", "trl.accuracy_reward"), *("--completion", r"\boxed{3}"), "--solution="
    )
    assert "value       None (the row is skipped)\n" in out


def test_a_short_name_is_enough_where_only_one_system_has_it(capsys):
    assert tried(capsys, "think_format_reward", "--completion", "<think>a</think>b")["value"] == 1.0


def test_a_short_name_of_several_systems_is_refused(capsys):
    complaint = refused(capsys, "accuracy_reward", "--completion", "4")
    assert "canoe.accuracy_reward, trl.accuracy_reward, vlm_r1.accuracy_reward" in complaint


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("trl.acuracy_reward", "trl.accuracy_reward"),
        ("cosine_scaled", "trl.get_cosine_scaled_reward"),
        ("iou", "vlm_r1.iou_reward"),
        ("xyz", "plaudit list"),
    ],
)
def test_an_unknown_reward_is_answered_with_the_nearest_names(capsys, typed, meant):
    complaint = refused(capsys, typed, "--completion", "4")
    assert f"no reward is called '{typed}'" in complaint
    assert meant in complaint


def test_an_empty_completion_is_a_completion(capsys):
    assert tried(capsys, "trl.think_format_reward", "--completion", "")["value"] == 0.0


def test_a_completion_from_a_file_or_standard_input(capsys, tmp_path, monkeypatch):
    text = "<think>é</think>\n4"
    file = tmp_path / "completion.txt"
    file.write_text(text + "\n", encoding="utf-8")
    assert tried(capsys, "trl.think_format_reward", "--completion", f"@{file}")["value"] == 1.0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert tried(capsys, "trl.think_format_reward", "--completion", "-")["value"] == 1.0


def test_a_file_that_cannot_be_read(capsys, tmp_path):
    complaint = refused(capsys, "trl.think_format_reward", "--completion", f"@{tmp_path}/none.txt")
    assert "none.txt: No such file or directory" in complaint
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    complaint = refused(capsys, "trl.think_format_reward", "--completion", f"@{binary}")
    assert "not UTF-8" in complaint


def test_messages_are_read_as_messages_and_other_json_as_text(capsys):
    messages = [{"role": "tool", "content": "4"}, {"role": "assistant", "content": r"\boxed{4}"}]
    asked = ("trl.accuracy_reward", "--solution", "4", "--completion")
    assert tried(capsys, *asked, json.dumps(messages))["value"] == 1.0
    boxes = '[{"bbox_2d": [1, 2, 3, 4], "label": "cup"}]'
    printed = tried(capsys, "vlm_r1.repetition_reward", "--completion", boxes)
    assert printed["value"] == 0.0


def test_columns_are_json_where_they_are_json_and_else_text(capsys):
    printed = tried(
        capsys,
        *("canoe.len_reward", "--completion", "<long_answer>12345</long_answer>"),
        *("--column", "problem=<context>1234567890</context> [1"),
    )
    assert printed["value"] == 1.0


def test_a_factory_takes_its_parameters_and_the_token_ids(capsys):
    printed = tried(
        capsys,
        *(
            "trl.get_cosine_scaled_reward",
            "--param",
            "max_len=4",
            "--column",
            "completion_ids=[1,2]",
        ),
        *("--completion", r"\boxed{4}", "--solution", "4"),
    )
    assert printed["value"] == 0.75


def test_a_reward_takes_parameters_of_its_own(capsys):
    asked = ("trl.reasoning_accuracy_reward", "--solution", "4", "--completion", r"so| \boxed{4}")
    assert tried(capsys, *asked)["value"] == 0.0
    assert tried(capsys, *asked, "--param", 'reasoning_delimiters=["|"]')["value"] == 1.0


def test_a_single_text_reward_takes_parameters_too(capsys):
    gold = '```json\n[{"bbox_2d": [0, 0, 9, 9], "label": "cup"}]\n```'
    asked = ("detection_score", "--completion", gold.replace("cup", "mug"), "--solution", gold)
    assert tried(capsys, *asked)["value"] == pytest.approx(0.3)
    weights = ("--param", "alpha=0", "--param", "beta=1", "--param", "gamma=0")
    assert tried(capsys, *asked, *weights)["value"] == 0.0


def test_the_tokenizer_of_the_command_line_counts_words(capsys):
    asked = ("vlm_r1.cosine_reward", "--column", "acc_reward=1", "--completion")
    assert tried(capsys, *asked, "")["value"] == 1.0
    assert tried(capsys, *asked, "a " * 1024)["value"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["trl.accuracy_reward"], "--solution TEXT"),
        (["vlm_r1.default_accuracy_reward"], "--solution TEXT"),
        (["trl.get_cosine_scaled_reward"], "--param max_len=VALUE"),
        (["trl.get_repetition_penalty_reward"], "--column completion_ids='[1, 2, 3]'"),
        (["trl.get_repetition_penalty_reward", "--param", "ngram_size=0"], "ngram_size"),
        (
            ["trl.get_cosine_scaled_reward", "--param", "maxlen=9"],
            "no parameter maxlen; it has",
        ),
        (["trl.think_format_reward", "--param", "strict=true"], "no parameter strict"),
        (["canoe.influence_reward", "--solution=4"], "--column completions_long_answer=VALUE"),
        (["canoe.len_reward"], "problem"),
        (["vlm_r1.iou_reward", "--solution", "[1, 2, 3, 4]"], "image_path, image, images"),
        (["vlm_r1.cosine_reward"], "--column acc_reward=VALUE"),
    ],
)
def test_what_is_missing_or_wrong_is_said_in_one_line(capsys, arguments, advice):
    assert advice in refused(capsys, *arguments, "--completion", "x")


def test_text_that_would_disturb_the_terminal_is_escaped(capsys):
    _, out, _ = run(
        capsys,
        *("try", "canoe.accuracy_reward", "--solution", "b"),
        *("--completion", "<answer>\x1b[2J\udc80" + "9" * 1000 + "</answer>"),
    )
    answer = next(line for line in out.splitlines() if line.startswith("answer"))
    assert answer.startswith(r"answer      \x1b[2J\udc80999")
    assert len(answer) < 250


@pytest.mark.parametrize("arguments", [["try", "x"], ["try", "x", "--completion=x", "--param=y"]])
def test_wrong_usage_shows_the_usage(capsys, arguments):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert err.startswith("usage: plaudit try")


def test_no_command_shows_the_help(capsys):
    code, out, err = run(capsys)
    assert (code, out) == (2, "")
    assert "plaudit try trl.accuracy_reward" in err


def test_the_package_can_be_run_as_a_module():
    ended = subprocess.run(
        [sys.executable, "-m", "plaudit", "--version"], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (0, f"plaudit {plaudit.__version__}\n")


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"plaudit {plaudit.__version__}\n", "")


def test_an_interrupt_is_quiet(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("plaudit.cli.rewards.explain", interrupted)
    assert run(capsys, "try", "trl.think_format_reward", "--completion", "") == (130, "", "")


def test_a_closed_pipe_is_quiet():
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([*RUN, "list"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
def test_output_that_cannot_be_written_is_said():
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([*RUN, "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 1
    assert ended.stderr == "plaudit: cannot write: No space left on device\n"


def test_a_file_that_a_command_cannot_read_is_named():
    code = (
        "from plaudit.cli import main, rewards\n"
        "rewards.list_presets = lambda: open('/no/such/file')\n"
        "raise SystemExit(main(['presets']))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr == "plaudit: [Errno 2] No such file or directory: '/no/such/file'\n"


def modules_imported_by(argument):
    code = f"from plaudit.cli import main\ntry: main([{argument!r}])\nfinally: import sys; "
    code += "print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return set(ended.stdout.splitlines()[-1].split())


def test_help_imports_no_reward_and_list_imports_no_algebra():
    assert not modules_imported_by("--help") & {"plaudit.rewards.trl", "numpy", "sympy"}
    assert not modules_imported_by("list") & {"sympy", "math_verify", "torch"}


# --- rewards of one's own -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "value", "why"),
    [
        (("own_rewards:brief",), 1.0, "brief gives 1."),
        (("own_rewards:explained",), 0.5, "half"),
        (("own_rewards:starts", "--solution", "4"), 1.0, "It starts so."),
        (("own_rewards:strict", "--column", "answers=4 words"), 1.0, "strict gives 1."),
        (("own_rewards:Shorter", "--param", "than=3"), 0.0, "own_rewards:Shorter gives 0."),
    ],
)
def test_a_reward_of_ones_own_can_be_tried(arguments, value, why, capsys):
    code, out, err = run(capsys, "try", *arguments, "--completion", "4 words", "--json")
    assert (code, err) == (0, "")
    tried = json.loads(out)
    assert (tried["reward"], tried["value"], tried["why"]) == (arguments[0], value, why)


@pytest.mark.parametrize(
    ("reward", "complaint"),
    [
        ("own_rewards:strict", "needs answers: pass --column answers=VALUE"),
        ("own_rewards:breif", 'own_rewards has no "breif"; did you mean "brief"?'),
        ("os:system", "os is a module of Python itself"),
    ],
)
def test_a_reward_of_ones_own_that_cannot_be_tried(reward, complaint, capsys):
    assert complaint in refused(capsys, reward, "--completion", "4")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_of_a_command_has_a_help_text(name):
    module, _, function = COMMANDS[name][0].partition(":")
    parser = argparse.ArgumentParser()
    add_arguments(parser, getattr(import_module(f"plaudit.{module}"), function))
    assert parser.description
    for action in parser._actions:
        assert action.help, action.dest


def test_arguments_are_derived_from_a_function():
    parser = argparse.ArgumentParser()
    add_arguments(parser, example)
    options = parser.parse_args(["a", "b", "--out-dir", "x", "--by", "k", "--by", "l", "--loud"])
    assert options.run(options) == (["a", "b"], "x", 80, ["k", "l"], None, True)
    text = parser.format_help()
    assert "--port N" in text
    assert "which port (default: 80)" in " ".join(text.split())
    assert parser.description == "Do something.\n"
    assert parser.epilog == "exit codes:\n  0 done\n"
    for wrong in (["a"], ["--out-dir", "x"], ["a", "--out-dir", "x", "--port", "many"]):
        with pytest.raises(SystemExit):
            parser.parse_args(wrong)


def example(
    files: Annotated[Sequence[str], "FILE"],
    *,
    out_dir: Annotated[str, "DIR"],
    port: int = 80,
    by: Annotated[Sequence[str], "COLUMN"] = (),
    level: Literal["low", "high"] | None = None,
    loud: bool = False,
):
    """Do something.

    files: what to read
    out_dir: where to
        write
    port: which port (default: %(default)s)
    by: columns
    level: how much
    loud: whether

    exit codes:
      0 done
    """
    return files, out_dir, port, by, level, loud


def test_the_help_of_audit_names_every_class(capsys):
    code, out, _ = run(capsys, "audit", "--help")
    assert code == 0
    assert all(name in out for name in CLASSES)
