r"""plaudit's own rewards for answers: right as a careful person would judge.

    from plaudit.rewards.answers import answer_reward

    answer_reward([r"So it is \boxed{k < -5}."], [r"(-\infty,-5)"])   # [1.0]

`answer_reward` is for answers that are one thing: numbers, formulas, sets, options, names.
`mention_reward` is for answers in prose; `exact_match_reward` and `f1_reward` are what recipes for
search and question answering use. What right means is in docs/answers.md, rule by rule.

A gold may be a list of alternatives, each of which is right.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

from plaudit.answers import (
    Rules,
    answer_text,
    check_kind,
    judge_answer,
    mentioned,
    options_in,
    same_normal_text,
    shared_tokens,
)
from plaudit.inputs.columns import plain, rows_of, same_length
from plaudit.inputs.completions import Completion, gold_alternatives_of, texts_of
from plaudit.inputs.errors import describe_and_log
from plaudit.judge import Pair, Rule, Status, Verdict
from plaudit.rewards._grader import Grader, GraderQuestion, GraderReply
from plaudit.scores import Score, async_form, reward
from plaudit.scores.decorators import Steps
from plaudit.scores.score import logged

Gold = str | float | Sequence[str | float] | None
PerRow = str | Sequence[str | None] | None
Choices = Sequence[Sequence[str] | None] | None

_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4}")
_SHORTEST_ALTERNATIVE = 3  # letters: parts of which none is longer belong together, as in TCP/IP
NO_GOLD = Score(None, "There is no gold: the row is skipped.", status=Status.BAD_GOLD)


@reward(columns=("solution", "kind", "choices", "question"), takes_alternatives=True)
def answer_reward(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    kind: PerRow = None,
    choices: Choices = None,
    question: PerRow = None,
    tolerance: float | None = None,
    rounding: bool = True,
    unsolved: str = "wrong",
    grader: Grader | Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Steps[list[Score]]:
    r"""1.0 if the final answer is right, 0.0 if not, None without a gold or after an error.

    completions: a text or a list of messages for each row
    solution: the gold of each row: text, a number, a list of alternatives, or None; in a row with
        options, a whole number is the index of one, from 0, as in MMLU
    kind: what each gold is, one of `plaudit.answers.KINDS` such as "number", "interval" or
        "choice"; a single text holds for every row. Default: it is read from the gold
    choices: for multiple choice, the list of the options' texts for each row, A first; None for a
        row without options. Default: there are none
    question: the question of each row, for what only it says, such as the order of coordinates; a
        single text holds for every row. Default: not known
    tolerance: how far a number may be off, as a share of the gold: with 0.01, 99 and 101 are right
        if the gold is 100. Default: numbers must be equal
    rounding: whether a correct rounding to three digits or more is right: 0.333 for 1/3.
        Default: True
    unsolved: "wrong" or "right": what an answer is that states a calculation and not its result,
        such as 2+2 for 4. Default: "wrong"
    grader: a model that is asked if no rule can tell, see `Grader`; in a recipe a table such as
        `{ url = "http://localhost:8000/v1", model = "qwen3-8b" }`. Default: such rows get 0.0

    >>> texts = [r"\boxed{\frac{2}{4}}", r"\boxed{2+2}", "The answer is 7."]
    >>> answer_reward(texts, [0.5, 4, ["7", "8"]])
    [1.0, 0.0, 1.0]
    """
    rows = _rows(completions, solution, kind, choices, question)
    rules = _rules(tolerance, rounding, unsolved)
    verdicts = yield from _judged((yield partial(_by_rules, rows, rules)))
    if grader is None:
        graded = [(verdict, None) for verdict in verdicts]
    else:
        log_metric = kwargs.get("log_metric")
        graded = yield partial(_graded, verdicts, rows, Grader.of(grader), log_metric)
    return logged([_score(*one) for one in graded], kwargs)


answer_reward_async = async_form(answer_reward)


@reward(columns=("solution", "choices", "question"), takes_alternatives=True)
def choice_reward(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    choices: Choices = None,
    question: PerRow = None,
    **kwargs: Any,
) -> Steps[list[Score]]:
    """1.0 if a completion chooses the right option, 0.0 if not, None without a gold.

    An answer is a letter or an option's text, alone or in a sentence; two letters are no choice.

    solution: the gold of each row: a letter, the text of an option, or its index from 0
    choices: the list of the options' texts for each row, A first. Default: they are read from the
        question, "A) … B) …"
    question: the question of each row; a single text holds for every row. Default: not known

    >>> asked = "Which planet is the largest? A) Mars B) Jupiter C) Venus"
    >>> choice_reward(["I would choose (B).", "Jupiter", "B or C"], ["B"] * 3, question=asked)
    [1.0, 1.0, 0.0]
    """
    questions = _column("question", question, completions)
    if choices is None:
        choices = [options_in(one or "") or None for one in questions]
    rows = _rows(completions, solution, "choice", choices, question)
    verdicts = yield partial(_by_rules, rows, _rules(None, True, "wrong"))
    return logged([_score(verdict, None) for verdict in verdicts], kwargs)


class _Row(NamedTuple):
    """One completion with its golds and its columns."""

    text: str
    golds: list[str]
    kind: str | None
    choices: tuple[str, ...]
    question: str


def _rows(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    kind: PerRow,
    choices: Choices,
    question: PerRow,
) -> list[_Row]:
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    kinds = _column("kind", kind, completions)
    questions = _column("question", question, completions)
    if choices is None:
        choices = [None] * len(texts)
    same_length(completions, choices=choices)
    choices = rows_of(choices, "choices")
    for entry in dict.fromkeys(filter(None, kinds)):
        check_kind(entry)
    golds = gold_alternatives_of(solution, choices)
    return [
        _Row(text, golds_of_row, kind_of_row, _options(options, row), question_of_row or "")
        for row, (text, golds_of_row, kind_of_row, options, question_of_row) in enumerate(
            zip(texts, golds, kinds, choices, questions, strict=True)
        )
    ]


def _column(name: str, given: PerRow, completions: Sequence[Any]) -> list[str | None]:
    """Return a column of texts; one text holds for every row."""
    if given is None or isinstance(given, str):
        return [given or None] * len(completions)
    same_length(completions, **{name: given})
    entries = rows_of(given, name)
    for row, entry in enumerate(entries):
        if entry is not None and not isinstance(entry, str):
            got = f"{type(entry).__name__}: {entry!r:.80}"
            raise TypeError(f"{name} {row} must be text or None, got {got}")
    return [entry or None for entry in entries]


def _options(options: Sequence[str] | None, row: int) -> tuple[str, ...]:
    if options is None:
        return ()
    listed = plain(options)
    is_list = isinstance(listed, list | tuple)
    if not is_list or not all(isinstance(option, str) for option in listed):
        got = f"{type(options).__name__}: {options!r:.80}"
        raise TypeError(f"choices {row} must be a list of texts, one an option, or None, got {got}")
    return tuple(listed)


def _rules(tolerance: float | None, rounding: bool, unsolved: str) -> Rules:
    if unsolved not in ("wrong", "right"):
        raise ValueError(f'unsolved must be "wrong" or "right", got {unsolved!r}')
    if rounding not in (True, False):
        raise TypeError(f"rounding must be true or false, got {rounding!r:.80}")
    is_share = isinstance(tolerance, Real) and 0 <= tolerance < 1
    if tolerance is not None and not is_share:
        raise ValueError(
            f"tolerance must be from 0 to below 1, such as 0.01, got {tolerance!r:.80}"
        )
    return Rules(rounding=rounding, tolerance=tolerance, unsolved=unsolved == "right")


def _by_rules(rows: list[_Row], rules: Rules) -> list[Verdict]:
    return [
        judge_answer(
            row.text,
            row.golds,
            replace(rules, kind=row.kind, choices=row.choices, question=row.question),
        )
        for row in rows
    ]


def _judged(
    verdicts: list[Verdict],
) -> Generator[list[Pair], list[Verdict], list[Verdict]]:
    """The verdicts; for formulas that no rule could read, what math-verify says in a worker."""
    asked = [row for row, verdict in enumerate(verdicts) if verdict.symbolic]
    if asked:
        judged = yield [_formulas(verdicts[row]) for row in asked]
        for row, verdict in zip(asked, judged, strict=True):
            verdicts[row] = _with_symbolic(verdicts[row], verdict)
    return verdicts


def _formulas(verdict: Verdict) -> Pair:
    answer, gold = verdict.answer or "", verdict.gold or ""
    return Pair(answer, gold.strip("$"), Rule.FORMULA)


def _with_symbolic(verdict: Verdict, judged: Verdict) -> Verdict:
    if judged.status in (Status.NO_ANSWER, Status.BAD_GOLD):
        return verdict
    return replace(
        verdict,
        status=judged.status,
        decided_by="math-verify",
        seconds=judged.seconds,
        problem=judged.problem,
        symbolic=False,
    )


def _graded(
    verdicts: list[Verdict],
    rows: list[_Row],
    grader: Grader,
    log_metric: object,
) -> list[tuple[Verdict, GraderReply | None]]:
    """Return the verdicts, with the grader's answer if no rule could tell."""
    undecided = [row for row, v in enumerate(verdicts) if v.status is Status.UNDECIDED]
    if not undecided:
        return [(verdict, None) for verdict in verdicts]
    questions = [
        GraderQuestion(rows[row].question, " / ".join(rows[row].golds), verdicts[row].answer or "")
        for row in undecided
    ]
    answers = dict(zip(undecided, grader.ask(questions), strict=True))
    if callable(log_metric):
        failed = sum(asked.same is None for asked in answers.values())
        log_metric("answer_reward/grader_asked", len(answers) / len(rows))
        log_metric("answer_reward/grader_failed", failed / len(rows))
    return [(verdict, answers.get(row)) for row, verdict in enumerate(verdicts)]


