"""The judge as the rewards use it: statuses, memory, threads and event loops."""

import asyncio
import os
import signal
import threading
import time
from dataclasses import replace

import pytest
from running_processes import until

from plaudit.judge import (
    Judge,
    Pair,
    Rule,
    Settings,
    Status,
    _judge,
    configure,
    judge,
    shared_judge,
    workers_kept,
)
from plaudit.judge.workers import _pool


@pytest.fixture(scope="module")
def quick():
    """A judge that waits at most two seconds."""
    quick = Judge(Settings(deadline=2.0, workers=2))
    yield quick
    quick.close()


def latex(answer, gold="$x$"):
    return Pair(answer, gold, Rule.LATEX)


@pytest.mark.parametrize(
    ("answer", "gold", "status", "method"),
    [
        (r"\boxed{\dfrac{1}{3}}", r"$\frac{1}{3}$", "equal", "same text"),
        (r"\boxed{0.50}", "0.5", "equal", "numbers"),
        (r"\boxed{3}", "4", "different", "numbers"),
        (r"\boxed{(x+1)^2}", "$x^2+2x+1$", "equal", "algebra"),
        (r"\boxed{\sin^2 x + \cos^2 x}", "1", "equal", "math-verify"),
        (r"\boxed{\sin x}", r"$\cos x$", "different", "math-verify"),
        ("I do not know.", "4", "no_answer", "nothing to read"),
        (r"\boxed{4}", "who knows", "bad_gold", "nothing to read"),
        ("I do not know.", r"$\boxed{}$", "bad_gold", "math-verify"),
        ("I do not know.", r"$\text{}$, $\text{}$", "bad_gold", "math-verify"),
        ("I do not know.", "$1$, $2$", "no_answer", "nothing to read"),
        ("I do not know.", r"-007, or $\frac{1}$", "bad_gold", "math-verify"),
        (r"\boxed{\frac{1}}", r"-007, or $\frac{1}$", "bad_gold", "math-verify"),
        (r"\boxed{\frac{1}}", r"$\frac{1}$", "equal", "same text"),
        (r"\boxed{9^{9^{9^{9}}}}", "4", "limit", "a power of more than a million digits"),
    ],
)
def test_a_verdict_says_what_and_how(quick, answer, gold, status, method):
    (verdict,) = quick.judge([latex(answer, gold)])
    assert (verdict.status, verdict.decided_by) == (status, method)


