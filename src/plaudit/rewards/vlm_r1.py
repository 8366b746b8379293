"""The rewards of VLM-R1: answers of any kind, boxes, length, repetition, format.

    accuracy_reward(
        completions=["<think>…</think><answer>B</answer>", "<answer>12.0</answer>"],
        solution=["<answer>B</answer>", "<answer>12</answer>"],
        accu_reward_method=["mcq", "default"],
    )

With `DEBUG_MODE=true` the rewards over batches log each attempt to `$LOG_PATH`, or to `vlm_r1.txt`
where that is not set: accuracy and IoU to this file, the others to `…_format.txt`,
`…_cosine.txt` and `…_repetition.txt` beside it.
"""

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any

from plaudit import boxes, extract, images, schedules
from plaudit._debug_log import log_attempts
from plaudit.completions import (
    Completion,
    Solution,
    gold_of,
    golds_of,
    number_of,
    rows_of,
    same_length,
    texts_of,
    whole_numbers,
)
from plaudit.declarations import declared, reward_factory
from plaudit.judge import Pair, Status, Verdict, settle, settle_async
from plaudit.ngrams import repeated_share
from plaudit.rewards._llm import Question, ask
from plaudit.scores import (
    NO_GOLD,
    Score,
    async_reward,
    reward,
    score_of,
    text_reward,
    values_of,
)

LOG = "vlm_r1.txt"

_PATCH = 14  # pixels of a cell of `image_grid_thw`
_PERIOD = 1024  # tokens over which the cosine falls
_CORRECT = 0.7  # accuracy from which an answer counts as correct
_OVERLAPPING = 0.5  # IoU, or average precision, from which boxes count as right
_PHRASE = 6  # words of a phrase that should not repeat


# --- one text against one gold ------------------------------------------------------------------


def _default_scores(
    completions: Sequence[Completion], solution: Sequence[Solution], **kwargs: object
) -> list[Score]:
    """The judge is asked once for a batch."""
    same_length(completions, solution=solution)
    rows = zip(texts_of(completions), golds_of(solution), strict=True)
    return settle(_settled([_draft(_default, content, gold) for content, gold in rows]))


@text_reward(columns=("solution",), batch=_default_scores)
def default_accuracy_reward(content: str, sol: Solution, **kwargs: object) -> Score:
    """How right an answer is: as mathematics, a number, an option letter, or text.

    The answer is what stands in the last `<answer>`, the gold what stands in the first, or all of
    it. Equal as mathematics: 1.0. Else, a gold with a digit is compared as a number, and one that
    is an option letter as a letter: 1.0 or 0.0. What is neither gets the similarity of the texts.

    >>> default_accuracy_reward("<think>…</think><answer>The answer is B.</answer>", "B")
    1.0
    >>> round(default_accuracy_reward("<answer>a red car</answer>", "a red cat"), 3)
    0.889
    """
    return settle(_settled([_draft(_default, content, gold_of(sol))]))[0]


@text_reward(columns=("solution",))
def detection_score(
    content: str,
    sol: Solution,
    iou_threshold: float = 0.5,
    alpha: float = 0.7,
    beta: float = 0.0,
    gamma: float = 0.3,
) -> Score:
    """How well predicted boxes fit the gold ones: position, label and completeness, weighted.

    Boxes are matched greedily, the best overlap first. Position is the mean IoU and label the share
    of right labels over the gold boxes; a match with a wrong label has no position. Completeness is
    1 less the mean of the share of gold boxes missed and that of predictions in vain.

    >>> gold = '```json [{"bbox_2d": [0, 0, 100, 100], "label": "cat"}] ```'
    >>> detection_score('```json [{"bbox_2d": [0, 0, 100, 80], "label": "Cat"}] ```', gold)
    0.8599999999999999
    >>> detection_score("no boxes", gold)
    0.0
    """
    weights = (
        number_of(alpha, "alpha"),
        number_of(beta, "beta"),
        number_of(gamma, "gamma"),
    )
    if sum(weights) == 0:
        raise ValueError("alpha, beta and gamma must not sum to 0")
    threshold = number_of(iou_threshold, "iou_threshold")
    gold = gold_of(sol)
    if gold is None:
        return NO_GOLD
    return _detection(extract.clean(content), extract.clean(gold), threshold, weights)


