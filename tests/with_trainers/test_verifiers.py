"""verifiers scores a rollout by the rewards that a task's configuration plugs in."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
import verifiers.v1 as vf
from verifiers.v1.configs.task import TaskConfig
from verifiers.v1.graph import MessageNode
from verifiers.v1.trace import AgentInfo, Trace, TraceTask

from plaudit.runs import finish
from plaudit.tables import open_scored


class Question(vf.TaskData):
    answer: str | None


def rollout(task, reply):
    """What is left of a rollout in which the model gave this reply."""
    nodes = [
        MessageNode(message=vf.UserMessage(content=task.data.prompt)),
        MessageNode(parent=0, message=vf.AssistantMessage(content=reply), sampled=True),
    ]
    return Trace(
        task=TraceTask(type="Question", data=task.data),
        agent=AgentInfo(config=vf.AgentConfig()),
        nodes=nodes,
    )


@pytest.mark.parametrize(
    ("reply", "answer", "total"),
    [
        (r"<think>2 + 2</think> \boxed{4}", "4", 2.0),
        (r"<think>2 + 2</think> \boxed{5}", "4", 1.0),
        (r"<think>2 + 2</think> \boxed{5}", None, 1.0),
        ("5", "4", 0.0),
    ],
)
def test_a_rollout_is_scored_and_recorded_once(reply, answer, total, monkeypatch, tmp_path):
    monkeypatch.setenv("PLAUDIT_RECIPE", "trl-reasoning")
    monkeypatch.setenv("PLAUDIT_RECORD", str(tmp_path))
    plugged = TaskConfig(
        rewards={"plaudit": {"fn": "plaudit.trainers.verifiers:reward", "weight": 0.5}},
    )
    task = vf.Task(Question(prompt="What is 2 + 2?", answer=answer), plugged)
    trace = rollout(task, reply)
    asyncio.run(task.score(trace))
    assert trace.rewards["plaudit"].score == total
    assert trace.reward == total / 2
    assert {"reasoning_accuracy_reward", "think_format_reward"} < set(trace.metrics)
    assert trace.metrics["skipped"] == float(answer is None)
    finish(tmp_path)
    [(_, rows)] = open_scored(tmp_path).batches(["total"])
    assert rows["total"].to_pylist() == [total]


RUBRIC = """
import asyncio
import verifiers as vf
from plaudit.trainers.verifiers import rubric

scored = rubric("trl-reasoning")
assert isinstance(scored, vf.Rubric)
assistant = vf.AssistantMessage(content=r"<think>2 + 2</think> \\boxed{4}")
rows = [([assistant], "4"), ([{"role": "assistant", "content": "5"}], "4")]
for completion, answer in rows:
    state = vf.State(prompt=[], completion=completion, answer=answer, info={}, trajectory=[])
    asyncio.run(scored.score_rollout(state))
    print(state["reward"], state["metrics"])
"""


def test_a_rubric_scores_a_rollout_in_the_versions_that_have_rubrics():
    """In a process of its own, where verifiers is the last version with rubrics."""
    path = os.pathsep.join([str(Path(sys.prefix) / "rubric"), *sys.path])
    command = [sys.executable, "-c", RUBRIC]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "2.0 {'reasoning_accuracy_reward': 1.0, 'think_format_reward': 1.0}",
        "0.0 {'reasoning_accuracy_reward': 0.0, 'think_format_reward': 0.0}",
    ]


TURNS = """
import asyncio
import verifiers as vf
from plaudit.recipes import Component, Recipe
from plaudit.trainers.verifiers import rubric

recipe = Recipe(
    "tools",
    (
        Component("called", "messages.tool_use_reward", weight=0.5),
        Component("right", "trl.accuracy_reward"),
    ),
)
call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
completion = [
    {"role": "assistant", "content": "", "tool_calls": [call]},
    {"role": "tool", "tool_call_id": "1", "content": "4"},
    {"role": "assistant", "content": r"\\boxed{4}"},
]
steps = [{"reward": None, "advantage": None} for _ in range(2)]
prompt = [{"role": "user", "content": "2 + 2?"}]
state = vf.State(prompt=prompt, completion=completion, answer="4", info={}, trajectory=steps)
asyncio.run(rubric(recipe).score_group([state]))
print(state["reward"], [step["reward"] for step in steps])
"""


def test_each_step_of_a_trajectory_gets_what_it_adds_to_the_total():
    path = os.pathsep.join([str(Path(sys.prefix) / "rubric"), *sys.path])
    command, environment = [sys.executable, "-c", TURNS], {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "1.5 [0.5, 1.0]\n", done.stderr


def test_a_reward_of_messages_gets_the_whole_conversation(monkeypatch, tmp_path):
    recipe = tmp_path / "tools.toml"
    recipe.write_text("[[rewards]]\nreward = 'messages.tool_use_reward'\n")
    monkeypatch.setenv("PLAUDIT_RECIPE", str(recipe))
    plugged = TaskConfig(rewards={"plaudit": {"fn": "plaudit.trainers.verifiers:reward"}})
    task = vf.Task(Question(prompt="What is 2 + 2?", answer="4"), plugged)
    trace = rollout(task, "4")
    call = vf.ToolCall(id="1", name="add", arguments='{"a": 2, "b": 2}')
    asks = vf.AssistantMessage(content=None, tool_calls=[call])
    said = vf.ToolMessage(tool_call_id="1", content="4")
    trace.nodes[1:] = [
        MessageNode(parent=0, message=asks, sampled=True),
        MessageNode(parent=1, message=said),
        MessageNode(parent=2, message=vf.AssistantMessage(content="4"), sampled=True),
    ]
    asyncio.run(task.score(trace))
    assert trace.reward == 1.0
