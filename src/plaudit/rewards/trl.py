r"""The rewards of TRL, as of 1.7.0, with verdicts that equal its own.

    from trl import GRPOTrainer
    from plaudit.rewards.trl import accuracy_reward, think_format_reward

    GRPOTrainer(..., reward_funcs=[accuracy_reward, think_format_reward])

TRL reads the first message alone; these read what the completion says in the end, see
`plaudit.inputs.completions`. A gold that cannot be read skips its row: the reward is None.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from numbers import Real
from typing import Any

from plaudit.inputs.columns import ids_of, rows_of, same_length
from plaudit.inputs.completions import Completion, Solution, gold_texts_of, texts_of
from plaudit.judge import Pair, Rule, Status
from plaudit.scores import Score, async_form, reward
from plaudit.scores.algorithms import cosine, repeated_share, soft_overlong
from plaudit.scores.decorators import Steps, declared, reward_factory
from plaudit.scores.score import scores_of_verdicts, values_of

LogExtra = Callable[[str, list[Any]], None]

NO_GOLD = Score(None, "There is no gold: the row is skipped.", status=Status.BAD_GOLD)
INCOMPLETE = "[incomplete reasoning]"
NO_END = Score(
    0.0, "The reasoning never ends.", None, None, INCOMPLETE, Status.NO_ANSWER, right=False
)
NO_THINK = Score(0.0, "The text does not start with <think>.")  # made once, not for each row
TWO_THINKS = Score(0.0, "The text has more than one <think>.")
OPEN_THINK = Score(0.0, "The <think> is never closed.")
ONE_THINK = Score(1.0, "The text starts with one <think>…</think>.")


@reward(columns=("solution",), reads_latex=True)
def accuracy_reward(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    log_extra: LogExtra | None = None,
    **kwargs: Any,
) -> Steps[list[Score]]:
    r"""1.0 if the completion's LaTeX answer equals the gold, 0.0 if not, None without a gold.

    The answer is the last `\boxed{…}`, or else LaTeX that follows the word "answer".

    completions: a text or a list of messages for each row
    solution: the gold of each row: text, a number, or None if there is none
    log_extra: what TRL passes for its table of completions. Default: nothing is logged

    >>> accuracy_reward([r"It is \boxed{\frac{1}{3}}", r"It is \boxed{0.5}"], ["1/3", "1/3"])
    [1.0, 0.0]
    """
    scores = yield from _judged(texts_of(completions), completions, solution)
    _log(log_extra, solution, scores)
    return scores


accuracy_reward_async = async_form(accuracy_reward)


@reward(columns=("solution",), reads_latex=True)
def reasoning_accuracy_reward(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    reasoning_delimiters: Sequence[str] | None = None,
    log_extra: LogExtra | None = None,
    **kwargs: Any,
) -> Steps[list[Score]]:
    r"""`accuracy_reward` of what follows the reasoning; 0.0 if the reasoning never ends.

    reasoning_delimiters: a list of texts that end the reasoning. The first of the list that the
        completion contains is taken, and what follows its last occurrence is judged.
        Default: ["</think>"]

    >>> reasoning_accuracy_reward([r"<think>\boxed{3}</think> \boxed{4}", r"\boxed{4}"], ["4", "4"])
    [1.0, 0.0]
    """
    if isinstance(reasoning_delimiters, str):
        raise TypeError(
            f"reasoning_delimiters must be a list of texts: write [{reasoning_delimiters!r:.80}]"
        )
    ends = ["</think>"] if reasoning_delimiters is None else list(reasoning_delimiters)
    for end in ends:
        if not isinstance(end, str) or not end:
            raise TypeError(f"reasoning_delimiters must be a list of texts, and has {end!r:.80}")
    texts = [_after_reasoning(text, ends) for text in texts_of(completions)]
    scores = yield from _judged(texts, completions, solution)
    _log(log_extra, solution, scores)
    return scores


reasoning_accuracy_reward_async = async_form(reasoning_accuracy_reward)


def _after_reasoning(text: str, delimiters: list[str]) -> str | None:
    for delimiter in delimiters:
        if delimiter in text:
            return text.rpartition(delimiter)[2]
    return None


def _judged(
    texts: Sequence[str | None], completions: Sequence[Completion], solution: Sequence[Solution]
) -> Steps[list[Score]]:
    """Score the texts; a text that is None is reasoning that never ended."""
    same_length(completions, solution=solution)
    rows = list(zip(texts, gold_texts_of(solution), strict=True))
    pairs = [
        Pair(text, gold, Rule.LATEX) for text, gold in rows if text is not None and gold is not None
    ]
    scores = iter(scores_of_verdicts((yield pairs), [pair.gold for pair in pairs], bad_gold=None))
    return [
        NO_END if text is None else NO_GOLD if gold is None else next(scores) for text, gold in rows
    ]


def _log(log_extra: LogExtra | None, solution: Sequence[Solution], scores: list[Score]) -> None:
    if log_extra is None:
        return
    log_extra("solution", list(rows_of(solution, "solution")))
    log_extra("gold_parsed", [_shown(score, score.gold, "[unparseable]") for score in scores])
    log_extra("answer_parsed", [_shown(score, score.answer, "[skipped]") for score in scores])


def _shown(score: Score, read: str | None, skipped: str) -> str:
    if score.decided_by == INCOMPLETE:
        return INCOMPLETE
    return skipped if score.value is None else read or "[unparseable]"


@reward(columns=())
def think_format_reward(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 if the text starts with `<think>`, has no second one, and closes it; else 0.0.

    >>> think_format_reward(["<think>So…</think> 4", "So… 4"])
    [1.0, 0.0]
    """
    return [_think_format(text) for text in texts_of(completions)]


