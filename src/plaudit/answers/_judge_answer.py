r"""The verdict on a completion: find its final answer, read both sides, compare them."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from plaudit.answers._comparison import check_kind, compare, kind_of
from plaudit.answers._final_answer import LONGEST_ANSWER, Final, final_answer
from plaudit.answers._grammar import read_tree
from plaudit.answers._reading import render
from plaudit.answers._text import (
    Clock,
    read_choice,
    read_clock,
    read_date,
    same_clock,
    same_date,
    same_list,
    same_words,
    says_time,
    several_choices,
    without_filling,
    words_of,
)
from plaudit.answers._tokens import without_formatting
from plaudit.answers._tree import CannotReadError, Conditions, Node, TooLargeError
from plaudit.answers._values import MOST_STEPS, limited_steps
from plaudit.answers._verdict import SAME, AnswerVerdict, Decision, Rules, different, equal
from plaudit.errors import describe_and_log
from plaudit.judge import Status

_SHORT_TEXT = 3  # words; a longer gold that differs may be a paraphrase, which no rule can tell
_SHORT = 500  # characters of an answer and its gold whose verdict is cached
_WORDS = re.compile(r"[A-Za-z]{4,}")
_COMMANDS = re.compile(r"\\[A-Za-z]+")
_GOES_ON = re.compile(r"\\[lc]?dots|\.\.\.|…")
# math-verify may skip these and compare the rest: an answer that has more of them than its gold is
# not passed to it.
_SKIPPED = re.compile(
    r"\\\\|\\(?:text\w*|mathrm|mbox|neq?|leq?|geq?|not|notin|in|sim|approx|equiv|to|times|cdot|div"
    r"|pm|mp|q?quad|phantom|implies|mid|gg|ll)(?![A-Za-z])|\\[ ;:]|(?<=\d)\s++(?=[\d.])"
    r"|[<>=&#?@;:,~$|]|[^\x00-\x7f]"
)
_CONDITIONS = "conditions that differ"
_CHOICE_GOLD = re.compile(r"\(?([A-J])\)?[.)]?")
# Of several golds, the one whose verdict comes first counts.
_ORDER = (
    Status.EQUAL, Status.UNSOLVED, Status.SEVERAL, Status.RETRACTED, Status.UNDECIDED,
    Status.TIMEOUT, Status.LIMIT, Status.ERROR, Status.DIFFERENT, Status.NO_ANSWER,
    Status.BAD_GOLD,
)  # fmt: skip


class Tree(NamedTuple):
    """The tree of a text, and its conditions."""

    node: Node
    conditions: Conditions


def judge_answer(completion: str, golds: Sequence[str], rules: Rules = Rules()) -> AnswerVerdict:  # noqa: B008
    r"""The verdict on a completion, by the gold that suits it best.

    completion: the whole text; its final answer is found by `final_answer`
    golds: the golds as text, each of which is right; blank ones are left out
    rules: the settings of the comparison. Default: those of `Rules()`

    >>> judge_answer(r"So it is \boxed{\frac{2}{4}}.", ["0.5"]).status
    <Status.EQUAL: 'equal'>
    >>> judge_answer(r"It is \boxed{4}. Wait, that is wrong: it is 5.", ["4"]).status
    <Status.RETRACTED: 'retracted'>
    """
    check_kind(rules.kind)
    if isinstance(golds, str) or not all(isinstance(gold, str) for gold in golds):
        raise TypeError(f"golds must be a list of texts, got {golds!r:.80}")
    golds = [gold for gold in golds if gold.strip()]
    if not golds:
        return AnswerVerdict(Status.BAD_GOLD, "", "")
    final = final_answer(completion)
    if not final.text:
        return AnswerVerdict(Status.NO_ANSWER, "", golds[0])
    if final.retracted:
        return AnswerVerdict(Status.RETRACTED, final.text, golds[0])
    if len(final.text) > LONGEST_ANSWER * 5:
        return AnswerVerdict(
            Status.LIMIT, final.text, golds[0], decided_by="the answer is too long"
        )
    verdicts = [
        (_remembered if len(final.text) + len(gold) < _SHORT else judge_final)(final, gold, rules)
        for gold in golds
    ]
    return min(verdicts, key=lambda verdict: _ORDER.index(verdict.status))


def judge_final(final: Final, gold: str, rules: Rules) -> AnswerVerdict:
    """The verdict on a final answer, by one gold."""
    gold = _gold_text(gold)
    try:
        with limited_steps(MOST_STEPS):
            kind, found = _judged(final, gold, rules)
    except TooLargeError as error:
        same = without_formatting(final.text) == without_formatting(gold)
        kind, found = "number", SAME if same else Decision(Status.LIMIT, str(error))
    except Exception as error:  # it costs one row, never the run
        kind, found = "", Decision(Status.ERROR, describe_and_log(error))
    symbolic = (
        found.status is Status.UNDECIDED
        and found.decided_by != _CONDITIONS
        and _is_symbolic(gold)
        and _is_symbolic(final.text)
        and _signs(final.text) <= _signs(gold)
    )
    comma = rules.kind == "number"
    mine, yours = _rendered(final.text, kind, comma), _rendered(gold, kind, comma)
    return AnswerVerdict(
        found.status, final.text, gold, kind, found.decided_by, mine, yours, symbolic=symbolic
    )


# The completions of a group have one gold, and few answers.
_remembered = lru_cache(maxsize=8192)(judge_final)


def _is_symbolic(text: str) -> bool:
    """Whether a text may be a formula that math-verify can read."""
    plain = _COMMANDS.sub(" ", text)
    return len(text) < LONGEST_ANSWER and not _WORDS.search(plain) and bool(plain.strip())


def _signs(text: str) -> Counter[str]:
    """The signs that math-verify may skip: relations, text, line breaks, open braces."""
    found = Counter(_SKIPPED.findall(text.strip().strip("$")))
    found["{"] = abs(text.count("{") - text.count("}"))
    return found


def _rendered(text: str, kind: str, decimal_comma: bool) -> str:
    """How a side was read, for a person; "" if that is just as it stands."""
    if kind in ("", "choice", "text", "time"):
        return ""
    try:
        tree = _tree(text, decimal_comma)
    except TooLargeError:
        return ""
    plain = tree is None or tree.node.op in ("num", "dec", "pct", "sym")
    said = "" if tree is None or plain else render(tree.node)
    return "" if said.replace(" ", "") == text.replace(" ", "") else said


def _gold_text(gold: str) -> str:
    """A gold may itself be a solution with its answer in a box, a tag, or behind ####."""
    if "\\boxed" in gold or "<answer>" in gold or "####" in gold:
        return final_answer(gold).text or gold
    return gold


