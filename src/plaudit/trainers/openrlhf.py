r"""OpenRLHF: a reward function in a file, and what goes over the wire to a remote one.

    --reward.remote_url rewards.py                      # the file that this module is used from
    --reward.remote_url http://host:port/openrlhf       # or a server

The file has one line, `from plaudit.trainers.openrlhf import reward_func`. The remote protocol is
one request a batch:

    {"query": ["2 + 2 = 4</s>"], "prompts": ["2 + 2 ="], "labels": ["4"]}
    {"rewards": [1.0], "scores": [1.0], "extra_logs": {"accuracy_reward": [1.0], …}}
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.inputs.columns import same_length
from plaudit.recipes import RowScore
from plaudit.trainers._rows import (
    Batch,
    chosen,
    golds_of,
    list_in,
    metrics_of,
    responses_of,
    texts_in,
    total_of,
    warm_up_if_chosen,
)


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **kwargs: Any
) -> dict[str, Any]:
    r"""The rewards of a batch by the recipe that PLAUDIT_RECIPE names, as OpenRLHF takes them.

    queries: prompt and response in one text each, with special tokens
    prompts: the prompts, which are cut off the queries
    labels: the golds, in any form that `plaudit.trainers.gold_of` reads
    kwargs: whatever else OpenRLHF passes, which is ignored
    """
    same_length(queries, prompts=prompts, labels=labels)
    return _reply(_batch(queries, prompts, labels).scores(chosen()))


def batch_of(body: Mapping[str, Any]) -> Batch:
    """Return the batch that a request to a remote reward holds.

    `prompts` and `labels` may be missing or null: then there is no prompt to cut off, or no gold.
    """
    queries = texts_in(body, "query")
    beside = {
        name: [None] * len(queries) if body.get(name) is None else list_in(body, name, len(queries))
        for name in ("prompts", "labels")
    }
    return _batch(queries, beside["prompts"], beside["labels"])


def reply_of(scores: Sequence[RowScore], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a remote reward answers: three lists of numbers, and more to log."""
    return _reply(scores)


def _batch(queries: Sequence[str], prompts: Sequence[Any], labels: Sequence[Any]) -> Batch:
    responses = responses_of(queries, prompts)
    return Batch(responses, {"prompts": list(prompts), "solution": golds_of(labels)})


def _reply(scores: Sequence[RowScore]) -> dict[str, Any]:
    totals = [total_of(row) for row in scores]
    rows = [metrics_of(row) for row in scores]
    logs = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    return {"rewards": totals, "scores": totals, "extra_logs": logs}


warm_up_if_chosen()
