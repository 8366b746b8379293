"""A user's reward that hangs in a server: the request is answered, and so are others."""

import httpx

from plaudit.recipes import Component, Recipe
from plaudit.serve import serving

DEADLINE = 2.0
HANGING = Recipe("hanging", (Component("own", "hanging_rewards:sleeps", deadline=DEADLINE),))


def test_a_reward_that_hangs_is_killed_and_the_other_rows_are_scored():
    with serving(HANGING) as url, httpx.Client(base_url=url, timeout=60) as http:
        body = {"completions": ["a", "hang", "ccc"], "columns": {}}
        rows = http.post("/v1/score", json=body).json()["rows"]
        assert [row["total"] for row in rows] == [1.0, None, 3.0]
        assert [row["status"] for row in rows] == ["scored", "timeout", "scored"]
        assert http.get("/metrics").text.count('plaudit_rows_total{status="timeout"} 1.0') == 1


def test_a_trainer_gets_the_mean_of_the_group_over_http():
    with serving(HANGING) as url, httpx.Client(base_url=url, timeout=60) as http:
        body = {"query": ["a", "hang", "ccc"], "prompts": ["", "", ""], "labels": ["4"] * 3}
        reply = http.post("/openrlhf", json=body).json()
        assert reply["rewards"] == [1.0, 2.0, 3.0]
        assert reply["extra_logs"]["status_timeout"] == [0.0, 1.0, 0.0]
