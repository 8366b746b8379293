r"""NeMo-Gym: a resources server's `/verify`.

A request holds what the model was asked, what it answered in the form of OpenAI's responses, and
the fields of the dataset's row. What comes back is the request with the reward:

    {"responses_create_params": {"input": [{"role": "user", "content": "What is 2 + 2?"}]},
     "response": {"output": [{"type": "message", "role": "assistant",
                              "content": [{"type": "output_text", "text": "\\boxed{4}"}]}]},
     "expected_answer": "4"}
    {…, "reward": 1.0, "reward_components": {"accuracy_reward": 1.0}, "mask_sample": false, …}

NeMo-RL refuses a reply whose components do not add up to the reward, so each of them is the
component's weight times its value.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.recipes import RowScore
from plaudit.recipes.bound_reward import CONVERSATION
from plaudit.scores.score import PROBLEM_STATUSES
from plaudit.trainers._rows import (
    Batch,
    columns_of,
    gold_in,
    list_in,
    metrics_of,
    response_of,
    table_in,
    total_of,
)

_REQUEST = ("responses_create_params", "response")
_REPLY = ("reward", "reward_components", "mask_sample", "failure_kind", "failure_reason", "status")
_METADATA = "verifier_metadata"  # where a dataset may keep what only a verifier should see


def batch_of(body: Mapping[str, Any]) -> Batch:
    r"""Return the batch of one row that a request to `/verify` holds.

    The response is what the last message of the output says. The gold is under one of the names
    that datasets give it, in the body or in its `verifier_metadata`; every other field of the two
    is a column.
    """
    asked, response = table_in(body, "responses_create_params"), table_in(body, "response")
    output, why = list_in(response, "output"), response.get("incomplete_details")
    fields = {name: value for name, value in body.items() if name not in (*_REQUEST, _METADATA)}
    if isinstance(metadata := body.get(_METADATA), Mapping):
        fields = {**metadata, **fields}
    columns = columns_of([fields])
    columns["prompts"] = [asked.get("input")]
    columns["solution"] = [gold_in(fields)]
    columns[CONVERSATION] = [output]
    if isinstance(why, Mapping):
        columns["finish_reason"] = [why.get("reason")]
    return Batch([response_of(_last_message(output))], columns)


def reply_of(scores: Sequence[RowScore], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `/verify` answers: the request, the reward, and each component.

    `reward_components` holds what each adds to the reward, its weight times its value. The value
    itself is a field by the component's name.

    A row that every component skipped is masked, since its reward means nothing. What went wrong,
    such as a timeout, is in `failure_reason`.
    """
    row = scores[0]
    values = metrics_of(row, taken=(*_REQUEST, *_REPLY))
    trouble = row.total is None or row.status in PROBLEM_STATUSES
    return {
        **body,
        **values,
        "reward": total_of(row),
        "reward_components": row.weighted,
        "mask_sample": row.total is None,
        "failure_reason": row.why if trouble else None,
        "status": row.status,
    }


def _last_message(output: Sequence[Any]) -> str:
    """The text of the last message; tool calls, their results and reasoning are not messages."""
    for item in reversed(output):
        if not isinstance(item, Mapping):
            raise TypeError('"output" must be a list of objects')
        if (
            item.get("type", "message") == "message"
            and item.get("role", "assistant") == "assistant"
        ):
            return _content(item.get("content"))
    return ""


def _content(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise TypeError('the "content" of a message must be text or a list of objects')
    parts = [part.get("text") for part in content if part.get("type") == "output_text"]
    return "".join(part for part in parts if isinstance(part, str))