def _score(verdict: Verdict, asked: GraderReply | None) -> Score:
    if verdict.status is Status.BAD_GOLD:
        return NO_GOLD
    answer, gold = verdict.answer, verdict.gold
    if asked is None or asked.same is None:
        why = verdict.why if asked is None else f"{verdict.why} {asked.why}"
        # A grader that failed says nothing of the answer: the row is skipped.
        failed = verdict.status is Status.ERROR or (asked is not None and asked.failed)
        right = None if failed else verdict.right
        value = None if right is None else float(right)
        return Score(
            value, why, answer, gold, verdict.decided_by, verdict.status.value, right=right
        )
    status = Status.EQUAL if asked.same else Status.DIFFERENT
    value = float(asked.same)
    return Score(value, asked.why, answer, gold, "grader", status.value, right=asked.same)


@reward(columns=("solution", "question"), takes_alternatives=True)
def mention_reward(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    question: PerRow = None,
    separator: str | None = None,
    **kwargs: Any,
) -> list[Score]:
    """1.0 if the answer, which may be prose, names a gold; 0.0 if not; None without a gold.

    Articles, middle names, plurals, ordinals and the order of dates do not count. A gold that is
    denied ("not Paris"), or one of many names in a list, is not named.

    solution: the gold of each row: text, a number, a list of alternatives, or None
    question: the question of each row, so that an answer that repeats it names nothing, and a
        person may be named by the family name; a single text holds for every row. Default: not
        known
    separator: what stands between the alternatives of a gold that is one text: "/" for
        "UK/Britain". Default: such a gold is one alternative

    >>> mention_reward(["It was on May 10, 1940."] * 2, [["10 May 1940", "1940"], "11 May 1940"])
    [1.0, 0.0]
    """
    questions = _column("question", question, completions)
    return _compared(completions, solution, separator, _mentions, kwargs, questions)