def _judged(final: Final, gold: str, rules: Rules) -> tuple[str, Decision]:
    letter = _choice_gold(gold, rules)
    if letter:
        return "choice", _choice(final.text, letter, rules)
    if rules.kind == "text":
        return "text", _text(final.text, gold, rules)
    for kind, found in (
        ("time", _clock(final.text, gold, rules)),
        ("text", _date(final.text, gold, rules)),
    ):
        if found is not None:
            return kind, found
    tree = _tree(gold, rules.kind == "number")
    if tree is None:
        return "text", _text(final.text, gold, rules)
    kind = rules.kind or kind_of(tree.node)
    return kind, _formula(final, gold, tree, rules)


def _formula(final: Final, gold: str, tree: Tree, rules: Rules) -> Decision:
    text = final.text
    answer = _tree(text, rules.kind == "number")
    if answer is None:
        if _WORDS.search(_COMMANDS.sub(" ", gold)) and same_words(gold, text):
            return equal("the same words")
        if _WORDS.search(_COMMANDS.sub(" ", text)):
            if final.where == "line":
                return Decision(Status.NO_ANSWER)
            return different("words, where the gold is a formula")
        if _GOES_ON.search(text):
            return different("a series that goes on")
        return Decision(Status.UNDECIDED, "a formula that cannot be read")
    integers = (
        tree.conditions.integers | answer.conditions.integers
        if tree.conditions.integers
        else frozenset()
    )
    found = compare(tree.node, answer.node, rules, integers)
    if found.equal and tree.conditions.words != answer.conditions.words:
        return Decision(Status.UNDECIDED, _CONDITIONS)
    return found


