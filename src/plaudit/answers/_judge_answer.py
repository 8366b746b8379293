r"""The verdict on a completion: find its final answer, read both sides, compare them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from plaudit.answers._comparison import compare
from plaudit.answers._final_answer import LONGEST_ANSWER, Final, final_answer, final_of
from plaudit.answers._forms import (
    asks_for_base,
    has_asked_form,
    names_another_value,
    same_digits,
    same_factorization,
)
from plaudit.answers._grammar import read_tree
from plaudit.answers._lists import (
    asks_for_order,
    gold_items,
    is_out_of_order,
    same_list,
    same_parts,
    same_sequence,
)
from plaudit.answers._number_words import in_digits
from plaudit.answers._options import (
    letters_chosen,
    letters_of_gold,
    lists_options,
    options_in,
    read_choice,
    several_choices,
)
from plaudit.answers._prose import (
    is_claimed,
    stated_choice,
    stated_number,
    stated_option,
    stated_values,
    states_none,
    states_text,
    without_question,
)
from plaudit.answers._quantities import plain_quantity
from plaudit.answers._ranges import Range, range_of_gold, same_range
from plaudit.answers._rules import SAME, Decision, Rules, check_kind, different, equal, kind_of
from plaudit.answers._text import (
    is_code,
    is_direction,
    is_placeholder,
    same_code,
    same_names,
    same_reaction,
    same_words,
    with_acronyms,
    without_filling,
    words_of,
)
from plaudit.answers._times import (
    Clock,
    clocks_in,
    dates_in,
    read_clock,
    read_date,
    same_clock,
    same_date,
    says_time,
)
from plaudit.answers._tokens import without_formatting
from plaudit.answers._tree import CannotReadError, Conditions, Node, TooLargeError
from plaudit.answers._truth import truth_of_answer, truth_of_gold
from plaudit.answers._values import MOST_STEPS, exact, limited_steps
from plaudit.inputs.errors import describe_and_log
from plaudit.inputs.extract import after_thinking
from plaudit.judge import Status, Verdict

_SHORTEST_QUESTION = 12  # characters; an answer that only repeats it is none
_SHORT_TEXT = 3  # words; a longer gold that differs may be a paraphrase, which no rule can tell
_MOST_WORDS = 5  # of a formula that stands alone on a line
_SHORT = 500  # characters of an answer and its gold whose verdict is cached
# Of a longer text the end is read, so that no row takes longer than a fraction of a second.
_LONGEST_TEXT = 100_000
_WORDS = re.compile(r"[A-Za-z]{4,}")
_PROSE = re.compile(r"[^\W\d_]{2,}")
_COMMANDS = re.compile(r"\\[A-Za-z]+")
# "I cannot say whether it is 42" is no equation, although it ends like one.
_REFUSED = re.compile(
    r"\bwhether\b|\b(?:can|could|do|am|is)(?:n['’]t|not| not) (?:say|tell|know|sure|certain)\b",
    re.I,
)
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_FORMULA = re.compile(r"[\\^_={}()|*]")
_MAY_BE_DATE = re.compile(r"[^\W\d_]\.?\s?[^\W\d_]|\d\s?[-/.]\s?\d|[^\x00-\x7f]")
_GOES_ON = re.compile(r"\\[lc]?dots|\.\.\.|…")
# math-verify may skip these and compare the rest: an answer that has more of them than its gold is
# not passed to it.
_SKIPPED = re.compile(
    r"\\\\|\\(?:text\w*|mathrm|mbox|neq?|leq?|geq?|not|notin|in|sim|approx|equiv|to|times|cdot|div"
    r"|pm|mp|q?quad|phantom|implies|mid|gg|ll)(?![A-Za-z])|\\[ ;:]|(?<=\d)\s++(?=[\d.])"
    r"|[<>=&#?@;:,~$|]|[^\x00-\x7f]"
)
_CONDITIONS = "conditions that differ"
_CONTRADICTION = "a letter with the text of another option"
_NOTHING = "no box, no <answer>, nothing announced"
_NAME = re.compile(r"\d(?:st|nd|rd|th)\b|\b[A-Z][a-z]{2,}\s")
_LABELLED_OPTION = re.compile(r"\(?([A-Ja-j])(?:\)|\.(?=\s)|:)\s*+\S|.{2,200}\(([A-J])\)\.?$")
_MAY_BE_CLOCK = re.compile(
    r"\d\s?(?:[:.{]|h)|\b[ap]\.?\s?m\b|noon|midnight|midday|clock|past|quarter|half|[^\x00-\x7f]",
    re.I,
)
_BOUNDED_CLOCK = re.compile(
    r"(?<!minutes )(?<!minute )(?<!quarter )(?<!half )\b(?:before|after|until|till"
    r"|since)\s(?:\d|noon|mid)",
    re.IGNORECASE,
)
_BOUNDED_DATE = re.compile(
    r"\b(?:before|after|until|till|since|preceding|following)\s(?:the\s)?(?:\d|[A-Z][a-z]+\s\d)"
)
_DENIED_LETTER = re.compile(r"^\W*(?:it(?:'s| is) |is )?not \(?[A-Ja-j]\)?\W*$", re.IGNORECASE)
_LABELS = re.compile(r"(?<!\w)([A-Ja-j])[).](?!\w)")
_LISTED_GOLD = re.compile(r"\(?([a-jA-J])(?:\)?|[).:]\s++(\S.*))", re.DOTALL)
_ANNOUNCED_GOLD = re.compile(r"(?:final )?answer\s*+:\s*+(?=\S)", re.IGNORECASE)
_CHOICE_GOLD = re.compile(r"\(?([A-J])\)?[.)]?")
_ASKS_HOW_LONG = re.compile(r"\bhow (?:long|much time)\b|\bduration\b", re.IGNORECASE)
_CONGRUENT = re.compile(
    r"(?:\bis congruent to|≡|\\equiv)\s*+(-?\d++)\s*+\(?\s*+(?:modulo|mod)\s*+(\d++)\)?",
    re.IGNORECASE,
)
_PLUS_OR_MINUS = re.compile(r"\b(?:plus or minus|plus/minus|give or take)\b", re.IGNORECASE)
# "3 (mod 7)" is the remainder 3.
_REMAINDER = re.compile(r"\$?(\d{1,9})\s*+(?:\\pmod\s*+\{?\d++\}?|\(mod\s\d++\))\$?\.?")
# "30 miles (48 km)": the same again in another unit.
_CONVERTED = re.compile(
    r"(\d\s?[A-Za-z°/²³]{1,20})\s\((?:about |approximately |or |≈\s?|~)?\d[\d.,]*+"
    r"\s?[A-Za-z°/²³]{1,20}\)"
)
_SHARE = re.compile(r"(\d{1,9}) (?:in|out of) (?:every )?(\d{1,9})")
_DURATION = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2})")
_UNSURE = (Status.NO_ANSWER, Status.DIFFERENT, Status.UNDECIDED, Status.SEVERAL)
_NUMBERS = ("num", "dec", "pct", "div", "unit")
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


def judge_answer(completion: str, golds: Sequence[str], rules: Rules = Rules()) -> Verdict:  # noqa: B008
    r"""The verdict on a completion, by the gold that suits it best.

    completion: the whole text; its final answer is found by `final_answer`
    golds: the golds as text, each of which is right; blank ones are left out
    rules: the settings of the comparison. Default: those of `Rules()`

    >>> judge_answer(r"So it is \boxed{\frac{2}{4}}.", ["0.5"]).status
    <Status.EQUAL: 'equal'>
    >>> judge_answer(r"It is \boxed{4}. Wait, that is wrong: it is 5.", ["4"]).status
    <Status.RETRACTED: 'retracted'>
    """
    if rules.kind is not None:
        check_kind(rules.kind)
    if isinstance(golds, str) or not all(isinstance(gold, str) for gold in golds):
        raise TypeError(f"golds must be a list of texts, got {golds!r:.80}")
    golds = [gold for gold in golds if gold.strip() and not is_placeholder(gold)]
    if not golds:
        return Verdict(Status.BAD_GOLD, problem="there is none")
    try:
        return _judge_completion(completion, golds, rules)
    except Exception as error:  # it costs one row, never the run
        return Verdict(Status.ERROR, None, golds[0], problem=describe_and_log(error))


def _judge_completion(completion: str, golds: list[str], rules: Rules) -> Verdict:
    body = after_thinking(completion)[-_LONGEST_TEXT:]
    final = final_of(body)
    if (
        rules.question
        and len(rules.question) > _SHORTEST_QUESTION
        and final.text == rules.question.strip()
    ):
        final = Final("", "")
    if final.where in ("line", "announced") and names_another_value(final.text, rules.question):
        return Verdict(Status.DIFFERENT, final.text, golds[0], "what the value is")
    if not final.text:
        return Verdict(Status.NO_ANSWER, None, golds[0], problem=_NOTHING)
    if final.retracted:
        return Verdict(Status.RETRACTED, final.text, golds[0])
    if len(final.text) > LONGEST_ANSWER * 5:
        return Verdict(Status.LIMIT, final.text, golds[0], problem="the answer is too long")
    verdicts = [
        (_remembered if len(final.text) + len(gold) < _SHORT else judge_final)(final, gold, rules)
        for gold in golds
    ]
    best = min(verdicts, key=lambda verdict: _ORDER.index(verdict.status))
    if best.status not in _UNSURE or rules.kind not in (None, "text", "choice"):
        return best
    if best.decided_by == _CONTRADICTION:
        return best
    try:
        if best.kind == "choice":
            return _by_stated_choice(body, golds, rules) or best
        said = body if final.where == "line" else final.text
        if final.where != "line" and not _is_prose(said):
            return best
        return _by_statement(said, golds, rules) or best
    except TooLargeError:
        return best


def _is_prose(text: str) -> bool:
    """Whether a text has words, and is no formula."""
    words = _PROSE.findall(_COMMANDS.sub(" ", text))
    return len(words) > 1 or any(not word.isascii() for word in words)


def _has_many_words(text: str) -> bool:
    return len(_PROSE.findall(text)) > _MOST_WORDS


def _by_stated_choice(completion: str, golds: Sequence[str], rules: Rules) -> Verdict | None:
    options = rules.choices or options_in(rules.question)
    completion = without_question(completion, rules.question)
    for gold in golds:
        letters = letters_of_gold(gold, rules.question, bool(options))
        if letters and letters_chosen(completion[-_SHORT:]) == letters:
            return Verdict(Status.EQUAL, completion[-_SHORT:], gold, "the letters", kind="choice")
        if letters:
            return None
    letter = stated_choice(completion) or stated_option(completion, options)
    verdicts = [judge_final(Final(letter, "announced"), gold, rules) for gold in golds if letter]
    return next((one for one in verdicts if one.status is Status.EQUAL), None)


def _by_statement(said: str, golds: Sequence[str], rules: Rules) -> Verdict | None:
    """The verdict on what prose, a list or parts say; None if it is no gold."""
    said = without_question(said[-LONGEST_ANSWER * 5 :], rules.question)
    for gold in golds:
        plain = _gold_text(gold)
        if range_of_gold(plain) is not None or truth_of_gold(plain, rules.question) is not None:
            continue
        tree = _tree(plain, False)
        if asks_for_order(rules.question) and same_sequence(plain, said):
            return Verdict(Status.EQUAL, said[:_SHORT], gold, "the order", kind="list")
        if tree is not None and tree.node.op in _NUMBERS and not _NAME.search(plain):
            has_unit = tree.node.op == "unit"
            number = stated_number(said, rules.question, with_unit=has_unit)
            number = "0" if number is None and states_none(said) else number
            if number and (one := _judged_as(number, gold, rules)):
                return one
            continue
        parts = _in_parts(said, plain, rules)
        if parts is not None:
            if parts:
                return Verdict(Status.EQUAL, said[:_SHORT], gold, "each part", kind="list")
            continue
        for stated in stated_values(said, rules.question):
            if one := _judged_as(stated, gold, rules):
                return one
        is_text = tree is None or is_code(plain, rules.question) or _NAME.search(plain)
        if is_text and rules.kind in (None, "text") and states_text(said, plain, rules.question):
            return Verdict(Status.EQUAL, said[:_SHORT], gold, "what is stated", kind="text")
    return None


def _judged_as(answer: str, gold: str, rules: Rules) -> Verdict | None:
    verdict = judge_final(Final(answer, "announced"), gold, rules)
    return verdict if verdict.status is Status.EQUAL else None


def _in_parts(said: str, gold: str, rules: Rules) -> bool | None:
    """Whether a list, an order or labelled parts are those of the gold; None if it has none."""
    plain = Rules(rounding=rules.rounding, tolerance=rules.tolerance)
    items = gold_items(gold)
    if len(items) < 2:
        return None
    if {*items} <= {"T", "F"}:
        gold = ", ".join("True" if item == "T" else "False" for item in items)

    def same_item(item: str, wanted: str) -> bool:
        return _remembered(Final(item, "announced"), wanted, plain).status is Status.EQUAL

    def same_part(part: str, wanted: str) -> bool:
        asked = replace(plain, question=rules.question)
        return judge_answer(part, [wanted], asked).status is Status.EQUAL

    found = same_parts(gold, said, rules.question, same_part)
    if found is None and is_claimed(said):
        found = same_list(gold, said, rules.question, same_item) or None
    return found


def judge_final(final: Final, gold: str, rules: Rules) -> Verdict:
    """The verdict on a final answer, by one gold."""
    gold = _gold_text(gold)
    try:
        with limited_steps(MOST_STEPS):
            kind, found = _judged(final, gold, rules)
    except TooLargeError as error:
        same = without_formatting(final.text) == without_formatting(gold)
        kind, found = "number", SAME if same else Decision(Status.LIMIT, str(error))
    except Exception as error:  # it costs one gold; another may be right
        kind, found = "", Decision(Status.ERROR, describe_and_log(error))
    symbolic = (
        found.status is Status.UNDECIDED
        and kind != "quantity"
        and rules.kind != "text"
        and found.decided_by != _CONDITIONS
        and _is_symbolic(gold)
        and _is_symbolic(final.text)
        and _signs(final.text) <= _signs(gold)
    )
    comma = rules.kind == "number"
    mine = "" if found.status is Status.NO_ANSWER else _rendered(final.text, kind, comma)
    yours = _rendered(gold, kind, comma)
    return Verdict(
        found.status,
        final.text,
        gold,
        found.decided_by,
        problem=_problem(found),
        kind=kind,
        answer_read=mine,
        gold_read=yours,
        symbolic=symbolic,
    )


def _problem(found: Decision) -> str:
    if found.status is Status.NO_ANSWER:
        return _NOTHING
    return found.decided_by if found.status in (Status.LIMIT, Status.ERROR) else ""


# The completions of a group have one gold, and few answers.
_remembered = lru_cache(maxsize=8192)(judge_final)


def _is_symbolic(text: str) -> bool:
    """Whether a text may be a formula that math-verify can read."""
    plain = _COMMANDS.sub(" ", text)
    has_content = any(map(str.isalnum, plain))
    return len(text) < LONGEST_ANSWER and not _WORDS.search(plain) and has_content


def _signs(text: str) -> Counter[str]:
    """The signs that math-verify may skip: relations, text, line breaks, open braces."""
    found = Counter(_SKIPPED.findall(text.strip().strip("$")))
    found["{"] = abs(text.count("{") - text.count("}"))
    return found


def _rendered(text: str, kind: str, decimal_comma: bool) -> str:
    """How a side was read, for a person; "" if that is just as it stands."""
    if kind in ("", "choice", "text", "time") or _NUMBER.fullmatch(text):
        return ""
    try:
        tree = _tree(text, decimal_comma)
        plain = tree is None or tree.node.op in ("num", "dec", "pct", "sym")
        said = "" if tree is None or plain else render(tree.node)
    except TooLargeError:
        return ""
    return "" if said.replace(" ", "") == text.replace(" ", "") else said


def _gold_text(gold: str) -> str:
    """A gold may itself be a solution with its answer in a box, a tag, or behind ####."""
    if announced := _ANNOUNCED_GOLD.match(gold):
        gold = gold[announced.end() :]
    if "\\boxed" in gold or "<answer>" in gold or "####" in gold:
        return final_answer(gold).text or gold
    return gold


