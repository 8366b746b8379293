"""The golden calls: what each function must give, where they are beside the project."""

import importlib
import json
import math

import pytest


def same(got, want):
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    if want is None or got is None:
        return got is want
    return isinstance(got, float) and math.isclose(got, want, abs_tol=1e-9)


@pytest.mark.parametrize("system", ["canoe", "vlm_r1"])
def test_golden_calls(shared, monkeypatch, system):
    monkeypatch.chdir(shared / "golden")  # image paths are relative to it
    calls = map(json.loads, (shared / "golden/rewards.jsonl").open(encoding="utf-8"))
    module = importlib.import_module(f"plaudit.rewards.{system}")
    wrong = [
        call
        for call in calls
        if call["system"] == system
        and not same(
            getattr(module, call["function"])(*call["args"], **call["kwargs"]), call["expected"]
        )
    ]
    assert not wrong