@lru_cache(maxsize=4096)
def _tree(text: str, decimal_comma: bool) -> Tree | None:
    if len(text) > LONGEST_ANSWER * 5:
        raise TooLargeError("a text that is too long")
    try:
        # A limit of its own: a tree that is remembered must not cost less than one that is read.
        with limited_steps(MOST_STEPS):
            return Tree(*read_tree(without_formatting(text), decimal_comma))
    except CannotReadError:
        return None
    except RecursionError:
        raise TooLargeError("nested too deep") from None


def _choice_gold(gold: str, rules: Rules) -> str | None:
    if rules.kind == "choice":
        letter = read_choice(gold)
        if letter is None and rules.choices:
            return _option(gold, rules)
        return letter
    if rules.kind is None:
        found = _CHOICE_GOLD.fullmatch(without_formatting(gold).replace("\\text", "").strip("{} "))
        return found[1] if found else None
    return None


def _choice(answer: str, letter: str, rules: Rules) -> Decision:
    if several_choices(answer):
        return Decision(Status.SEVERAL, "more than one letter")
    option = _option(answer, rules) if rules.choices else None
    picked = option or read_choice(answer)
    if picked is None:
        return different("no option")
    decided_by = "the text of an option" if option else "its letter"
    return equal(decided_by) if picked == letter else different(decided_by)


def _option(answer: str, rules: Rules) -> str | None:
    """The letter of the option whose text the answer is."""
    plain = Rules(rounding=False)
    for index, option in enumerate(rules.choices):
        letter = chr(ord("A") + index)
        if same_words(option, answer):
            return letter
        mine, yours = _tree(option, False), _tree(answer, False)
        if mine and yours and compare(mine.node, yours.node, plain).equal:
            return letter
    return None


def _clock(answer: str, gold: str, rules: Rules) -> Decision | None:
    by_question = rules.kind == "time" or says_time(gold, rules.question)
    if rules.kind not in (None, "time", "text") or not (by_question or says_time(answer)):
        return None
    mine, yours = read_clock(without_formatting(gold)), read_clock(without_formatting(answer))
    if mine is None:
        mine = _raw_clock(gold)
    if mine is None:
        return None
    yours = yours or _raw_clock(answer)
    if yours is None:
        return different("no time of day") if by_question else None
    return equal("the time of day") if same_clock(mine, yours) else different("the time of day")


def _raw_clock(text: str) -> Clock | None:
    return read_clock(text.replace("{:}", ":"))


def _date(answer: str, gold: str, rules: Rules) -> Decision | None:
    if rules.kind not in (None, "text", "time"):
        return None
    mine = read_date(gold)
    if mine is None:
        return None
    yours = read_date(answer)
    if yours is None:
        return equal("the same words") if same_words(gold, answer) else different("no such date")
    return equal("the date") if same_date(mine, yours) else different("the date")


def _text(answer: str, gold: str, rules: Rules) -> Decision:
    if same_words(gold, answer) or same_words(gold, without_filling(answer)):
        return equal("the same words")
    if rules.kind != "text" and same_list(gold, answer):
        return equal("the same names")
    dates = read_date(gold), read_date(answer)
    if dates[0] is not None and dates[1] is not None:
        return equal("their dates") if same_date(dates[0], dates[1]) else different("their dates")
    trees = _tree(gold, False), _tree(answer, False)
    if (
        trees[0] is not None
        and trees[1] is not None
        and trees[0].node.op in ("empty", "num", "numbers")
    ):
        found = compare(trees[0].node, trees[1].node, Rules())
        if found.equal:
            return found
    if len(words_of(gold)) <= _SHORT_TEXT:
        return different("their words")
    return Decision(Status.UNDECIDED, "texts that differ")