def _judged(final: Final, gold: str, rules: Rules) -> tuple[str, Decision]:
    kind, found = _compared(final, gold, rules)
    if _NUMBER.fullmatch(final.text) and _NUMBER.fullmatch(gold) and not rules.question:
        return kind, found
    is_prose = found.status is Status.NO_ANSWER and _has_many_words(final.text)
    tried = found.equal or is_prose or rules.kind is not None
    if not tried and len(final.text) + len(gold) < _SHORT:
        mine, yours = everyday_form(final.text, rules.question), everyday_form(gold, rules.question)
        if (mine, yours) != (final.text, gold):
            again = _compared(final._replace(text=mine), yours, rules)
            kind, found = again if again[1].equal else (kind, found)
    if not rules.question:
        return kind, found
    if kind == "base" and asks_for_base(rules.question) and same_digits(final.text, gold):
        found = equal("the digits")
    same = same_factorization(gold, final.text, rules.question)
    if same is not None:
        found = equal("the prime factors") if same else different("the prime factors")
    if found.equal and is_out_of_order(gold, final.text, rules.question):
        return kind, different("their order")
    if found.equal and not has_asked_form(final.text, gold, rules.question):
        return kind, different("their form: the question asks for another one")
    return kind, found


def everyday_form(text: str, question: str) -> str:
    """Return an answer with its numbers as digits, and its units behind them."""
    if _NUMBER.fullmatch(text):
        return text
    if _ASKS_HOW_LONG.search(question) and (found := _DURATION.fullmatch(text.strip(" ."))):
        return f"{found[1] or 0} hours {found[2]} minutes {found[3]} seconds"
    digits = _CONVERTED.sub(r"\1", in_digits(text))
    if share := _SHARE.fullmatch(digits.strip(" .")):
        return f"{share[1]}/{share[2]}"
    if remainder := _REMAINDER.fullmatch(text):
        return remainder[1]
    spelled = _PLUS_OR_MINUS.sub("±", text)
    if "mod" in text.lower():
        spelled = _CONGRUENT.sub(r"\\equiv \1 \\pmod{\2}", spelled)
    return plain_quantity(digits if spelled == text else in_digits(spelled))