@reward(columns=("solution",), takes_alternatives=True)
def exact_match_reward(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    separator: str | None = None,
    **kwargs: Any,
) -> list[Score]:
    """1.0 if the final answer is a gold, word for word; 0.0 if not; None without a gold.

    Letter case, punctuation, articles and white space do not count. The final answer is what
    stands in a box or in `<answer>…</answer>`, what is announced, or the whole text.

    solution, separator: as of `mention_reward`

    >>> exact_match_reward(["<answer>The UK.</answer>", "Paris"], [["UK", "Britain"], "Rome"])
    [1.0, 0.0]
    """
    return _compared(completions, solution, separator, _matches, kwargs)


@reward(columns=("solution",), takes_alternatives=True)
def f1_reward(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    separator: str | None = None,
    **kwargs: Any,
) -> list[Score]:
    """How many words the final answer shares with the best gold, from 0.0 to 1.0.

    It is the F1 of tokens, as for SQuAD; the final answer is that of `exact_match_reward`.

    solution, separator: as of `mention_reward`

    >>> f1_reward(["<answer>the tall Eiffel tower</answer>"], ["Eiffel Tower"])
    [0.8]
    """
    return _compared(completions, solution, separator, _shares, kwargs)


def _compared(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    separator: str | None,
    compare: Callable[[str, list[str], str], Score],
    columns: Mapping[str, Any],
    questions: list[str | None] | None = None,
) -> list[Score]:
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    asked = questions or [None] * len(texts)
    alternatives = gold_alternatives_of(solution)
    scores = [
        _score_or_error(compare, text, known, question or "") if known else NO_GOLD
        for text, golds, question in zip(texts, alternatives, asked, strict=True)
        for known in [[gold for gold in _separated(golds, separator) if gold.strip()]]
    ]
    return logged(scores, columns)