def _think_format(text: str) -> Score:
    if not text.startswith("<think>"):
        return NO_THINK
    if text.count("<think>") > 1:
        return TWO_THINKS
    return ONE_THINK if "</think>" in text else OPEN_THINK


class _MadeReward:
    """What the three factories below return: it can be pickled, and has a name for metrics."""

    __name__: str

    def __post_init__(self) -> None:
        """Raise if a parameter is not a number, as one from a file or a command line may be."""
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            wanted = "a whole number" if field.type is int else "a number"
            is_number = isinstance(value, Real) and isfinite(value) and not isinstance(value, bool)
            if not is_number or (field.type is int and not float(value).is_integer()):
                raise ValueError(f"{field.name} must be {wanted}, got {value!r:.80}")
            if field.type is int:  # 3.0 from a file is 3
                object.__setattr__(self, field.name, int(value))

    def scores(self, *args: Any, **kwargs: Any) -> list[Score]:
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> list[float | None]:
        # Two of them have completion_ids as their first argument, which all others call by name.
        if len(args) == 1 and "completion_ids" in kwargs:
            return self(**{"completions": args[0], **kwargs})
        return values_of(self.scores(*args, **kwargs), self.__name__, kwargs.get("log_metric"))


def _ids(completion_ids: Any, completions: Any) -> list[Sequence[int]]:
    """The ids. Some of these rewards need no completions; if they come, lengths must agree."""
    if completions is not None:
        same_length(completions, completion_ids=completion_ids)
    return ids_of(completion_ids)


@dataclass(frozen=True)
class CosineScaledReward(_MadeReward):
    """See `get_cosine_scaled_reward`."""

    max_len: int
    min_value_wrong: float
    max_value_wrong: float
    min_value_correct: float
    max_value_correct: float
    __name__ = "cosine_scaled_reward"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_len < 1:
            raise ValueError(f"max_len must be 1 or more, got {self.max_len}")

    @declared(columns=("solution", "completion_ids"), reads_latex=True)
    def scores(
        self,
        completions: Sequence[Completion],
        solution: Sequence[Solution],
        completion_ids: Sequence[Sequence[int]],
        **kwargs: Any,
    ) -> list[Score]:
        """The score of each completion.

        >>> get_cosine_scaled_reward(100).scores([r"\\boxed{4}"], ["4"], [[1] * 50])[0].value
        0.75
        """
        listed = _ids(completion_ids, completions)
        correct = accuracy_reward.scores(completions, solution)
        return [self._scaled(score, len(ids)) for score, ids in zip(correct, listed, strict=True)]

    def _scaled(self, correct: Score, length: int) -> Score:
        if correct.value is None:
            return correct
        start, end = (
            (self.max_value_correct, self.min_value_correct)
            if correct.value
            else (self.min_value_wrong, self.max_value_wrong)
        )
        value = cosine(min(length, self.max_len), self.max_len, start, end)
        why = f"{correct.why} {length} of {self.max_len} tokens."
        return replace(correct, value=value, why=why)