def _compared(final: Final, gold: str, rules: Rules) -> tuple[str, Decision]:
    if rules.kind not in (None, "number") or not _WHOLE.fullmatch(gold):
        found = _compared_as_words(final.text, gold, rules)
        if found is not None:
            return found
    tree = _tree(gold, rules.kind == "number")
    if tree is None:
        return "text", _text(final.text, gold, rules)
    kind = rules.kind or kind_of(tree.node)
    return kind, _formula(final, gold, tree, rules)


def _compared_as_words(answer: str, gold: str, rules: Rules) -> tuple[str, Decision] | None:
    """The kind and the decision if a gold is an option, a time, a name, a range; else None.

    Each is tried only if the gold has a sign that it needs.
    """
    has_digit = _DIGIT.search(gold) is not None
    found = _as_option(answer, gold, rules, has_digit)
    if found is not None:
        return found
    if rules.kind == "text":
        # Words are compared without apostrophes, which make R' another move than R.
        same = same_code(gold, answer) if "'" in gold and is_code(gold, rules.question) else None
        if same is not None:
            return "text", equal("the same text") if same else different("their letters")
        return "text", _text(answer, gold, rules)
    clock = _clock(answer, gold, rules)
    if clock is not None:
        return "time", clock
    date = _date(answer, gold, rules) if _MAY_BE_DATE.search(gold) else None
    if date is not None:
        return "text", date
    if rules.kind is not None:
        return None
    if _LETTER.search(gold) and is_code(gold, rules.question):
        same = same_code(gold, answer)
        if same or is_direction(gold, answer):
            return "text", equal("the same text")
        if same is not None:  # A run of letters is no product: HOW is not WHO.
            spelled = gold.islower() and same_words(gold, answer)  # the tenth, 10th
            return "text", equal("the same words") if spelled else different("their letters")
        text = _text(answer, gold, rules)
        if text.equal:
            return "text", text
    if _NAME.search(gold) and same_words(gold, answer):
        return "text", equal("the same words")
    if has_digit and not _FORMULA.search(gold) and (limits := range_of_gold(gold)) is not None:
        return "text", _range(answer, gold, limits)
    return None


