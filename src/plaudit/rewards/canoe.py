"""The rewards of CANOE: faithful short and long answers to a question about a context.

A completion has three parts, and the solution may be tagged too:

    <think>…</think><long_answer>…</long_answer><answer>Paris</answer>

`influence_reward` needs one more generation, from the prompt that `second_prompt` makes;
`plaudit.trainers.trl.dual` makes it with TRL.
"""

import re
from collections.abc import Sequence
from typing import Any, TypeVar, cast

from plaudit.inputs.columns import rows_of, same_length
from plaudit.inputs.completions import (
    Completion,
    Message,
    Solution,
    gold_texts_of,
    prompt_text_of,
    text_of,
    texts_of,
)
from plaudit.inputs.extract import first_tag, only_tags
from plaudit.judge import Pair, Status, Verdict
from plaudit.scores import Score, async_form, reward
from plaudit.scores.decorators import Steps
from plaudit.scores.score import NO_GOLD, UNFINISHED_STATUSES, log_attempts, score_of

SHORTEST, LONGEST = 0.2, 0.8  # of a long answer, as shares of its context
Prompt = TypeVar("Prompt", bound=Completion)


@reward(columns=("solution",))
def accuracy_reward(
    completions: Sequence[Completion], solution: Sequence[Solution], **kwargs: Any
) -> Steps[list[Score]]:
    """1.0 if the answer equals the gold, symbolically or as text; else 0.0.

    The answer is what stands in the first `<answer>…</answer>` of the completion, or all of it; the
    gold likewise.

    completions: a text or a list of messages for each row
    solution: the gold of each row: text, a number, or None if there is none

    >>> accuracy_reward(["<answer>42.0</answer>", "<answer>Rome</answer>"], ["42", "Paris"])
    [1.0, 0.0]
    """
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    golds = gold_texts_of(solution)
    rows = [(_answer(t), _answer(g)) for t, g in zip(texts, golds, strict=True) if g is not None]
    verdicts = yield [Pair(answer, gold) for answer, gold in rows if answer != gold]
    judged = iter(verdicts)
    scored = iter(
        _same_text(answer, gold) if answer == gold else _symbolic(answer, gold, next(judged))
        for answer, gold in rows
    )
    scores = [NO_GOLD if gold is None else next(scored) for gold in golds]
    log_attempts("accuracy_reward.log", "Accuracy reward", scores, texts, solution)
    if callable(log_extra := kwargs.get("log_extra")):
        log_extra("answer", [score.answer for score in scores])
        log_extra("decided_by", [score.decided_by for score in scores])
    return scores


accuracy_reward_async = async_form(accuracy_reward)


def _answer(text: str) -> str:
    tagged = first_tag(text, "answer")
    return text.strip() if tagged is None else tagged


def _same_text(answer: str, gold: str) -> Score:
    why = "The answer is the gold, word for word."
    return Score(1.0, why, answer, gold, "same text", Status.EQUAL, right=True)


def _symbolic(answer: str, gold: str, verdict: Verdict) -> Score:
    # What is not mathematics was compared as text.
    why = "The answer is not the gold, neither in value nor as text."
    differs = Score(0.0, why, answer, gold, verdict.decided_by, Status.DIFFERENT, right=False)
    compared = None if verdict.status in UNFINISHED_STATUSES else differs
    return score_of(verdict, gold, (answer, gold), compared=compared)


@reward(columns=("solution", "completions_long_answer"))
def influence_reward(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    completions_long_answer: Sequence[Completion | None],
    **kwargs: Any,
) -> list[Score]:
    """1.0 if the answer that was generated anew from the long answer is the gold; else 0.0.

    completions: a text or a list of messages for each row; they are only counted
    solution: the gold of each row
    completions_long_answer: what the model wrote from `second_prompt` for each row; None if the
        completion had no long answer to generate from

    >>> influence_reward(["…", "…"], ["Paris", "Paris"], ["<answer>Paris</answer>", None])
    [1.0, 0.0]
    """
    same_length(completions, solution=solution, completions_long_answer=completions_long_answer)
    texts_of(completions)
    texts = [
        None if completion is None else text_of(completion, row)
        for row, completion in enumerate(
            rows_of(completions_long_answer, "completions_long_answer")
        )
    ]
    golds = gold_texts_of(solution)
    scores = [_influence(text, gold) for text, gold in zip(texts, golds, strict=True)]
    title = "Influence accuracy reward"
    log_attempts("influence_accuracy_reward.log", title, scores, texts, solution)
    return scores


def _influence(text: str | None, gold: str | None) -> Score:
    if gold is None:
        return NO_GOLD
    if text is None:
        why = "There was no long answer to generate from."
        return Score(0.0, why, None, _answer(gold), status=Status.NO_ANSWER, right=False)
    answer, gold = _answer(text), _answer(gold)
    if answer == gold:
        return _same_text(answer, gold)
    why = "The answer from the long answer is not the gold."
    return Score(0.0, why, answer, gold, "same text", Status.DIFFERENT, right=False)