HOSTILE = {
    "power tower": r"\boxed{9^{9^{9^{9}}}}",
    "factorial": r"\boxed{1000000!}",
    "binomial": r"\boxed{\binom{10^8}{5\cdot 10^7}}",
    "hidden tower": r"\boxed{\dfrac{5^{\left(5^{\left(5^{\left(5^5\right)}\right)}-4\right)}}{16}}",
    "nested braces": r"\boxed{" + "{" * 10_000 + "x" + "}" * 10_000 + "}",
    "nested parentheses": r"\boxed{" + "(" * 10_000 + "x" + ")" * 10_000 + "}",
    "a million characters": r"\boxed{x}" + "ab " * 333_333,
    "many boxes": r"\boxed{}" * 10_000,
    "long integer": r"\boxed{" + "7" * 100_000 + "}",
    "NUL bytes": "\\boxed{x\0+\0}",
    "lone surrogates": "\\boxed{\ud800 + \udfff}",
    "never closed display": "\\[" * 50_000,
    "never closed inline": "\\(" * 50_000,
    "never closed box": "\\boxed{" * 20_000,
    "spaces in a box": r"\boxed{" + " " * 20_000 + "}",
    "many texts": r"\boxed{" + r"\text{a}" * 5_000 + "}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
def test_hostile_text_has_its_status_in_time(quick, text, rule):
    """A minute is a hang guard: the machine that runs the tests may be busy."""
    call = in_a_thread(lambda: quick.judge([Pair(text, "$x^2+1$", rule)]))
    call.join(timeout=60)
    (verdict,) = call.result
    assert verdict.status in (Status.DIFFERENT, Status.NO_ANSWER, Status.LIMIT, Status.TIMEOUT)


def test_hostile_text_is_no_matter_in_a_thread(quick):
    verdicts = []
    texts = list(HOSTILE.values())
    pairs = [latex(text, r"$\sin x$") for text in texts]
    thread = threading.Thread(target=lambda: verdicts.extend(quick.judge(pairs)))
    thread.start()
    thread.join(timeout=60)
    assert len(verdicts) == len(texts)
    assert Status.EQUAL not in {verdict.status for verdict in verdicts}


def test_hostile_golds_are_no_matter_either(quick):
    pairs = [latex(r"\boxed{7}", gold) for gold in HOSTILE.values()]
    statuses = {verdict.status for verdict in quick.judge(pairs)}
    assert statuses <= {Status.DIFFERENT, Status.BAD_GOLD, Status.LIMIT, Status.TIMEOUT}


def test_poison_is_remembered(quick):
    poison = latex(r"\boxed{\gcd(7^{999999} - 1, 5^{999999} - 1)!!}", r"$\sin x$")
    assert quick.judge([poison])[0].status is Status.TIMEOUT
    before = quick.cache.hits
    assert quick.judge([poison] * 100)[99].status is Status.TIMEOUT
    assert quick.cache.hits == before + 100


def test_the_same_answer_in_another_completion_is_known(quick):
    quick.judge([latex(r"First, \boxed{\tan u + 1}", r"$\tan u + 2$")])
    before = quick.cache
    quick.judge([latex(r"Second, \boxed{\tan u + 1}", r"$\tan u + 2$")])
    assert quick.cache.hits == before.hits + 1
    assert quick.cache.misses == before.misses


def test_pairs_that_are_the_same_are_judged_once(quick):
    pairs = [latex(r"\boxed{\cot v}", r"$\sec v$")] * 200
    verdicts = quick.judge(pairs)
    assert len({id(verdict) for verdict in verdicts}) == 1


@pytest.mark.parametrize(
    ("answer", "gold", "status"),
    [
        ("x+1", "1+x", "equal"),
        (r"\sin^2 x + \cos^2 x", "1", "equal"),
        ("the 5 of x", "5", "different"),  # nothing is looked for in it
        (" ", "5", "no_answer"),
        ("5", "", "bad_gold"),
    ],
)
def test_a_formula_is_judged_as_it_stands(quick, answer, gold, status):
    (verdict,) = quick.judge([Pair(answer, gold, Rule.FORMULA)])
    assert verdict.status == status


def test_no_pairs_no_verdicts(quick):
    assert quick.judge([]) == []


def test_an_event_loop_gathers_batches_without_blocking(quick):
    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        bomb = latex(r"\boxed{\gcd(7^{999998} - 1, 3^{999998} - 1)!!}", r"$\sin x$")
        fine = latex(r"\boxed{\sin^2 a + \cos^2 a}", "1")
        results = await asyncio.gather(quick.judge_async([bomb]), quick.judge_async([fine]))
        ticking.cancel()
        return ticks, [verdict.status for (verdict,) in results]

    ticks, statuses = asyncio.run(main())
    assert statuses == [Status.TIMEOUT, Status.EQUAL]
    assert ticks > 5  # of a hundred a second, on a machine that may be busy


def test_a_cancelled_call_leaves_the_judge_in_order(quick):
    async def main():
        bomb = latex(r"\boxed{\gcd(7^{999997} - 1, 3^{999997} - 1)!!}", r"$\sin x$")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(quick.judge_async([bomb]), timeout=0.2)
        return (await quick.judge_async([latex(r"\boxed{\cos^2 b + \sin^2 b}", "1")]))[0].status

    assert asyncio.run(main()) is Status.EQUAL


@pytest.mark.long
def test_a_closed_judge_starts_again():
    judge = Judge(Settings(workers=1))
    assert judge.judge([latex(r"\boxed{\sin^2 y + \cos^2 y}", "1")])[0].status is Status.EQUAL
    judge.close()
    assert judge.judge([latex(r"\boxed{\sin^2 z + \cos^2 z}", "1")])[0].status is Status.EQUAL
    judge.close()


def test_configure_changes_the_shared_judge_and_keeps_what_is_not_named():
    before = shared_judge().settings
    try:
        configure(deadline=0.5, workers=1)
        assert shared_judge().settings.deadline == 0.5
        assert shared_judge().settings.memory == before.memory
        bomb = Pair(r"$\gcd(7^{999996} - 1, 3^{999996} - 1)!!$", r"$\sin x$")
        assert judge([bomb])[0].seconds == 0.5
    finally:
        configure(deadline=before.deadline, workers=before.workers)


def test_a_fault_in_reading_costs_one_item(quick, monkeypatch):
    def faulty(text, rule, find=_judge.best_candidate):
        return find(text, rule) if text != "$1$" else 1 / 0

    monkeypatch.setattr(_judge, "best_candidate", faulty)
    faulted, fine = quick.judge([Pair("$1$", "$9$"), Pair("$2$", "$2$")])
    assert (faulted.status, fine.status) == (Status.ERROR, Status.EQUAL)
    assert faulted.why == "Comparing failed: ZeroDivisionError: division by zero."


def test_every_status_has_its_sentence(quick):
    texts = [r"\boxed{4}", r"\boxed{5}", "nothing", r"\boxed{1000000!}"]
    sentences = [verdict.why for verdict in quick.judge([latex(text, "4") for text in texts])]
    assert sentences == [
        "4 is equal to the gold 4.",
        "5 is not equal to the gold 4.",
        "Nothing in the text can be read as an answer.",
        "Too large to compare: a factorial of six digits or more.",
    ]


def symbolic(letter):
    return latex(rf"\boxed{{\sin^2 {letter} + \cos^2 {letter}}}", "1")


BOMBS = [
    latex(rf"\boxed{{\gcd(7^{{99990{n}}} - 1, 3^{{99990{n}}} - 1)!!}}", r"$\sin x$") for n in "12"
]


def in_a_thread(call):
    """A thread that puts into its `result` what the call gives or raises."""

    def run():
        try:
            thread.result = call()
        except BaseException as error:
            thread.result = error

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def wait_until_in_flight(judge):
    until(lambda: judge._pool and judge._pool._dispatcher._pending)
    return judge._pool


@pytest.mark.parametrize(
    "memory", [64, *(pytest.param(memory, marks=pytest.mark.long) for memory in (1, 70))]
)
def test_a_worker_with_little_memory_finds_nothing_different_that_is_equal(memory):
    pairs = [
        *map(symbolic, "xyz"),
        latex(r"\boxed{\tan(3 y) + z}", r"$z - \tan(-3 y)$"),
        latex(r"\boxed{\int_0^1 x dx}", r"$\frac12$"),
        latex(r"\boxed{\frac{x^2-1}{x+1}}", "$x-1$"),
        latex(
            r"\boxed{\begin{pmatrix} 1 \\ 2\end{pmatrix}}",
            r"$\begin{pmatrix} 1 \\ \frac42 \end{pmatrix}$",
        ),
        latex(r"\boxed{(x+1)^{40}\sin x}", r"$(1+x)^{40}\sin(x)$"),
    ]
    poor = Judge(Settings(memory=memory, workers=2))
    try:
        verdicts = poor.judge(pairs)
    finally:
        poor.close()
    assert {verdict.status for verdict in verdicts} <= {Status.LIMIT, Status.EQUAL}
    limits = [verdict for verdict in verdicts if verdict.status is Status.LIMIT]
    assert limits or memory > 64
    for verdict in limits:
        assert verdict.why == f"Too large to compare: it needs more than {memory} MiB of memory."


@pytest.mark.long
def test_configure_lets_calls_in_flight_end_on_their_workers():
    before = shared_judge().settings
    try:
        configure(deadline=1.5, workers=2)
        old = shared_judge()
        call = in_a_thread(lambda: old.judge([*BOMBS, symbolic("q")]))
        pool = wait_until_in_flight(old)
        configure(deadline=before.deadline, workers=before.workers)
        assert judge([symbolic("r")])[0].status is Status.EQUAL
        call.join(timeout=60)
        assert [v.status.value for v in call.result] == ["timeout", "timeout", "equal"]
        pool._thread.join(timeout=20)
        assert not pool._thread.is_alive()
        assert old.judge([symbolic("v")])[0].status is Status.EQUAL  # it still works, if asked
        assert old._pool is None  # but keeps no workers
    finally:
        configure(deadline=before.deadline, workers=before.workers)


@pytest.mark.long
def test_closing_waits_for_calls_in_flight(quick):
    call = in_a_thread(lambda: quick.judge([*BOMBS, symbolic("u")]))
    pool = wait_until_in_flight(quick)
    quick.close()
    call.join(timeout=60)
    assert [v.status.value for v in call.result] == ["timeout", "timeout", "equal"]
    pool._thread.join(timeout=20)
    assert not pool._thread.is_alive()


def test_the_last_who_keeps_the_workers_stops_them():
    with workers_kept():
        with workers_kept():
            assert shared_judge().check() is None
            pool = shared_judge()._pool
        assert shared_judge()._pool is pool
        assert not pool.ended
    assert pool.ended


def test_a_judge_whose_dispatcher_failed_gets_another(monkeypatch):
    judge = Judge(Settings(workers=1))
    try:
        with monkeypatch.context() as patched:
            patched.setattr(_pool.Dispatcher, "_assign_tasks", lambda _: 1 / 0)
            with pytest.raises(RuntimeError, match="dispatcher failed"):
                judge.judge([symbolic("x")])
        assert "ZeroDivisionError" in judge.trouble
        assert judge.judge([symbolic("x")])[0].status is Status.EQUAL
        assert judge.trouble is None
    finally:
        judge.close()


def test_a_judge_that_cannot_have_a_thread_says_so_and_tries_again(monkeypatch):
    def no_thread(_):
        raise RuntimeError("can't start new thread")

    judge = Judge(Settings(workers=1))
    try:
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", no_thread)
            assert judge.check() == "the judge's workers do not start: can't start new thread"
        assert judge.trouble == "the judge's workers do not start: can't start new thread"
        assert judge.check() is None
        assert judge.trouble is None
    finally:
        judge.close()


@pytest.mark.long
def test_a_timeout_of_a_worker_that_stood_still_is_not_remembered(quick):
    assert quick.check() is None
    before = quick.cache.entries
    call = in_a_thread(lambda: quick.judge([latex(r"\boxed{\gcd(7^{999909}, 3^{99})!!}")]))
    while call.is_alive():
        for worker in list(quick._pool._dispatcher._workers.values()):
            if worker.process and worker.tasks:
                os.kill(worker.process, signal.SIGSTOP)
        time.sleep(0.02)
    assert call.result[0].status is Status.TIMEOUT
    assert quick.cache.entries == before


def test_rows_that_were_known_are_counted():
    judge = Judge(Settings(workers=1))
    judge.judge([symbolic("x")])
    judge.judge([latex("First, " + symbolic("x").answer, "1")])
    judge.close()
    assert (judge.cache.hits, judge.cache.misses) == (1, 1)


LONG_GOLD = "4 " * 500_000


def test_a_gold_that_is_far_too_long_is_none(quick):
    (verdict,) = quick.judge([Pair("4", LONG_GOLD)])
    assert (verdict.status, verdict.answer, verdict.gold) == (Status.BAD_GOLD, None, None)
    assert verdict.why == (
        "The gold cannot be read: it has more than 100,000 characters, "
        "so there is nothing to compare with."
    )


def test_a_final_answer_that_is_far_too_long_is_not_read(quick):
    (verdict,) = quick.judge([Pair(LONG_GOLD, "4")])
    assert verdict.status is Status.LIMIT
    assert verdict.why == "Too large to compare: it has more than 100,000 characters."


def test_a_long_completion_is_read(quick):
    (verdict,) = quick.judge([latex("so " * 500_000 + r"\boxed{4}", "4")])
    assert verdict.status is Status.EQUAL


def test_a_call_that_needs_no_worker_starts_none():
    judge = Judge(Settings(workers=1))
    texts = [r"\boxed{4}", r"$\boxed{4.0}$", r"\boxed{5}", r"\boxed{x+x}", "nothing", r"\boxed{9!}"]
    golds = ["4", "4", "4", "$2x$", "4", ""]
    verdicts = judge.judge([latex(*pair) for pair in zip(texts, golds, strict=True)])
    assert {v.decided_by for v in verdicts} == {
        "same text",
        "numbers",
        "algebra",
        "nothing to read",
    }
    assert judge._pool is None
    judge.close()


SAME_ANSWER = (
    r"First \boxed{1/2}",
    r"Other words, $\boxed{1/2}$.",
    r"\[ \boxed{ 1/2 } \] and so on",
    r"The final answer is $1/2$",
)


@pytest.mark.parametrize("gold", ["0.5", "$\\frac{1}{2}$", "1/3", "", "$x^2$"])
def test_an_answer_that_is_known_gets_its_verdict_whatever_the_text_says(gold):
    judge = Judge(Settings(workers=1))
    known = judge.judge([latex(SAME_ANSWER[0], gold)])[0]
    hits = judge.cache.hits
    assert judge.judge([latex(text, gold) for text in SAME_ANSWER]) == [known] * 4
    assert judge.cache.hits == hits + 4
    judge.close()


@pytest.mark.parametrize(
    ("known", "other"),
    [
        (r"$\boxed{50}$", r"$\boxed{50}$ %"),
        (r"\boxed{5}", r"\boxed{0}"),
        ("nothing", r"\boxed{}"),
        (r"\boxed{$}", r"$\boxed{\$}$"),
        ("The answer is $3$ or $4$", "The answer is $3$"),
    ],
)
@pytest.mark.parametrize("gold", ["50", "5", "3"])
def test_an_answer_is_not_taken_for_another(known, other, gold):
    fresh, used = Judge(Settings(workers=1)), Judge(Settings(workers=1))
    used.judge([latex(known, gold)])
    (wanted,), (given,) = (judge.judge([latex(other, gold)]) for judge in (fresh, used))
    assert replace(given, seconds=0.0) == replace(wanted, seconds=0.0)
    fresh.close()
    used.close()


def test_a_loop_looks_up_long_texts_itself(quick, monkeypatch):
    pairs = [latex("so " * 10_000 + rf"\boxed{{{number}}}", "7") for number in range(7)]
    verdicts = quick.judge(pairs)
    monkeypatch.setattr(_judge, "READING_THREADS", None)
    assert asyncio.run(quick.judge_async(pairs)) == verdicts


def test_a_loop_has_long_texts_read_elsewhere(quick, monkeypatch):
    """Reading waits for the loop here, which it could not if it stood in the loop's way."""
    going_on = threading.Event()

    def patient(text, rule, find=_judge.best_candidate):
        assert going_on.wait(timeout=20), "the loop stands still"
        return find(text, rule)

    async def main():
        call = asyncio.create_task(quick.judge_async([latex("so " * 20_000 + r"\boxed{7}", "7")]))
        await asyncio.sleep(0.01)
        going_on.set()
        return (await call)[0].status

    monkeypatch.setattr(_judge, "best_candidate", patient)
    assert asyncio.run(main()) is Status.EQUAL


def test_a_call_that_is_cancelled_while_it_reads_asks_no_worker(quick, monkeypatch):
    reading, going_on = threading.Event(), threading.Event()

    def patient(text, rule, find=_judge.best_candidate):
        reading.set()
        assert going_on.wait(timeout=20)
        return find(text, rule)

    async def main():
        pairs = [latex("so " * 20_000 + symbolic(letter).answer, "1") for letter in "xyz"]
        call = asyncio.create_task(quick.judge_async(pairs))
        while not reading.is_set():
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        going_on.set()

    monkeypatch.setattr(_judge, "best_candidate", patient)
    asyncio.run(main())
    _judge.READING_THREADS.get().submit(int).result(timeout=20)
    until(lambda: not (quick._pool and quick._pool._dispatcher._pending))