def _as_option(
    answer: str, gold: str, rules: Rules, has_digit: bool
) -> tuple[str, Decision] | None:
    """The kind and the decision if a gold is yes or no, or an option; else None."""
    options = rules.choices or (options_in(rules.question) if rules.question else ())
    if rules.kind is None and not has_digit:
        wanted = truth_of_gold(gold, rules.question)
        if wanted is not None:
            return "text", _truth(answer, wanted, rules)
    if rules.kind not in (None, "choice") or (has_digit and not options and rules.kind is None):
        return None
    letters = letters_of_gold(gold, rules.question, bool(options)) if options else None
    if letters:
        return "choice", _choices(answer, letters)
    letter = _choice_gold(gold, options, rules)
    if letter and options and not rules.choices:
        rules = replace(rules, choices=options)
    return ("choice", _choice(answer, letter, rules)) if letter else None


def _formula(final: Final, gold: str, tree: Tree, rules: Rules) -> Decision:
    text = final.text
    # Prose is no formula: that it cannot be read need not be tried.
    is_prose = (
        final.where == "line" and "\\" not in text and len(_PROSE.findall(text)) > _MOST_WORDS
    )
    if final.where == "line" and _REFUSED.search(text):
        return Decision(Status.NO_ANSWER)
    answer = None if is_prose else _tree(text, rules.kind == "number")
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


