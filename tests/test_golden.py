"""The golden calls: what each function must give, call by call."""

import importlib
import json
import math
from collections import Counter
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
CALLS = [json.loads(line) for line in (GOLDEN / "rewards.jsonl").open(encoding="utf-8")]


def same(got, want):
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    if want is None or got is None:
        return got is want
    return isinstance(got, float) and math.isclose(got, want, abs_tol=1e-9)


def result_of(call):
    module = importlib.import_module(f"plaudit.rewards.{call['system']}")
    return getattr(module, call["function"])(*call["args"], **call["kwargs"])


def test_every_golden_call_is_there():
    assert Counter(call["system"] for call in CALLS) == {"canoe": 441, "vlm_r1": 885}


@pytest.mark.parametrize("name", sorted({f"{c['system']}.{c['function']}" for c in CALLS}))
def test_golden_calls(monkeypatch, name):
    monkeypatch.chdir(GOLDEN)  # image paths are relative to it
    calls = [call for call in CALLS if f"{call['system']}.{call['function']}" == name]
    assert [call for call in calls if not same(result_of(call), call["expected"])] == []