def _score_or_error(
    compare: Callable[[str, list[str], str], Score], text: str, golds: list[str], question: str
) -> Score:
    try:
        return compare(text, golds, question)
    except Exception as error:  # it costs one row, never the run
        problem = describe_and_log(error)
        why = f"The row could not be scored: {problem}"
        return Score(None, why, None, golds[0], status=Status.ERROR, problem=problem)


def _separated(golds: list[str], separator: str | None) -> list[str]:
    if separator is None:
        return golds
    if not isinstance(separator, str) or not separator:
        raise ValueError(f'separator must be a text such as "/", or None, got {separator!r:.80}')
    return [part for gold in golds for part in _alternatives(gold, separator)]


def _alternatives(gold: str, separator: str) -> list[str]:
    """Return the parts of a gold, or the gold if they cannot stand alone: 9/11, km/h, AC/DC."""
    parts = [part.strip() for part in gold.split(separator)]
    alike = all(map(str.isdigit, parts)) or not any(map(str.isdigit, parts))
    short = max(map(len, parts)) <= _SHORTEST_ALTERNATIVE
    return [gold] if (short and alike) or _DATE.fullmatch(gold.strip()) else parts


def _mentions(text: str, golds: list[str], question: str) -> Score:
    answer = answer_text(text)
    if not answer:
        why = "The completion has no final answer."
        return Score(0.0, why, None, golds[0], status=Status.NO_ANSWER, right=False)
    found = mentioned(answer, golds, question)
    why = {
        Status.EQUAL: f"The answer names a gold: {found.decided_by}.",
        Status.SEVERAL: "The answer lists more names than one, and a gold is only one of them.",
    }.get(found.status, "The answer names no gold.")
    status = found.status.value
    return Score(
        float(found.equal), why, answer[:300], golds[0], "words", status, right=found.equal
    )


def _matches(text: str, golds: list[str], _question: str) -> Score:
    answer = answer_text(text)
    match = next((gold for gold in golds if same_normal_text(answer, gold)), None)
    status = Status.DIFFERENT if match is None else Status.EQUAL
    why = "The answer is no gold, word for word." if match is None else "The answer is a gold."
    return Score(
        float(match is not None),
        why,
        answer[:300] or None,
        match or golds[0],
        "exact match",
        status.value,
        right=match is not None,
    )


def _shares(text: str, golds: list[str], _question: str) -> Score:
    answer = answer_text(text)
    value, gold = max(((shared_tokens(answer, gold), gold) for gold in golds), key=lambda f: f[0])
    why = f"The answer and the gold {gold[:60]} share {value:.0%} of their words."
    return Score(value, why, answer[:300] or None, gold, "token F1", right=value == 1.0)