def _truth(answer: str, wanted: bool, rules: Rules) -> Decision:
    said = truth_of_answer(answer, rules.question)
    if said is None:
        return different("an answer that is neither yes nor no")
    return equal("yes or no") if said is wanted else different("yes or no")


def _choices(answer: str, letters: frozenset[str]) -> Decision:
    chosen = letters_chosen(answer)
    return equal("the letters") if chosen == letters else different("the letters")


def _choice_gold(gold: str, options: Sequence[str], rules: Rules) -> str | None:
    if rules.kind == "choice":
        letter = read_choice(gold)
        if letter is None and rules.choices:
            return _option(gold, rules)
        return letter
    if rules.kind is None:
        plain = without_formatting(gold).replace("\\text", "").strip("{} ")
        found = _CHOICE_GOLD.fullmatch(plain)
        if found is None and options:
            # "c", or "B) Lisbon": the question has options.
            found = _listed_gold(plain, options)
        return found[1].upper() if found else None
    return None


def _listed_gold(gold: str, options: Sequence[str]) -> re.Match[str] | None:
    """The letter of a gold such as "B) Lisbon" or "c", if the question has that option."""
    found = _LISTED_GOLD.fullmatch(gold)
    at = "abcdefghij".index(found[1].lower()) if found else len(options)
    if found is None or at >= len(options):
        return None
    return found if not found[2] or same_words(options[at], found[2]) else None