@text_reward(columns=("acc_reward",))
def cosine_reward(content: str, tokenizer: Any, acc_reward: float, **kwargs: object) -> Score:
    """A reward of brevity: the fewer tokens, the better a correct answer, the worse a wrong one.

    From an accuracy of 0.7 on, 1.0 at no token down to 0.5 at 1024; below it, -0.5 up to 0.0.

    >>> class Words:
    ...     def encode(self, text):
    ...         return text.split()
    >>> cosine_reward("", Words(), acc_reward=1.0), cosine_reward("", Words(), acc_reward=0.2)
    (1.0, -0.5)
    """
    return _brevity(content, tokenizer, number_of(acc_reward, "acc_reward"))


def _brevity(content: str, tokenizer: Any, acc_reward: float) -> Score:
    if isinstance(tokenizer, str) or not hasattr(tokenizer, "encode"):
        raise TypeError(f"tokenizer must have encode(text), got {type(tokenizer).__name__}")
    correct, length = acc_reward >= _CORRECT, len(tokenizer.encode(content))
    start, end = (1.0, 0.5) if correct else (-0.5, 0.0)
    what = "A correct" if correct else "A wrong"
    return Score(
        schedules.cosine(length, _PERIOD, start, end),
        f"{what} answer (accuracy {acc_reward:.3g}) of {length} tokens.",
        method="cosine of the length",
        right=correct,
    )


@text_reward(columns=())
def repetition_reward(content: str, **kwargs: object) -> Score:
    """Minus the share of what repeats: boxes where the text holds a list of them, else phrases.

    >>> repetition_reward("the cat sat on the mat " * 2)
    -0.1428571428571429
    >>> repetition_reward('[{"bbox_2d": [0, 0, 9, 9], "label": "cat"}]')
    0.0
    """
    items = extract.box_list(content)
    if items is not None:
        found = [f"{i['bbox_2d']}_{i['label']}" for i in items if _is_labelled(i)]
        return _repetition(found, 1, "boxes")
    return _repetition(content.lower().split(), _PHRASE, f"phrases of {_PHRASE} words")


def _is_labelled(item: object) -> bool:
    return isinstance(item, dict) and "bbox_2d" in item and "label" in item


def _repetition(tokens: list[str], size: int, what: str) -> Score:
    share = repeated_share(tokens, size)
    count = max(0, len(tokens) - size + 1)
    return Score(0.0 - share, f"Of {count} {what}, {share:.1%} repeat another.", method=what)


# --- batches ------------------------------------------------------------------------------------


