"""An answer and a gold as text in, and out comes a score: as mathematics, a letter, or a text.

A method gives a draft: a score, or what to ask the judge or a language model for one. So a batch
asks each of them once.
"""

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from plaudit import extract
from plaudit.columns import same_length
from plaudit.completions import Completion, Solution, gold_text_of, gold_texts_of, texts_of
from plaudit.judge import Pair, Status, Verdict, settle
from plaudit.rewards.vlm_r1._comparison import first_answer, last_answer, sameness
from plaudit.rewards.vlm_r1._llm import Question
from plaudit.scores import NO_GOLD, Score, score_of, text_reward


def _default_scores(
    completions: Sequence[Completion], solution: Sequence[Solution], **kwargs: object
) -> list[Score]:
    """The judge is asked once for a batch."""
    same_length(completions, solution=solution)
    rows = zip(texts_of(completions), gold_texts_of(solution), strict=True)
    return settle(settled([draft(_default, content, gold) for content, gold in rows]))


@text_reward(columns=("solution",), batch=_default_scores)
def default_accuracy_reward(content: str, sol: Solution, **kwargs: object) -> Score:
    """How right an answer is: as mathematics, a number, an option letter, or text.

    The answer is what stands in the last `<answer>` of the content, the gold what stands in the
    first `<answer>` of `sol`; without a tag, the whole text. Equal as mathematics: 1.0. Else, a
    gold with a digit is compared as a number, and one that is an option letter as a letter: 1.0 or
    0.0. What is neither gets the similarity of the texts, from 0.0 to 1.0.

    >>> default_accuracy_reward("<think>…</think><answer>The answer is B.</answer>", "B")
    1.0
    >>> round(default_accuracy_reward("<answer>a red car</answer>", "a red cat"), 3)
    0.889
    """
    return settle(settled([draft(_default, content, gold_text_of(sol))]))[0]


# --- drafts: scores, some of which wait for the judge or for a language model ---------------------


@dataclass(frozen=True, slots=True)
class ToJudge:
    pair: Pair
    score: Callable[[Verdict], Score]


@dataclass(frozen=True, slots=True)
class ToAsk:
    answer: str
    gold: str


Draft = Score | ToJudge | ToAsk
Method = Callable[[str, str], Draft]


def draft(method: Method, content: str, gold: str | None) -> Draft:
    return NO_GOLD if gold is None else method(content, gold)


def questions(drafts: Sequence[Draft]) -> list[Question]:
    return [
        Question(row, draft.answer, draft.gold)
        for row, draft in enumerate(drafts)
        if isinstance(draft, ToAsk)
    ]


def settled(
    drafts: Sequence[Draft], replies: Sequence[float] = ()
) -> Generator[list[Pair], list[Verdict], list[Score]]:
    """Score what waits: the judge is asked once for the whole batch."""
    verdicts = yield [draft.pair for draft in drafts if isinstance(draft, ToJudge)]
    judged, replied = iter(verdicts), iter(replies)

    def score(draft: Draft) -> Score:
        if isinstance(draft, ToJudge):
            return draft.score(next(judged))
        return _llm_score(draft, next(replied)) if isinstance(draft, ToAsk) else draft

    return [score(draft) for draft in drafts]


# --- the methods ----------------------------------------------------------------------------------


def _default(content: str, gold: str) -> Draft:
    answer, truth = last_answer(content), first_answer(gold)
    return ToJudge(Pair(answer, truth), partial(_default_score, answer, truth))


def _default_score(answer: str, truth: str, verdict: Verdict) -> Score:
    # A gold that is not mathematics is no trouble here: it is compared as something else.
    is_equal = verdict.status is Status.EQUAL
    other = None if is_equal else replace(_compared(answer, truth), answer=answer, gold=truth)
    return score_of(verdict, truth, (answer, truth), compared=other)


def _compared(answer: str, truth: str) -> Score:
    mine, its = extract.clean(answer), extract.clean(truth)
    if re.search(r"\d", truth):
        same = _same_number(mine, its)
        if same is not None:
            why = f"{mine:.40} and {its:.40} are {'the same' if same else 'different'} numbers."
            return sameness(same, why, mine, its, "number")
    elif letter := extract.option_letter(truth):
        return _same_option(extract.option_letter(answer), letter)
    likeness = _likeness(mine, its)
    why = f"The texts are {likeness:.0%} alike."
    return Score(likeness, why, mine, its, "text similarity", right=likeness == 1.0)


def _same_option(picked: str | None, letter: str) -> Score:
    why = f"The answer picks {picked or 'no option'}, the gold is {letter}."
    return sameness(picked == letter, why, picked, letter, "option letter")


def _same_number(a: str, b: str) -> bool | None:
    try:
        return float(a) == float(b)
    except ValueError:
        return None


def _likeness(a: str, b: str) -> float:
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(a, b)


def _mcq(content: str, gold: str) -> Score:
    answer, truth = first_answer(content), first_answer(gold)
    letter, picked = extract.option_letter(truth), extract.option_letter(answer)
    if letter is None:
        return Score(
            0.0, "The gold has no option letter.", picked, truth, "option letter", Status.BAD_GOLD
        )
    return _same_option(picked, letter)


def _yes_no(content: str, gold: str) -> Score:
    said, true = _yes_or_no(first_answer(content)), _yes_or_no(first_answer(gold))
    if true is None:
        return Score(
            0.0, "The gold says neither yes nor no.", said, gold, "yes_no", Status.BAD_GOLD
        )
    why = f"The answer says {said or 'neither yes nor no'}, the gold {true}."
    return sameness(said == true, why, said, true, "yes_no")


def _yes_or_no(text: str) -> str | None:
    found = re.search(r"(?<![a-z])(?:yes|no)(?![a-z])", text.lower())
    return found and found[0]


def _math(content: str, gold: str) -> Draft:
    answer, truth = extract.clean(content), extract.clean(gold)
    if extract.plain_latex(answer) == extract.plain_latex(truth):
        return sameness(True, "The same formula.", answer, truth, "same text")
    return ToJudge(Pair(answer, truth), partial(score_of, gold=truth, shown=(answer, truth)))


def _all_match(content: str, gold: str) -> Score:
    answer, truth = extract.clean(content), extract.clean(gold)
    same = answer == truth
    why = "The same text." if same else "Not the same text."
    return sameness(same, why, answer, truth, "all_match")


def _llm(content: str, gold: str) -> ToAsk:
    return ToAsk(last_answer(content), first_answer(gold))


def _llm_score(asked: ToAsk, value: float) -> Score:
    why = f"The language model says that the answer is {'right' if value else 'wrong'}."
    return sameness(bool(value), why, asked.answer, asked.gold, "llm")


METHODS: dict[str, Method] = {
    "default": _default,
    "mcq": _mcq,
    "yes_no": _yes_no,
    "math": _math,
    "all_match": _all_match,
    "llm": _llm,
}