def _choice(answer: str, letter: str, rules: Rules) -> Decision:
    if several_choices(answer) or lists_options(answer):
        return Decision(Status.SEVERAL, "more than one letter")
    if _DENIED_LETTER.search(answer):
        return different("an answer that is no option")
    labels = _LABELS.findall(answer)
    labelled = _LABELLED_OPTION.match(without_formatting(answer)) if len({*labels}) < 2 else None
    option = _option(answer, rules) if rules.choices and not labelled else None
    if labelled and rules.choices:
        plain, group = labelled.string, labelled.lastindex or 1
        rest = plain[labelled.end() - 1 :] if group == 1 else plain[: labelled.start(group) - 1]
        if _option(rest, rules) not in (None, labelled[group].upper()):
            return different(_CONTRADICTION)
    picked = (
        option
        or read_choice(answer)
        or (labelled[labelled.lastindex or 1].upper() if labelled else None)
    )
    if picked is None:
        return different("an answer that is no option")
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
    if rules.kind is None and not _MAY_BE_CLOCK.search(gold):
        return None
    by_question = rules.kind == "time" or says_time(gold, rules.question)
    if rules.kind not in (None, "time", "text") or not (by_question or says_time(answer)):
        return None
    mine, yours = read_clock(without_formatting(gold)), read_clock(without_formatting(answer))
    if mine is None:
        mine = _raw_clock(gold)
    if mine is None:
        return None
    yours = yours or _raw_clock(answer)
    if yours is None and not _BOUNDED_CLOCK.search(answer):
        yours = _only(clocks_in(answer), answer)
    if yours is None:
        return different("an answer that is no time of day") if by_question else None
    return equal("the time of day") if same_clock(mine, yours) else different("the time of day")


def _raw_clock(text: str) -> Clock | None:
    return read_clock(text.replace("{:}", ":"))


def _date(answer: str, gold: str, rules: Rules) -> Decision | None:
    if rules.kind not in (None, "text", "time"):
        return None
    mine = read_date(gold)
    if mine is None or (len(gold) == 3 and gold.isupper()):  # AUG may be a codon
        return None
    yours = read_date(answer, short=bool(mine.month))
    if yours is None and not _BOUNDED_DATE.search(answer):
        yours = _only(dates_in(answer), answer)
    if yours is None:
        same = same_words(gold, answer)
        return equal("the same words") if same else different("an answer that is no date")
    return equal("the date") if same_date(mine, yours) else different("the date")