@reward(columns=("solution", "accu_reward_method"), needs=("accu_reward_method",))
def accuracy_reward(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    accu_reward_method: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[Score]:
    """How right each answer is, by the method that its row names.

    - `default`: as `default_accuracy_reward`
    - `mcq`: the same option letter
    - `yes_no`: the same of the words yes and no
    - `math`: equal as mathematics
    - `all_match`: the same text, but for case, line breaks and a dot at the end
    - `weighted_sum`: as `detection_score`; where the gold is "none", so must the answer be
    - `od_ap`, `od_ap50`: COCO's average precision of the boxes in `<answer>`
    - `odLength`: `od_ap`, times gold boxes over predicted ones where these are more
    - `map`: as `od_ap`, on the last fenced JSON of the whole text
    - `llm`: a language model says whether it means the same (`OPENAI_API_BASE`, `OPENAI_API_KEY`,
      `PLAUDIT_LLM_MODEL`)

    >>> accuracy_reward(["It is B.", "No."], ["B", "yes"], accu_reward_method=["mcq", "yes_no"])
    [1.0, 0.0]
    """
    drafts = _drafts(completions, solution, accu_reward_method)
    scores = settle(_settled(drafts, ask(_questions(drafts))))
    return _accuracy_logged(scores, completions, solution, kwargs)


@async_reward(of=accuracy_reward)
async def accuracy_reward_async(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    accu_reward_method: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[Score]:
    """`accuracy_reward` for an event loop.

    >>> import asyncio
    >>> asyncio.run(accuracy_reward_async(["It is B."], ["B"], accu_reward_method=["mcq"]))
    [1.0]
    """
    import asyncio

    drafts = _drafts(completions, solution, accu_reward_method)
    replies = await asyncio.to_thread(ask, _questions(drafts))
    scores = await settle_async(_settled(drafts, replies))
    return _accuracy_logged(scores, completions, solution, kwargs)


def _accuracy_logged(
    scores: list[Score],
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    columns: dict[str, Any],
) -> list[Score]:
    log_attempts(LOG, "Accuracy reward", scores, texts_of(completions), solution)
    if callable(log_extra := columns.get("log_extra")):
        log_extra("answer", [score.answer or "" for score in scores])
        log_extra("method", [score.method for score in scores])
    return scores


@reward(
    columns=("solution", "image_grid_thw", "image_path"), needs=("image_grid_thw", "image_path")
)
def iou_reward(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    image_grid_thw: Sequence[Any] | None = None,
    image_path: Sequence[Any] | None = None,
    **kwargs: object,
) -> list[Score]:
    """The IoU of the first box in the first `<answer>` with the gold box in the gold's last.

    The predicted box is in pixels of what the model saw, `image_grid_thw` times 14; it is scaled to
    the size of the image at `image_path`, of which only the header is read. In place of a path
    there may be the size itself, `[width, height]`, or the file's bytes (see `plaudit.images`).

    >>> import os, tempfile
    >>> from PIL import Image
    >>> path = os.path.join(tempfile.mkdtemp(), "image.png")
    >>> Image.new("RGB", (280, 140)).save(path)
    >>> answer, gold = "<answer>[0, 0, 70, 70]</answer>", "<answer>[0, 0, 140, 140]</answer>"
    >>> iou_reward([answer], [gold], image_grid_thw=[[1, 5, 10]], image_path=[[path]])
    [1.0]
    """
    for name, column in (("image_grid_thw", image_grid_thw), ("image_path", image_path)):
        if column is None:
            raise ValueError(f"iou_reward needs the column {name}, with one entry a completion")
    same_length(
        completions, solution=solution, image_grid_thw=image_grid_thw, image_path=image_path
    )
    grids = [
        whole_numbers(grid, f"image_grid_thw {row}", "[frames, rows, columns]")
        for row, grid in enumerate(rows_of(image_grid_thw, "image_grid_thw"))
    ]
    paths = rows_of(image_path, "image_path")
    texts, golds = texts_of(completions), golds_of(solution)
    sizes: dict[images.Source, images.Size] = {}
    scores = []
    for row, (text, gold) in enumerate(zip(texts, golds, strict=True)):
        source = _source(paths[row], row)
        with _naming(row, images.name_of(source)):
            if source not in sizes:
                sizes[source] = images.size_of(source)
            scores.append(_iou_score(text, gold, grids[row], sizes[source]))
    log_attempts(LOG, "IoU reward", scores, texts, golds)
    return scores


@reward(columns=("solution",))  # for the debug log
def format_reward(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 where the whole text is `<think>…</think>`, white space, `<answer>…</answer>`.

    >>> format_reward(["<think>2 + 2</think>\\n<answer>4</answer>", "4"])
    [1.0, 0.0]
    """
    texts = texts_of(completions)
    scores = [
        Score(1.0, "The text is <think>…</think>, <answer>…</answer> and nothing else.")
        if extract.only_tags(text, "think", "answer")
        else Score(0.0, "The text is not <think>…</think>, <answer>…</answer> and nothing else.")
        for text in texts
    ]
    log_attempts(LOG, "Format reward", scores, texts, kwargs.get("solution"), "_format")
    return scores


@reward(columns=("solution",))  # for the debug log
def format_reward_rec(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 where the text holds a `<think>`, then an `<answer>` with a box in curly brackets.

    >>> format_reward_rec(['<think>left</think><answer>{"bbox_2d": [1, 2, 3, 4]}</answer>'])
    [1.0]
    """
    texts = texts_of(completions)
    seam = r"</think>\s*+<answer>"
    parts = ("<think>", seam, r"\{", extract.INT_BOX, r"\}", "</answer>")
    scores = [
        Score(1.0, "There is a <think>, then an <answer> with a box in curly brackets.")
        if extract.in_order(text, *parts)
        else Score(0.0, "There is no <think> with an <answer> after it that holds {…[int × 4]…}.")
        for text in texts
    ]
    log_attempts(LOG, "Format reward", scores, texts, kwargs.get("solution"), "_format")
    return scores


@reward(columns=("solution",), needs=("tokenizer",))
def cosine_rewards(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    tokenizer: Any = None,
    **kwargs: object,
) -> list[Score]:
    """`cosine_reward` of each completion, correct by `detection_score` from 0.7 on.

    A trainer that passes no tokenizer takes `get_cosine_rewards(tokenizer)` instead.

    >>> class Words:
    ...     def encode(self, text):
    ...         return text.split()
    >>> cosine_rewards(["none"], ["none"], tokenizer=Words()) == [cosine_reward("none", Words(), 1)]
    True
    """
    if tokenizer is None:
        raise ValueError(
            "cosine_rewards needs tokenizer=…: pass it, "
            "or give the trainer get_cosine_rewards(tokenizer)"
        )
    same_length(completions, solution=solution)
    texts, golds = texts_of(completions), golds_of(solution)
    scores = []
    for row, (text, gold) in enumerate(zip(texts, golds, strict=True)):
        with _naming(row):
            found = NO_GOLD if gold is None else _weighted_sum(text, gold)
            brief = _brevity(text, tokenizer, found.value or 0.0)
            scores.append(replace(brief, status=found.status, right=found.right))
    log_attempts(LOG, "Cosine reward", scores, texts, golds, "_cosine")
    return scores


@dataclass(frozen=True)
class _CosineRewards:
    tokenizer: Any
    __name__ = "cosine_rewards"

    @declared(columns=("solution",), needs=("solution",))
    def scores(self, completions: Sequence[Completion], **columns: Any) -> list[Score]:
        return cosine_rewards.scores(completions, **{**columns, "tokenizer": self.tokenizer})

    def __call__(self, completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        scores = self.scores(completions, **columns)
        return values_of(scores, self.__name__, columns.get("log_metric"))


@reward_factory
def get_cosine_rewards(tokenizer: Any) -> _CosineRewards:
    """`cosine_rewards` with its tokenizer, for a trainer that passes none.

    >>> class Words:
    ...     def encode(self, text):
    ...         return text.split()
    >>> brief = get_cosine_rewards(Words())
    >>> brief(["none"], solution=["none"]) == [cosine_reward("none", Words(), acc_reward=1.0)]
    True
    """
    return _CosineRewards(tokenizer)


@reward(columns=("solution",))
def repetition_rewards(
    completions: Sequence[Completion], solution: Sequence[Solution] | None = None, **kwargs: object
) -> list[Score]:
    """`repetition_reward` of each completion.

    >>> repetition_rewards(["the cat sat on the mat", "la la la la la la la"])
    [0.0, -0.5]
    """
    if solution is not None:
        same_length(completions, solution=solution)
    texts = texts_of(completions)
    scores = repetition_reward.scores(texts)
    log_attempts(LOG, "Repetition reward", scores, texts, solution, "_repetition")
    return scores


@contextmanager
def _naming(row: int, file: str = "") -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"row {row}{f' ({file})' if file else ''}: {error}") from error


# --- drafts: scores, some of which wait for the judge or for a language model ---------------------


@dataclass(frozen=True, slots=True)
class _ToJudge:
    pair: Pair
    score: Callable[[Verdict], Score]


@dataclass(frozen=True, slots=True)
class _ToAsk:
    answer: str
    gold: str


_Draft = Score | _ToJudge | _ToAsk
_Method = Callable[[str, str], _Draft]


def _draft(method: _Method, content: str, gold: str | None) -> _Draft:
    return NO_GOLD if gold is None else method(content, gold)


def _drafts(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    accu_reward_method: Sequence[str] | None,
) -> list[_Draft]:
    names = _methods(completions, accu_reward_method)
    same_length(completions, solution=solution)
    drafts = []
    for row, (text, gold) in enumerate(zip(texts_of(completions), golds_of(solution), strict=True)):
        with _naming(row):
            drafts.append(_draft(_METHODS[names[row]], text, gold))
    return drafts


def _questions(drafts: Sequence[_Draft]) -> list[Question]:
    return [
        Question(row, draft.answer, draft.gold)
        for row, draft in enumerate(drafts)
        if isinstance(draft, _ToAsk)
    ]


def _settled(
    drafts: Sequence[_Draft], replies: Sequence[float] = ()
) -> Generator[list[Pair], list[Verdict], list[Score]]:
    """Score what waits: the judge is asked once for the whole batch."""
    verdicts = yield [draft.pair for draft in drafts if isinstance(draft, _ToJudge)]
    judged, replied = iter(verdicts), iter(replies)

    def settled(draft: _Draft) -> Score:
        if isinstance(draft, _ToJudge):
            return draft.score(next(judged))
        return _llm_score(draft, next(replied)) if isinstance(draft, _ToAsk) else draft

    return [settled(draft) for draft in drafts]


# --- the methods of the accuracy reward ----------------------------------------------------------


def _methods(completions: Sequence[object], names: Sequence[str] | None) -> Sequence[str]:
    if names is None:
        raise ValueError(
            "accuracy_reward needs the column accu_reward_method, with one of "
            f"{', '.join(_METHODS)} for each completion"
        )
    same_length(completions, accu_reward_method=names)
    listed = rows_of(names, "accu_reward_method")
    for row, name in enumerate(listed):
        if not isinstance(name, str) or name not in _METHODS:
            near = get_close_matches(str(name), _METHODS, n=3, cutoff=0.4) or list(_METHODS)
            raise ValueError(
                f"row {row}: there is no accu_reward_method {name!r}; "
                f"did you mean {' or '.join(near)}?"
            )
    return listed


def _default(content: str, gold: str) -> _Draft:
    answer, truth = _last_answer(content), _first_answer(gold)
    return _ToJudge(Pair(answer, truth), partial(_default_score, answer, truth))


def _default_score(answer: str, truth: str, verdict: Verdict) -> Score:
    # A gold that is not mathematics is no trouble here: it is compared as something else.
    is_equal = verdict.status is Status.EQUAL
    other = None if is_equal else replace(_compared(answer, truth), answer=answer, gold=truth)
    return score_of(verdict, truth, (answer, truth), compared=other)


def _same(same: bool, why: str, answer: str | None, truth: str | None, method: str) -> Score:
    """The score of an answer that is the gold, or is not; one that is None was not found."""
    other = Status.NO_ANSWER if answer is None else Status.DIFFERENT
    status = Status.EQUAL if same else other
    return Score(float(same), why, answer, truth, method, status, right=same)


def _compared(answer: str, truth: str) -> Score:
    mine, its = extract.clean(answer), extract.clean(truth)
    if re.search(r"\d", truth):
        same = _same_number(mine, its)
        if same is not None:
            why = f"{mine:.40} and {its:.40} are {'the same' if same else 'different'} numbers."
            return _same(same, why, mine, its, "number")
    elif letter := extract.option_letter(truth):
        return _same_option(extract.option_letter(answer), letter)
    likeness = _likeness(mine, its)
    why = f"The texts are {likeness:.0%} alike."
    return Score(likeness, why, mine, its, "text similarity", right=likeness == 1.0)


def _same_option(picked: str | None, letter: str) -> Score:
    why = f"The answer picks {picked or 'no option'}, the gold is {letter}."
    return _same(picked == letter, why, picked, letter, "option letter")


def _same_number(a: str, b: str) -> bool | None:
    try:
        return float(a) == float(b)
    except ValueError:
        return None


def _likeness(a: str, b: str) -> float:
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(a, b)


def _mcq(content: str, gold: str) -> Score:
    answer, truth = _first_answer(content), _first_answer(gold)
    letter, picked = extract.option_letter(truth), extract.option_letter(answer)
    if letter is None:
        return Score(
            0.0, "The gold has no option letter.", picked, truth, "option letter", Status.BAD_GOLD
        )
    return _same_option(picked, letter)


def _yes_no(content: str, gold: str) -> Score:
    said, true = _yes_or_no(_first_answer(content)), _yes_or_no(_first_answer(gold))
    if true is None:
        return Score(
            0.0, "The gold says neither yes nor no.", said, gold, "yes_no", Status.BAD_GOLD
        )
    why = f"The answer says {said or 'neither yes nor no'}, the gold {true}."
    return _same(said == true, why, said, true, "yes_no")


def _yes_or_no(text: str) -> str | None:
    found = re.search(r"(?<![a-z])(?:yes|no)(?![a-z])", text.lower())
    return found and found[0]


def _math(content: str, gold: str) -> _Draft:
    answer, truth = extract.clean(content), extract.clean(gold)
    if extract.plain_latex(answer) == extract.plain_latex(truth):
        return _same(True, "The same formula.", answer, truth, "same text")
    return _ToJudge(Pair(answer, truth), partial(score_of, gold=truth, shown=(answer, truth)))


def _all_match(content: str, gold: str) -> Score:
    answer, truth = extract.clean(content), extract.clean(gold)
    same = answer == truth
    why = "The same text." if same else "Not the same text."
    return _same(same, why, answer, truth, "all_match")


def _llm(content: str, gold: str) -> _ToAsk:
    return _ToAsk(_last_answer(content), _first_answer(gold))


def _llm_score(asked: _ToAsk, value: float) -> Score:
    why = f"The language model says that the answer is {'right' if value else 'wrong'}."
    return _same(bool(value), why, asked.answer, asked.gold, "llm")


def _first_answer(text: str) -> str:
    found = extract.first_tag(text, "answer")
    return text.strip() if found is None else found


def _last_answer(text: str) -> str:
    found = extract.last_tag(text, "answer")
    return text.strip() if found is None else found


# --- boxes ----------------------------------------------------------------------------------------


_Weights = tuple[float, float, float]  # of position, label and completeness
_USUAL: _Weights = (0.7, 0.0, 0.3)


def _weighted(weights: _Weights, position: float, label: float, completeness: float) -> float:
    alpha, beta, gamma = weights
    return (alpha * position + beta * label + gamma * completeness) / (alpha + beta + gamma)


def _detection(content: str, gold: str, threshold: float, weights: _Weights) -> Score:
    """Both texts are cleaned."""
    answer, truth = extract.first_fence(content, "json"), extract.first_fence(gold, "json")
    golds, preds = _gold_boxes(truth), _pred_boxes(answer)
    if not golds or not preds:
        return _without_boxes(preds, golds, answer, truth, "greedy matching")
    pred_corners, gold_corners = ([box.corners for box in side] for side in (preds, golds))
    matches = boxes.match(pred_corners, gold_corners, threshold)
    right = [m for m in matches if _same_label(preds[m.pred], golds[m.gold])]
    missed = (len(golds) - len(matches)) / len(golds)
    vain = (len(preds) - len(matches)) / len(preds)
    position, label = sum(m.iou for m in right) / len(golds), len(right) / len(golds)
    value = _weighted(weights, position, label, 1.0 - (missed + vain) / 2.0)
    why = (
        f"{len(preds)} predicted and {len(golds)} gold boxes: {len(matches)} overlap by at least "
        f"{threshold}, {len(right)} of these with the right label."
    )
    return Score(value, why, answer, truth, "greedy matching", right=value >= _CORRECT)


def _same_label(pred: boxes.Box, gold: boxes.Box) -> bool:
    a, b = (x.lower() if isinstance(x, str) else x for x in (pred.label, gold.label))
    return a == b


def _weighted_sum(content: str, gold: str) -> Score:
    answer, truth = extract.clean(content), extract.clean(gold)
    if truth != "none":
        return _detection(answer, truth, 0.5, _USUAL)
    same = answer == "none"
    why = f"The gold is none, and the answer {'is, too' if same else 'is not'}."
    return _same(same, why, answer, truth, "none")


def _map(content: str, gold: str, measure: str = "ap", by_length: bool = False) -> Score:
    method = {"ap": "COCO AP", "ap50": "COCO AP50"}[measure]
    answer, truth = extract.last_fence(content, "json"), extract.last_fence(gold, "json")
    golds, preds = _gold_boxes(truth), _pred_boxes(answer)
    if bad := [place for place, box in enumerate(golds) if box.corners is None]:
        raise ValueError(f"box {bad[0]} of the gold has no four numbers in bbox_2d: {truth!r:.80}")
    if not golds or not preds:
        return _without_boxes(preds, golds, answer, truth, method)
    precision: float = getattr(boxes.average_precision(preds, golds), measure)
    share = min(1.0, len(golds) / len(preds)) if by_length else 1.0
    why = f"{method} is {precision:.3f} for {len(preds)} predicted and {len(golds)} gold boxes"
    why += f", times {share:.3f} for their number." if by_length else "."
    value = precision * share
    return Score(value, why, answer, truth, method, right=value >= _OVERLAPPING)


def _od(content: str, gold: str, measure: str = "ap", by_length: bool = False) -> Score:
    answer, truth = extract.last_tag(content, "answer"), _first_answer(gold)
    if answer is None:
        return _same(False, "There is no <answer>.", None, truth, "no answer")
    if answer == truth == "None":
        return _same(True, "The gold is None, and the answer is, too.", answer, truth, "none")
    return _map(answer, truth, measure, by_length)


def _pred_boxes(block: str | None) -> list[boxes.Box]:
    return [boxes.box_of(item) for item in extract.json_items(block or "") or ()]


def _gold_boxes(block: str | None) -> list[boxes.Box]:
    items = extract.json_items(block) if block else []
    if items is None:
        raise ValueError(f"the fenced JSON of the gold is no list of boxes: {block!r:.80}")
    return [boxes.box_of(item) for item in items]


def _without_boxes(
    preds: list[boxes.Box],
    golds: list[boxes.Box],
    answer: str | None,
    truth: str | None,
    method: str,
) -> Score:
    why = f"{len(preds) or 'No'} predicted and {len(golds) or 'no'} gold boxes."
    return _same(not preds and not golds, why, answer, truth, method)


def _shown(corners: boxes.Corners) -> str:
    return f"[{', '.join(f'{v:.6g}' for v in corners)}]"


def _iou_score(text: str, gold: str | None, grid: list[int], size: tuple[int, int]) -> Score:
    if gold is None:
        return NO_GOLD
    truth = boxes.corners_of(extract.json_items(_last_answer(gold)))
    if truth is None:
        raise ValueError(f"the gold must be [left, top, right, bottom], got {gold!r:.80}")
    seen = [cells * _PATCH for cells in grid]
    if len(seen) != 3 or min(seen) < 1:
        raise ValueError(f"image_grid_thw must be [frames, rows, columns], got {grid!r:.80}")
    answer = extract.first_tag(text, "answer")
    box = extract.first_int_box(answer or "")
    if box is None:
        why = (
            "There is no <answer>."
            if answer is None
            else "The <answer> has no [int, int, int, int]."
        )
        return replace(_same(False, why, None, _shown(truth), "no box"), answer=answer)
    across, down = size[0] / seen[2], size[1] / seen[1]
    scaled = (box[0] * across, box[1] * down, box[2] * across, box[3] * down)
    value = boxes.iou(scaled, truth)
    why = f"The boxes overlap with an IoU of {value:.3f}."
    right = value >= _OVERLAPPING
    return Score(value, why, _shown(scaled), _shown(truth), "IoU", right=right)


def _source(entry: Any, row: int) -> images.Source:
    try:
        source = images.source_of(entry)
    except ValueError as error:
        raise ValueError(f"row {row}: {error}") from error
    if source is None:
        raise ValueError(f"row {row}: there is no image_path")
    return source


_METHODS: dict[str, _Method] = {
    "default": _default,
    "mcq": _mcq,
    "yes_no": _yes_no,
    "map": _map,
    "od_ap": _od,
    "od_ap50": partial(_od, measure="ap50"),
    "odLength": partial(_od, by_length=True),
    "weighted_sum": _weighted_sum,
    "math": _math,
    "all_match": _all_match,
    "llm": _llm,
}