@reward_factory
def get_cosine_scaled_reward(
    max_len: int,
    min_value_wrong: float = -1.0,
    max_value_wrong: float = -0.5,
    min_value_correct: float = 0.5,
    max_value_correct: float = 1.0,
) -> CosineScaledReward:
    r"""A reward that scales correctness by length: short and right is best, short and wrong worst.

    The length is the number of `completion_ids`; between 0 and `max_len` the value follows half a
    cosine.

    max_len: int, the tokens from which on the length makes no more difference, such as 4096
    min_value_wrong: what a wrong completion gets at length 0. Default: -1.0
    max_value_wrong: what a wrong completion gets from `max_len` on. Default: -0.5
    min_value_correct: what a right completion gets from `max_len` on. Default: 0.5
    max_value_correct: what a right completion gets at length 0. Default: 1.0

    >>> cosine_scaled_reward = get_cosine_scaled_reward(max_len=100)
    >>> ids = [[1] * 50, [1] * 50]
    >>> cosine_scaled_reward([r"\boxed{4}", r"\boxed{5}"], ["4", "4"], ids)
    [0.75, -0.75]
    """
    return CosineScaledReward(
        max_len, min_value_wrong, max_value_wrong, min_value_correct, max_value_correct
    )


@dataclass(frozen=True)
class RepetitionPenaltyReward(_MadeReward):
    """See `get_repetition_penalty_reward`."""

    ngram_size: int
    max_penalty: float
    __name__ = "repetition_penalty_reward"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ngram_size < 1:
            raise ValueError(f"ngram_size must be 1 or more, got {self.ngram_size}")
        if self.max_penalty > 0:
            raise ValueError(f"max_penalty must not be positive, got {self.max_penalty}")

    @declared(columns=("completion_ids",))
    def scores(self, completion_ids: Sequence[Sequence[int]], **kwargs: Any) -> list[Score]:
        """The score of each completion.

        >>> get_repetition_penalty_reward(ngram_size=2).scores([[5, 5, 5, 5, 5]])[0].value
        -0.75
        """
        return [self._score(ids) for ids in _ids(completion_ids, kwargs.get("completions"))]

    def _score(self, ids: Sequence[int]) -> Score:
        share = repeated_share(ids, self.ngram_size)
        why = f"{share:.0%} of its {self.ngram_size}-grams are repeated."
        return Score(share * self.max_penalty if share else 0.0, why)


@reward_factory
def get_repetition_penalty_reward(
    ngram_size: int = 3, max_penalty: float = -1.0
) -> RepetitionPenaltyReward:
    """A penalty for n-grams of tokens that repeat: the share of them, times `max_penalty`.

    ngram_size: int, how many tokens in a row are compared. Default: 3
    max_penalty: what a completion would get in which every n-gram repeats another; 0 or less.
        Default: -1.0

    >>> repetition_penalty_reward = get_repetition_penalty_reward(ngram_size=2)
    >>> repetition_penalty_reward([[1, 2, 3, 4], [5, 5, 5, 5, 5]])
    [0.0, -0.75]
    """
    return RepetitionPenaltyReward(ngram_size, max_penalty)


@dataclass(frozen=True)
class SoftOverlongPunishment(_MadeReward):
    """See `get_soft_overlong_punishment`."""

    max_completion_len: int
    soft_punish_cache: int
    __name__ = "soft_overlong_punishment_reward"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.soft_punish_cache < 0:
            cache = self.soft_punish_cache
            raise ValueError(f"soft_punish_cache must not be negative, got {cache}")
        if self.soft_punish_cache > self.max_completion_len:
            raise ValueError(
                f"soft_punish_cache must be at most max_completion_len, got "
                f"max_completion_len={self.max_completion_len} and "
                f"soft_punish_cache={self.soft_punish_cache}: are they swapped?"
            )

    @declared(columns=("completion_ids",))
    def scores(self, completion_ids: Sequence[Sequence[int]], **kwargs: Any) -> list[Score]:
        """The score of each completion.

        >>> get_soft_overlong_punishment(100, 20).scores([[1] * 90])[0].value
        -0.5
        """
        return [self._score(len(ids)) for ids in _ids(completion_ids, kwargs.get("completions"))]

    def _score(self, length: int) -> Score:
        value = soft_overlong(length, self.max_completion_len, self.soft_punish_cache)
        soft = self.max_completion_len - self.soft_punish_cache
        why = f"{length} tokens: {soft} are free, {self.max_completion_len} are the most."
        return Score(value, why)


@reward_factory
def get_soft_overlong_punishment(
    max_completion_len: int, soft_punish_cache: int
) -> SoftOverlongPunishment:
    """A punishment for length: 0.0, then falling over the last `soft_punish_cache` tokens to -1.0.

    max_completion_len: int, the tokens from which on a completion gets -1.0, such as 4096
    soft_punish_cache: int, over how many tokens before that the value falls from 0.0, such as 512;
        with 0 it drops at once

    >>> soft_overlong_punishment_reward = get_soft_overlong_punishment(100, 20)
    >>> soft_overlong_punishment_reward([[1] * 80, [1] * 90, [1] * 101])
    [0.0, -0.5, -1.0]
    """
    return SoftOverlongPunishment(max_completion_len, soft_punish_cache)