def _only(found: list[Any], text: str) -> Any:
    """The only one of what a statement names; None if there are more, or it is denied."""
    return found[0] if len({*found}) == 1 and is_claimed(text) else None


def _range(answer: str, gold: str, limits: Range) -> Decision:
    if same_words(gold, answer):
        return equal("the same words")
    same = same_range(limits, answer)
    if same is None:
        return different("an answer that is no range")
    return equal("both ends") if same else different("their ends")


def _text(answer: str, gold: str, rules: Rules) -> Decision:
    spelled = with_acronyms(without_filling(answer), gold)
    if same_words(gold, answer) or same_words(gold, spelled) or is_direction(gold, spelled):
        return equal("the same words")
    if (same := same_reaction(gold, answer)) is not None:
        return equal("both sides") if same else different("their sides")
    if rules.kind != "text" and not asks_for_order(rules.question) and same_names(gold, answer):
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


# -- How a text is read


@dataclass(frozen=True, slots=True)
class Reading:
    """How a text is read.

    kind: number, percent, quantity, angle, base, ratio, time, expression, equation, interval, list,
        tuple, matrix, choice or text
    value: the text without formatting, such as `$…$` and `\\left`
    canonical: the same for texts with the same meaning, as far as reading alone can tell:
        `\\frac{2}{4}` and `0.5` are both "1/2"

    >>> read("0.5").canonical
    '1/2'
    """

    kind: str
    value: str
    canonical: str


def read(text: str, kind: str | None = None) -> Reading:
    r"""Return how a text is read as an answer.

    kind: what the text is, one of KINDS. Default: it is read from the text

    >>> read(r"$\dfrac{2}{4}$")
    Reading(kind='number', value='\\frac{2}{4}', canonical='1/2')
    >>> read("k < -5").kind, read(r"25\%").canonical, read("4:30 p.m.").canonical
    ('interval', '25%', '16:30')
    >>> read("a rhombus", kind="text").canonical
    'rhombus'
    """
    check_kind(kind)
    value = without_formatting(text)
    if kind == "choice":
        return Reading("choice", value, read_choice(text) or "")
    if kind != "text" and (kind == "time" or says_time(text)):
        clock = read_clock(text)
        if clock is not None:
            minutes, second = divmod(clock.seconds, 60)
            seconds = f":{second:02}" if second else ""
            return Reading("time", value, f"{minutes // 60:02}:{minutes % 60:02}{seconds}")
    if kind in (None, "text") and (date := read_date(text)) is not None:
        return Reading("text", value, "-".join(str(part) for part in date[:3] if part) or value)
    if kind != "text":
        try:
            tree, _ = read_tree(value, kind == "number")
            return Reading(kind or kind_of(tree), value, render(tree))
        except (CannotReadError, TooLargeError, RecursionError):
            if kind is not None:
                return Reading(kind, value, "")
    return Reading("text", value, " ".join(words_of(text)))


# -- Rendering

