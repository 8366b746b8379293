"""A server under load: 64 clients, requests of every kind, one in a hundred poisonous.

Each client asks again as soon as it has its answer. Requests hold 1 to 64 rows, most in the
server's own protocol, some in the formats of OpenRLHF, slime and verl. A poisonous one has a row on
which a CAS would compute forever, of a few kinds that repeat, as a model repeats itself. With
--fresh no two are alike: then each takes a worker its whole deadline, and if they come faster than
the workers can be killed, latency depends only on how many there are. With --kills, a worker of the
judge is killed every second. Afterwards, every answer is compared with that of the direct call.

Exits with 1 if an answer is a 4xx or 5xx, is lost or differs, or if the 99th percentile is above
twice the deadline of an item. With --kills or --fresh that last check is left out, since a
poisonous row whose worker is killed starts over.
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

import httpx

import traffic
from plaudit.recipes import RowScore, load
from plaudit.trainers import openrlhf, slime, verl
from processes import children
from report import Table, arguments, fresh_judge, seconds, show
from server import Server, served

RECIPE = "trl-math"
SIZES = (1, 2, 4, 8, 16, 32, 64)
POISONS = (
    r"9^{9^{9^{9}}}",
    r"\dfrac{5^{\left(5^{\left(5^{\left(5^5\right)}\right)}-4\right)}-5}{16}",
    r"\gcd(7^{999999} - 1, 3^{999999} - 1)!!",
    r"\sum_{k=1}^{99999} k^{k}",
    r"\prod_{k=1}^{5001} (x+k)",
)
FRESH = r"\sum_{{k=1}}^{{{n}}} k^{{k}}"
POISON_GOLD = r"$\sin x + 1$"
SHAPES: dict[str, ModuleType] = {"/openrlhf": openrlhf, "/slime": slime, "/verl": verl}


@dataclass(frozen=True)
class Asked:
    """A request: which rows of the pool, which poison if any, and which way it goes."""

    path: str
    rows: tuple[int, ...]
    poison: str | None = None


@dataclass
class Heard:
    """What came of the requests."""

    answers: list[tuple[Asked, Any]] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    killed: int = 0


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--poison", type=float, default=0.01, help="share of requests")
    parser.add_argument("--deadline", type=float, default=5.0, help="seconds an item may take")
    parser.add_argument("--fresh", action="store_true", help="no two poisonous rows alike")
    parser.add_argument("--kills", action="store_true", help="kill a worker every second")
    parser.add_argument("--pool", type=int, default=4_096, help="different rows")
    options = parser.parse_args()
    pool = traffic.step(options.pool // 8, seed=7)
    with served(RECIPE, options.deadline) as server:
        heard = asyncio.run(_load(server, pool, options))
    wrong = _differing(heard, pool, options.deadline)
    failed = sum(count for code, count in heard.codes.items() if code >= 500)
    refused = sum(count for code, count in heard.codes.items() if 400 <= code < 500)
    taken = sorted(heard.taken)
    p50, p99 = (taken[int(share * (len(taken) - 1))] for share in (0.5, 0.99))
    poisonous = sum(asked.poison is not None for asked, _ in heard.answers)
    columns = ["requests", "poisonous", "rows", "5xx", "4xx", "lost", "differing answers"]
    columns += ["workers killed", "p50", "p99", "deadline of an item"]
    rows = poisonous + sum(len(asked.rows) for asked, _ in heard.answers)
    line = [len(taken), poisonous, rows, failed, refused, heard.lost, wrong, heard.killed]
    line += [seconds(p50), seconds(p99), seconds(options.deadline)]
    title = f"{options.clients} clients for {options.seconds:g} s"
    show(Table(title, columns, [line]))
    slow = p99 > 2 * options.deadline and not (options.kills or options.fresh)
    sys.exit(bool(failed or refused or heard.lost or wrong or slow))


async def _load(server: Server, pool: traffic.Step, options: Any) -> Heard:
    heard, end = Heard(), time.monotonic() + options.seconds
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=120, limits=limits) as http:
        clients = [
            _client(http, pool, heard, end, _requests(number, pool, options))
            for number in range(options.clients)
        ]
        if options.kills:
            clients.append(_killer(server, heard, end))
        await asyncio.gather(*clients)
    return heard


def _requests(number: int, pool: traffic.Step, options: Any) -> Iterator[Asked]:
    """What one client asks for, one after the other."""
    rng = random.Random(number)
    for count in range(10**9):
        path = rng.choices(["/v1/score", *SHAPES], weights=[7, 1, 1, 1])[0]
        size = 1 if path == "/slime" else rng.choice(SIZES)
        rows = tuple(rng.randrange(len(pool.solution)) for _ in range(size))
        poison = FRESH.format(n=50_000 + 1_000 * number + count)
        poison = poison if options.fresh else rng.choice(POISONS)
        poisonous = path == "/v1/score" and rng.random() < options.poison / 0.7
        yield Asked(path, rows, poison if poisonous else None)


async def _client(
    http: httpx.AsyncClient,
    pool: traffic.Step,
    heard: Heard,
    end: float,
    requests: Iterator[Asked],
) -> None:
    while time.monotonic() < end:
        asked = next(requests)
        start = time.monotonic()
        try:
            answer = await http.post(asked.path, json=_body(asked, pool))
        except httpx.TransportError:
            heard.lost += 1
            continue
        heard.taken.append(time.monotonic() - start)
        heard.codes[answer.status_code] += 1
        if answer.status_code == 200:
            heard.answers.append((asked, answer.json()))


async def _killer(server: Server, heard: Heard, end: float) -> None:
    rng = random.Random(0)
    while time.monotonic() < end:
        await asyncio.sleep(1.0)
        workers = [
            worker for fork_server in children(server.process) for worker in children(fork_server)
        ]
        if workers:
            os.kill(rng.choice(workers), signal.SIGKILL)
            heard.killed += 1


def _body(asked: Asked, pool: traffic.Step) -> dict[str, Any]:
    completions = [pool.completions[row] for row in asked.rows]
    golds = [pool.solution[row] for row in asked.rows]
    texts = [completion[0]["content"] for completion in completions]
    if asked.path == "/openrlhf":
        return {"query": texts, "prompts": [""] * len(texts), "labels": golds}
    if asked.path == "/slime":
        return {"prompt": "", "response": texts[0], "label": golds[0]}
    if asked.path == "/verl":
        return {"data_sources": ["m"] * len(texts), "solution_strs": texts, "ground_truths": golds}
    if asked.poison is not None:
        content = f"So it is $\\boxed{{{asked.poison}}}$."
        completions.append([{"role": "assistant", "content": content}])
        golds.append(POISON_GOLD)
    return {"completions": completions, "columns": {"solution": golds}}


def _differing(heard: Heard, pool: traffic.Step, deadline: float) -> int:
    """Answers that are not what the direct call gives."""
    fresh_judge(deadline=deadline)
    recipe = load(RECIPE)

    @cache
    def direct(way: str) -> list[RowScore]:
        """What the direct call says of the whole pool, as it goes the one way or the other."""
        if way == "/v1/score":
            return recipe(pool.completions, solution=pool.solution)
        body = _body(Asked("/openrlhf", tuple(range(len(pool.solution)))), pool)
        return openrlhf.batch_of(body).scores(recipe)

    @cache
    def poisoned(poison: str) -> RowScore:
        body = _body(Asked("/v1/score", (), poison), pool)
        return recipe(body["completions"], **body["columns"])[0]

    wrong = 0
    for asked, answer in heard.answers:
        rows = [direct(asked.path)[row] for row in asked.rows]
        if asked.path in SHAPES:
            wanted = SHAPES[asked.path].reply_of(rows, _body(asked, pool))
            wrong += answer != wanted
        else:
            said = _said(answer)
            if asked.poison is not None:
                like = FRESH.format(n=50_000) if asked.poison not in POISONS else asked.poison
                rows.append(poisoned(like))
            wrong += said != [_facts(row) for row in rows]
    return wrong


def _said(answer: Any) -> list[tuple[Any, ...]]:
    return [
        (
            *(row["total"], row["status"]),
            *((name, one["value"], one["status"]) for name, one in row["components"].items()),
        )
        for row in answer["rows"]
    ]


def _facts(row: RowScore) -> tuple[Any, ...]:
    scores = row.components.items()
    return (row.total, row.status, *((name, one.value, str(one.status)) for name, one in scores))


if __name__ == "__main__":
    main()