def second_prompt(
    prompt: Prompt, completion: Completion, *, as_original: bool = False
) -> Prompt | None:
    """The prompt whose context is what the completion says in its first `<long_answer>`.

    What the model writes from this prompt is the column `completions_long_answer`. The first
    `<context>…</context>` of what the user says last is replaced; the tags stay, and the long
    answer is put in as the model wrote it, without whitespace around it.

    prompt: text, or messages; it is not changed
    completion: text, or messages
    as_original: put the long answer in as CANOE's own trainer does, which escapes it as a regular
        expression first, so that its spaces get backslashes. Default: False

    None if the completion has no long answer: there is nothing to generate from.

    >>> prompt = "<context>Paris is the capital of France.</context> What is the capital?"
    >>> second_prompt(prompt, "<long_answer>It is Paris.</long_answer><answer>Paris</answer>")
    '<context>It is Paris.</context> What is the capital?'
    >>> second_prompt(prompt, "Paris") is None
    True
    """
    long_answer = first_tag(text_of(completion), "long_answer")
    if long_answer is None:
        return None
    asked = prompt_text_of(prompt, "prompt")
    start = asked.find("<context>")
    end = asked.find("</context>", start)
    if start < 0 or end < 0:
        raise ValueError(
            "the prompt has no <context>…</context> to put the long answer into; "
            f"what the user says last is {asked!r:.80}"
        )
    if as_original:  # the template of a substitution, in which two backslashes stand for one
        long_answer = re.sub("x", re.escape(long_answer), "x")
    old, new = asked[start:end] + "</context>", f"<context>{long_answer}</context>"
    if isinstance(prompt, str):
        return cast("Prompt", prompt.replace(old, new, 1))
    messages = [*cast("Sequence[Message]", prompt)]
    # What the user says last is what the last message with that text says.
    said = [prompt_text_of([message], "prompt") for message in messages]
    place = len(said) - 1 - said[::-1].index(asked)
    messages[place] = _replacing(messages[place], old, new)
    return cast("Prompt", messages)


def _replacing(message: Message, old: str, new: str) -> Message:
    """Return the message with another text in place of one; its other parts stay as they are."""
    changed = dict(message)
    for key in ("content", "value", "text"):
        if isinstance(held := message.get(key), str):
            changed[key] = held.replace(old, new, 1)
        elif held is not None:
            parts = [dict(part) for part in held]
            part = next((one for one in parts if old in (one.get("text") or "")), None)
            if part is None:
                raise ValueError("the <context> of the prompt must stand in one part of a message")
            part["text"] = part["text"].replace(old, new, 1)
            changed[key] = parts
    return changed


@reward(columns=())
def format_reward(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 if the text is the three parts, white space between them and nothing else; else 0.0.

    >>> format_reward(["<think>a</think> <long_answer>b</long_answer> <answer>c</answer>", "c"])
    [1.0, 0.0]
    """
    tags = "think", "long_answer", "answer"
    parts = "<think>…</think>, <long_answer>…</long_answer>, <answer>…</answer> and nothing else."
    right, wrong = Score(1.0, f"The text is {parts}"), Score(0.0, f"The text is not {parts}")
    return [right if only_tags(text, *tags) else wrong for text in texts_of(completions)]


@reward(columns=("problem",), needs=("problem",))
def len_reward(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 if the long answer has between 0.2 and 0.8 of its context's characters; else 0.0.

    problem: the prompt of each row, as text or messages; its context is what stands in its first
        `<context>…</context>`

    >>> problem = ["<context>" + "x" * 10 + "</context> What is it?"]
    >>> len_reward(["<long_answer>xxxxx</long_answer>"], problem=problem)
    [1.0]
    """
    if (problem := kwargs.get("problem")) is None:
        raise ValueError("len_reward needs the column `problem`, with a <context> in each row")
    texts = texts_of(completions)
    same_length(completions, problem=problem)
    problems = [
        prompt_text_of(one, "problem", row) for row, one in enumerate(rows_of(problem, "problem"))
    ]
    return [
        _length(first_tag(text, "long_answer"), first_tag(asked, "context"))
        for text, asked in zip(texts, problems, strict=True)
    ]


def _length(long_answer: str | None, context: str | None) -> Score:
    if long_answer is None:
        return Score(0.0, "The text has no <long_answer>.")
    if context is None:
        return Score(0.0, "The problem has no <context>.", long_answer)
    long, whole = len(long_answer), len(context)
    fits = SHORTEST * whole < long < LONGEST * whole
    why = f"The long answer has {long} characters, the context {whole}."
    return Score(float(fits), why, long_answer)