_LONGEST = 200
_MOST_STEPS = 10_000  # of all numbers in it together
_SIGNS = {"mul": "*", "ratio": ":", "cup": " ∪ ", "cap": " ∩ ", "setminus": " \\ ", "list": ", "}
_RELATIONS = {r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\approx": "≈", r"\in": "∈"}
_SETS = frozenset(["cup", "cap", "setminus"])
# What needs brackets around it to be a part of something that binds closer.
_SUMS = frozenset(["add", "rel", "pm"])
_PRODUCTS = _SUMS | {"mul", "div"}
_UNCLOSED = _PRODUCTS | _SETS | {"neg", "pow", "pct", "deg", "unit", "ratio", "list"}
_IN_EXPONENTS = _UNCLOSED - {"neg", "pow"}  # x^-1 and x^y^z can be read in one way alone
_CONSTANTS = {"pi": "π", "e": "e", "i": "i", "inf": "∞"}


def render(node: Node) -> str:
    r"""The tree as text."""
    with limited_steps(_MOST_STEPS):
        text = _as_text(node)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _as_text(node: Node) -> str:
    value = _number(node)
    if value is not None:
        return value
    parts = [_as_text(part) for part in node.args]
    match node.op:
        case "sym" | "name" | "numbers":
            return str(node.val).lstrip("\\")
        case "const":
            return _CONSTANTS[node.val]
        case "neg":
            return f"-{_grouped(node.args[0], parts[0], _SUMS)}"
        case "pct" | "deg":
            value = _grouped(node.args[0], parts[0], _SUMS)
            return value + ("%" if node.op == "pct" else "°")
        case "unit":
            return _quantity(node, parts[0])
        case "tuple":
            return f"{node.val[0]}{', '.join(parts)}{node.val[-1]}"
        case "set":
            return "{" + ", ".join(parts) + "}"
        case "matrix":
            return "[" + "; ".join(parts) + "]"
        case "row":
            return ", ".join(parts)
        case "rel":
            return _relation(node, parts)
        case "base":
            return f"{node.val[0]} in base {node.val[1]}"
        case "empty":
            return "the empty set"
        case "pm":
            return " ± ".join(parts) if len(parts) > 1 else f"± {parts[0]}"
        case "group":
            return parts[0]
        case "add":
            return _sum(node, parts)
        case "root":
            return _root(node, parts)
        case "div" | "pow" | "mul" | "ratio" | "cup" | "cap" | "setminus" | "list":
            return _operation(node, parts)
    return f"{node.val if isinstance(node.val, str) else node.op}({', '.join(parts)})"


def _number(node: Node) -> str | None:
    if node.op in ("pct", "deg", "unit", "base"):
        return None
    try:
        value = exact(node)
    except TooLargeError:
        return None
    if value is None or max(value.numerator.bit_length(), value.denominator.bit_length()) > 400:
        return None
    return str(value)


def _root(node: Node, parts: list[str]) -> str:
    if parts[1] == "2":
        return f"√({parts[0]})"
    value, degree = (_grouped(*side, _UNCLOSED) for side in zip(node.args, parts, strict=True))
    return f"{value}^(1/{degree})"


def _operation(node: Node, parts: list[str]) -> str:
    """The parts with a sign between them, and brackets if it would be read otherwise."""
    if node.op in ("div", "pow"):
        left, right = node.args
        before, after = (_UNCLOSED, _IN_EXPONENTS) if node.op == "pow" else (_SUMS, _PRODUCTS)
        sign = "^" if node.op == "pow" else "/"
        return f"{_grouped(left, parts[0], before)}{sign}{_grouped(right, parts[1], after)}"
    open_ones = _SUMS | _SETS if node.op in _SETS else _SUMS
    sides = zip(node.args, parts, strict=True)
    return _SIGNS[node.op].join(_grouped(*side, open_ones) for side in sides)


def _grouped(node: Node, text: str, open_ones: frozenset[str]) -> str:
    """The text of a part, in brackets if its operation is one of these."""
    while node.op == "group":
        node = node.args[0]
    op = node.op
    if op == "root" and not text.startswith("√"):
        op = "pow"
    if text.strip("-").replace("/", "").isdigit():  # a number: 1/2, -3
        op = "div" if "/" in text else "neg" if text[0] == "-" else "num"
    return f"({text})" if op in open_ones else text


def _sum(node: Node, parts: list[str]) -> str:
    text = parts[0]
    for term, part in zip(node.args[1:], parts[1:], strict=True):
        minus = part.startswith("-") and term.op in ("neg", "num", "mul", "div")
        text += f" - {part[1:]}" if minus else f" + {part}"
    return text


def _relation(node: Node, parts: list[str]) -> str:
    text = parts[0]
    for sign, part in zip(node.val, parts[1:], strict=True):
        text += f" {_RELATIONS.get(sign, sign)} {part}"
    return text


def _quantity(node: Node, part: str) -> str:
    """A quantity in base units: 10 cm are 0.1 m."""
    unit = node.val
    name = " ".join(base if power == 1 else f"{base}^{power}" for base, power in unit.dimension)
    value = exact(node.args[0])
    if value is not None and unit.dimension and value.numerator.bit_length() < 900:
        return f"{float(value * unit.size):.6g} {name}"
    size = "" if unit.size == 1 else f"{float(unit.size):.6g} "
    return f"{_grouped(node.args[0], part, _SUMS)} {size}{name or ' '.join(unit.nouns)}".strip()
