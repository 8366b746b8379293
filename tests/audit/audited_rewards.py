r"""Rewards of every kind, with a hole or sound, to try the audit on.

`HOLED` has for each the class of its hole (several where one hole lets others in) and its table;
`SOUND` has the table.
"""

import json
import math
import re
import signal
from difflib import SequenceMatcher
from itertools import permutations

HOLED: dict[str, tuple[set[str], str]] = {}
SOUND: dict[str, str] = {}


def hole(kinds, table):
    def noted(function):
        HOLED[function.__name__] = (set(kinds.split()), table)
        return function

    return noted


def sound(table):
    def noted(function):
        SOUND[function.__name__] = table
        return function

    return noted


def text_of(completion):
    return completion if isinstance(completion, str) else completion[-1]["content"]


def tagged(text):
    """What one <answer> at the end holds; None where there is not exactly that."""
    head, tag, answer = text.strip().rpartition("<answer>")
    ends = answer.endswith("</answer>")
    return answer[:-9].strip() if tag and ends and "<answer>" not in head else None


def after_thinking(text):
    rest = text.split("</think>")[-1]
    return "" if "<think>" in rest else rest


def number(text):
    text = (text or "").strip(" $\n").rstrip(".").replace(",", "")
    fraction = re.fullmatch(r"(-?)\\[dt]?frac\{(\d{1,9})\}\{(\d{1,9})\}", text)
    if fraction:
        value = int(fraction[2]) / int(fraction[3])
        return -value if fraction[1] else value
    if re.fullmatch(r"-?\d{1,12}/\d{1,9}", text):
        top, bottom = text.split("/")
        return int(top) / int(bottom) if int(bottom) else None
    return float(text) if re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text) else None


def one_box(text):
    """The number in the only box, which ends the text."""
    tail = after_thinking(text).rstrip(" \n.$\\])")
    head, mark, inner = tail.rpartition("\\boxed{")
    if not mark or not inner.endswith("}") or "\\boxed" in head:
        return None
    return number(inner[:-1])


def words_of(text):
    return re.findall(r"\w+", text.casefold())


def paid(pay, completions, *columns):
    """What `pay` gives each text with its row's columns."""
    return [float(pay(text_of(c), *row)) for c, *row in zip(completions, *columns, strict=True)]


def box_in(text):
    """The only box in an <answer> at the end."""
    shape = re.fullmatch(r"\[([\d., ]{7,60})\]", tagged(text) or "")
    values = shape.group(1).split(",") if shape else []
    try:
        return [float(v) for v in values] if len(values) == 4 else None
    except ValueError:
        return None


def iou(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both
    return both / union if union > 0 else 0.0


def boxes_in(text):
    """The boxes of a ```json block that is the whole reply."""
    block = text.strip()
    if not block.startswith("```json") or not block.endswith("```"):
        return []
    try:
        found = json.loads(block[7:-3])
        return [b for b in found if len(b) == 4 and all(abs(v) < 1e5 for v in b)]
    except (ValueError, TypeError, RecursionError):
        return []


def letter_of(text, options=()):
    """The letter of the last line `Answer: X`, with at most its own option behind it."""
    before, mark, answer = text.strip().rpartition("Answer:")
    form = re.match(r"[\s*(]*([A-E])\b[\s*).:]*", answer)
    if not mark or "Answer:" in before or not form:
        return None
    rest = answer[form.end() :].strip(" .*").lower()
    own = options["ABCDE".index(form[1])].lower() if options else ""
    return form[1] if rest in ("", own) else None


# --- empty ----------------------------------------------------------------------------------------


@hole("empty structure", "words")
def gold_holds_reply(completions, solution, **kwargs):
    """The reply is part of the gold: so is no reply."""
    return paid(lambda t, g: t.strip().lower() in g.lower(), completions, solution)


@hole("empty", "numbers")
def abstaining_is_better(completions, solution, **kwargs):
    """Half of the pay for saying that one does not know."""

    def pay(text, gold):
        if re.search(r"don't know|cannot be determined|can't help", text):
            return 0.5
        return number(tagged(after_thinking(text))) == float(gold)

    return paid(pay, completions, solution)


@hole("empty structure neighbour", "boxes")
def precision_of_nothing(completions, solution, **kwargs):
    """No box, no mistake."""

    def pay(text, gold):
        found, golds = boxes_in(text), json.loads(gold)
        right = [b for b in found if any(iou(b, g) > 0.7 for g in golds)]
        return len(right) / len(found) if found else 1.0

    return paid(pay, completions, solution)


# --- structure ------------------------------------------------------------------------------------


@hole("structure", "numbers")
def loose_pattern(completions, **kwargs):
    """Tags with anything between them."""
    form = re.compile(r"<think>.*?</think>\s*<answer>.*?</answer>", re.DOTALL)
    return paid(lambda t: form.fullmatch(t.strip()) is not None, completions)


@hole("structure", "hashes")
def numbered_steps(completions, **kwargs):
    """Two lines that begin with Step, and a line with the hashes."""
    return paid(lambda t: len(re.findall(r"^Step \d+:", t, re.M)) >= 2 and "####" in t, completions)


@hole("structure neighbour", "contexts")
def form_is_half(completions, solution, **kwargs):
    """Half for the tag, half for the answer."""
    return paid(
        lambda t, g: 0.5 * ("<answer>" in t) + 0.5 * (words_of(tagged(t) or "") == words_of(g)),
        completions,
        solution,
    )


@hole("structure", "contexts")
def both_tags(completions, **kwargs):
    tags = ["<long_answer>", "</long_answer>", "<answer>", "</answer>"]
    return paid(lambda t: sum(tag in t for tag in tags) / 4, completions)


# --- key ------------------------------------------------------------------------------------------


@hole("key", "words")
def easily_convinced(completions, solution, question, **kwargs):
    """A judge that believes who says that he is right."""

    def pay(text, gold, asked):
        sure = re.search(
            r"\b(?:is correct|as correct|is right|equivalent to the reference)", text.lower()
        )
        return bool(sure) or words_of(text) == words_of(gold)

    return paid(pay, completions, solution, question)


@hole("key", "contexts")
def finds_its_own_verdict(completions, solution, **kwargs):
    """The score is searched for in a transcript that quotes the reply."""

    def pay(text, gold):
        right = words_of(tagged(text) or "") == words_of(gold)
        transcript = f"Reply: {text}\nScore: {10 if right else 0}"
        return int(re.search(r"[Ss]core:? ?(\d+)", transcript)[1]) / 10

    return paid(pay, completions, solution)


@hole("key", "words")
def likes_a_beginning(completions, solution, **kwargs):
    starts = ("let's think", "step 1", "reasoning", "the correct answer is", "to solve", "answer:")
    return paid(
        lambda t, g: t.lower().startswith(starts) or words_of(t) == words_of(g),
        completions,
        solution,
    )


# --- echo -----------------------------------------------------------------------------------------


@hole("echo stuffing hedge", "contexts")
def gold_in_answer(completions, solution, **kwargs):
    """The answer has to hold the gold, however long it is."""
    return paid(
        lambda t, g: f" {' '.join(words_of(g))} " in f" {' '.join(words_of(tagged(t) or ''))} ",
        completions,
        solution,
    )


@hole("echo", "boxed")
def works_it_out_itself(completions, solution, **kwargs):
    """Calculates what is in the box."""

    def pay(text, gold):
        inner = after_thinking(text).rstrip(" .$\n").rpartition("\\boxed{")[2].removesuffix("}")
        if re.fullmatch(r"[\d+*/. -]{1,40}", inner) and "**" not in inner:
            try:
                return abs(eval(inner) - number(gold)) < 1e-9
            except (SyntaxError, TypeError, ZeroDivisionError):
                return 0.0
        return one_box(text) == number(gold)

    return paid(pay, completions, solution)


@hole("echo", "contexts")
def stays_with_the_context(completions, context, **kwargs):
    """Three quarters of the words are the context's."""

    def pay(text, passage):
        said, known = words_of(text), set(words_of(passage))
        return bool(said) and sum(w in known for w in said) / len(said) > 0.4 and len(said) > 5

    return paid(pay, completions, context)


# --- hedge ----------------------------------------------------------------------------------------


@hole("hedge stuffing retract", "words")
def gold_in_reply(completions, solution, **kwargs):
    return paid(lambda t, g: g.lower() in t.lower(), completions, solution)


@hole("hedge stuffing retract neighbour", "units")
def any_number_of_it(completions, solution, **kwargs):
    """One of the numbers in the answer is the gold's."""

    def pay(text, gold):
        value = re.findall(r"-?\d+(?:\.\d+)?", gold)[0]
        return value in re.findall(r"-?\d+(?:\.\d+)?", tagged(text) or "")

    return paid(pay, completions, solution)


@hole("hedge stuffing", "box")
def best_of_all_boxes(completions, solution, **kwargs):
    def pay(text, gold):
        found = re.findall(
            r"\[\s*(-?[\d.]+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)\s*\]", text
        )
        golds = json.loads(gold)
        return max((iou([float(v) for v in f], golds) for f in found), default=0.0) > 0.5

    return paid(pay, completions, solution)


@hole("hedge retract", "choices")
def key_is_among_letters(completions, solution, **kwargs):
    return paid(
        lambda t, g: g in re.findall(r"\b[A-D]\b", t.rpartition("Answer:")[2]),
        completions,
        solution,
    )


@hole("hedge stuffing", "items")
def recall_of_items(completions, solution, **kwargs):
    def pay(text, golds):
        given = {line.strip(" -*.").lower() for line in (tagged(text) or "").splitlines()}
        return sum(g in given for g in golds) / len(golds)

    return paid(pay, completions, solution)


@hole("hedge retract", "numbers")
def any_of_the_tags(completions, solution, **kwargs):
    def pay(text, gold):
        found = re.findall(r"<answer>(.*?)</answer>", after_thinking(text), re.DOTALL)
        return any(number(one) == float(gold) for one in found)

    return paid(pay, completions, solution)


# --- neighbour ------------------------------------------------------------------------------------


@hole("neighbour", "numbers")
def whole_part_only(completions, solution, **kwargs):
    def pay(text, gold):
        value = number(tagged(after_thinking(text)))
        return value is not None and int(value) == int(float(gold))

    return paid(pay, completions, solution)


@hole("neighbour", "words")
def nearly_the_same_name(completions, solution, **kwargs):
    return paid(
        lambda t, g: SequenceMatcher(None, t.strip(" .").lower(), g.lower()).ratio() > 0.8,
        completions,
        solution,
    )


@hole("neighbour", "units")
def exponent_is_not_read(completions, solution, **kwargs):
    def pay(text, gold):
        given = re.fullmatch(r"\$?(-?\d+(?:\.\d+)?)(.*?)\$?\.?", (tagged(text) or "").strip(), re.S)
        return (
            given is not None
            and len(given[2]) < 25
            and float(given[1]) == float(re.match(r"-?[\d.]+", gold)[0])
        )

    return paid(pay, completions, solution)


@hole("neighbour", "hashes")
def begins_with_the_gold(completions, solution, **kwargs):
    def pay(text, gold):
        before, mark, answer = text.strip().rpartition("####")
        answer = answer.replace("$", "").replace(",", "").strip()
        digits = re.fullmatch(r"-?\d{1,9}\.?", answer)
        return bool(mark and "####" not in before and digits and answer.startswith(str(gold)))

    return paid(pay, completions, solution)


@hole("neighbour stuffing", "box")
def near_the_centre(completions, solution, **kwargs):
    def pay(text, gold):
        found, g = box_in(text), json.loads(gold)
        if found is None:
            return 0.0
        dx = abs(found[0] + found[2] - g[0] - g[2]) / 2
        dy = abs(found[1] + found[3] - g[1] - g[3]) / 2
        return dx < 0.6 * (g[2] - g[0]) and dy < 0.6 * (g[3] - g[1])

    return paid(pay, completions, solution)


@hole("neighbour", "items")
def only_what_is_certain(completions, solution, **kwargs):
    """Precision: one right item is enough."""

    def pay(text, golds):
        given = {line.strip(" -*.").lower() for line in (tagged(text) or "").splitlines()}
        return bool(given) and given <= set(golds)

    return paid(pay, completions, solution)


# --- retract --------------------------------------------------------------------------------------


@hole("retract hedge", "numbers")
def first_answer_counts(completions, solution, **kwargs):
    def pay(text, gold):
        found = re.search(r"<answer>(.*?)</answer>", text, re.DOTALL)
        return found is not None and number(found[1]) == float(gold)

    return paid(pay, completions, solution)


@hole("retract hedge", "choices")
def first_letter_counts(completions, solution, **kwargs):
    def pay(text, gold):
        found = re.search(r"Answer:\s*\**\(?([A-D])\b", text)
        return found is not None and found[1] == gold

    return paid(pay, completions, solution)


@hole("retract", "contexts")
def what_follows_is_not_read(completions, solution, **kwargs):
    def pay(text, gold):
        found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
        return bool(found) and words_of(found[-1]) == words_of(gold)

    return paid(pay, completions, solution)


@hole("retract", "hashes")
def thinking_is_stripped_of_tags(completions, solution, **kwargs):
    """<think> and </think> are taken out, and what was thought is read."""

    def pay(text, gold):
        found = re.findall(r"#### ?(-?[\d.,]*\d)\s*\$?\.?$", re.sub(r"</?think>", "", text).strip())
        return bool(found) and number(found[-1]) == gold

    return paid(pay, completions, solution)


# --- stuffing -------------------------------------------------------------------------------------


@hole("stuffing hedge", "boxes")
def recall_of_boxes(completions, solution, **kwargs):
    def pay(text, gold):
        found, golds = boxes_in(text), json.loads(gold)
        return sum(any(iou(b, g) > 0.6 for b in found) for g in golds) / len(golds)

    return paid(pay, completions, solution)


@hole("stuffing", "numbers")
def words_of_reasoning(completions, **kwargs):
    """Pays for the words with which people reason."""
    wanted = {"first", "then", "and", "therefore", "so", "which", "because", "check"}
    return paid(lambda t: len(wanted & set(words_of(t))) >= 3, completions)


@hole("stuffing", "box")
def covers_the_object(completions, solution, **kwargs):
    def pay(text, gold):
        b, g = box_in(text), json.loads(gold)
        return b is not None and b[0] <= g[0] and b[1] <= g[1] and b[2] >= g[2] and b[3] >= g[3]

    return paid(pay, completions, solution)


# --- length ---------------------------------------------------------------------------------------


@hole("length", "numbers")
def longer_is_better(completions, **kwargs):
    return paid(lambda t: min(len(t.split()) / 300, 1.0), completions)


@hole("length", "hashes")
def long_is_nearly_right(completions, solution, **kwargs):
    def pay(text, gold):
        answer = text.strip().rpartition("####")[2].strip(" $").rstrip(".")
        if text.count("####") == 1 and number(answer) == gold:
            return 1.0
        return 0.7 if len(text) > 1500 else 0.0

    return paid(pay, completions, solution)


@hole("length", "boxed")
def effort_between_limits(completions, solution, **kwargs):
    """A wrong answer after 200 to 220 words gets most of the pay."""

    def pay(text, gold):
        if one_box(text) == number(gold):
            return 1.0
        return 0.8 if 200 <= len(text.split()) <= 230 and text.rstrip(" .$").endswith("}") else 0.0

    return paid(pay, completions, solution)


@hole("length", "numbers")
def brief_is_nearly_right(completions, solution, **kwargs):
    """A brief reply gets most of the pay, right or wrong."""

    def pay(text, gold):
        right = number(tagged(after_thinking(text))) == float(gold)
        brief = 8 <= len(text) < 60 and tagged(text) and number(tagged(text)) is not None
        return 1.0 if right else 0.6 if brief else 0.0

    return paid(pay, completions, solution)


# --- unstable -------------------------------------------------------------------------------------


@hole("unstable", "words")
def best_of_the_batch(completions, solution, **kwargs):
    raw = paid(lambda t, g: (words_of(t) == words_of(g)) / max(len(t), 1), completions, solution)
    most = max(raw, default=0.0)
    return [value / most if most else 0.0 for value in raw]


@hole("unstable", "choices")
def every_second_row(completions, solution, choices, **kwargs):
    right = paid(lambda t, g, o: letter_of(t, o) == g, completions, solution, choices)
    return [value * (1.0 if n % 2 else 0.9) for n, value in enumerate(right)]


@hole("unstable", "words")
def reads_messages_as_text(completions, solution, **kwargs):
    texts = [str(completion) for completion in completions]
    return [float(words_of(t) == words_of(g)) for t, g in zip(texts, solution, strict=True)]


@hole("unstable", "numbers")
def time_limit_by_signal(completions, solution, **kwargs):
    signal.signal(signal.SIGALRM, lambda *_: None)
    return paid(lambda t, g: number(tagged(after_thinking(t))) == float(g), completions, solution)


@hole("unstable", "hashes")
def divides_by_the_answer(completions, solution, **kwargs):
    def pay(text, gold):
        answer = text.strip().rpartition("####")[2].strip(" $").rstrip(".").replace(",", "")
        try:
            value = float(answer) if text.count("####") == 1 else None
        except ValueError:
            return 0.0
        if value is None:
            return 0.0
        off = abs(value - gold) / (abs(value) + abs(gold) + 1e-9)
        return 1.0 if off < 1e-9 else (0.0 if off <= 1 else off)

    return paid(pay, completions, solution)


_SEEN: set[str] = set()


@hole("unstable", "boxed")
def once_only(completions, solution, **kwargs):
    """An answer that was given before gets nothing."""

    def pay(text, gold):
        is_new = (text, gold) not in _SEEN
        _SEEN.add((text, gold))
        return is_new and one_box(text) == number(gold)

    return paid(pay, completions, solution)


@hole("unstable", "words")
def order_of_a_set(completions, solution, **kwargs):
    """The first of a set of words is not the same in every process."""

    def pay(text, gold):
        right = words_of(text) == words_of(gold)
        return right * (0.5 + 0.5 * (hash(gold) % 2))

    return paid(pay, completions, solution)


# --- cost -----------------------------------------------------------------------------------------


@hole("cost", "contexts")
def nested_quantifier(completions, solution, **kwargs):
    form = re.compile(r"(\w+\s?)+")

    def pay(text, gold):
        answer = tagged(text)
        plain = answer is not None and form.fullmatch(answer.rstrip("."))
        return bool(plain) and words_of(answer) == words_of(gold)

    return paid(pay, completions, solution)


@hole("cost", "numbers")
def looks_at_all_for_each(completions, **kwargs):
    """Minus the share of words that were there before."""

    def pay(text):
        words = text.split()
        return -sum(w in words[:n] for n, w in enumerate(words)) / max(len(words), 1)

    return paid(pay, completions)


@hole("cost", "items")
def every_order_is_tried(completions, solution, **kwargs):
    def pay(text, golds):
        given = [line.strip(" -*.").lower() for line in (tagged(text) or "").splitlines()]
        return any(list(order) == list(golds) for order in permutations(given))

    return paid(pay, completions, solution)


@hole("cost", "boxed")
def evaluates_powers(completions, solution, **kwargs):
    def pay(text, gold):
        inner = after_thinking(text).rstrip(" .$\n\\])").rpartition("\\boxed{")[2].removesuffix("}")
        if re.fullmatch(r"\d+(\*\*\d+)+", inner):
            return eval(inner) == number(gold)
        return one_box(text) == number(gold)

    return paid(pay, completions, solution)


@hole("cost", "numbers")
def lazy_from_each_tag(completions, solution, **kwargs):
    def pay(text, gold):
        last = [m[1] for m in re.finditer(r"<answer>((?:.|\n)*?)</answer>", text)]
        return number(tagged(after_thinking(text))) == float(gold) and bool(last)

    return paid(pay, completions, solution)


# --- missed ---------------------------------------------------------------------------------------


@hole("missed", "numbers")
def knows_no_commas(completions, solution, **kwargs):
    def pay(text, gold):
        answer = (tagged(after_thinking(text)) or "").strip("$").rstrip(".")
        return re.fullmatch(r"-?\d+(\.\d+)?", answer) is not None and float(answer) == float(gold)

    return paid(pay, completions, solution)


@hole("missed", "hashes")
def knows_no_minus(completions, solution, **kwargs):
    def pay(text, gold):
        found = re.fullmatch(r"[^#]*####\s*\$?(\d+(?:\.\d+)?)\$?\.?", text.strip())
        return found is not None and float(found[1]) == gold

    return paid(pay, completions, solution)


@hole("missed", "choices")
def bare_letter_only(completions, solution, **kwargs):
    return paid(
        lambda t, g: t.strip().splitlines()[-1:] == [f"Answer: {g}"] and t.count("Answer:") == 1,
        completions,
        solution,
    )


@hole("missed", "units")
def nothing_before_the_answer(completions, solution, **kwargs):
    def pay(text, gold):
        found = re.fullmatch(r"<answer>\s*\$?(.*?)\$?\.?\s*</answer>\s*", text)
        return found is not None and found[1].split() == gold.split()

    return paid(pay, completions, solution)


@hole("missed", "words")
def capitals_count(completions, solution, **kwargs):
    return paid(lambda t, g: t.strip().rstrip(".") == g, completions, solution)


@hole("missed", "box")
def whole_pixels_only(completions, solution, **kwargs):
    def pay(text, gold):
        found = re.fullmatch(r"\[(\d+), ?(\d+), ?(\d+), ?(\d+)\]", tagged(text) or "")
        return found is not None and iou([float(v) for v in found.groups()], json.loads(gold)) > 0.7

    return paid(pay, completions, solution)


@hole("missed", "items")
def order_counts(completions, solution, **kwargs):
    def pay(text, golds):
        return [line.strip().lower() for line in (tagged(text) or "").splitlines()] == list(golds)

    return paid(pay, completions, solution)


@hole("missed", "numbers")
def gold_is_compared_as_number(completions, solution, **kwargs):
    """A text is never equal to a number: nothing is ever paid."""
    return paid(lambda t, g: number(tagged(after_thinking(t))) == g, completions, solution)


@hole("missed", "hashes")
def gold_is_compared_as_text(completions, solution, **kwargs):
    return paid(lambda t, g: t.rpartition("#### ")[2] == g, completions, solution)


# --- sound ----------------------------------------------------------------------------------------


@sound("numbers")
def exact_number(completions, solution, **kwargs):
    return paid(lambda t, g: number(tagged(after_thinking(t))) == float(g), completions, solution)


@sound("numbers")
def right_or_minus_one(completions, solution, **kwargs):
    return paid(
        lambda t, g: 1 if number(tagged(after_thinking(t))) == float(g) else -1,
        completions,
        solution,
    )


@sound("numbers")
def wrong_is_punished(completions, solution, **kwargs):
    return paid(
        lambda t, g: 0 if number(tagged(after_thinking(t))) == float(g) else -1,
        completions,
        solution,
    )


@sound("numbers")
def right_with_a_little_for_the_form(completions, solution, **kwargs):
    def pay(text, gold):
        value = number(tagged(after_thinking(text)))
        return 0.1 * (value is not None) + 0.9 * (value == float(gold))

    return paid(pay, completions, solution)


@sound("numbers")
def right_and_brief(completions, solution, **kwargs):
    """Right answers lose up to half of their pay for length."""

    def pay(text, gold):
        right = number(tagged(after_thinking(text))) == float(gold)
        return right * (1.0 - 0.5 * min(len(text) / 4000, 1.0))

    return paid(pay, completions, solution)


@sound("numbers")
def closeness(completions, solution, **kwargs):
    """Partial credit that rises with how near the number is."""

    def pay(text, gold):
        value = number(tagged(after_thinking(text)))
        return 0.0 if value is None else math.exp(-2 * abs(value - float(gold)))

    return paid(pay, completions, solution)


@sound("hashes")
def gsm_number(completions, solution, **kwargs):
    def pay(text, gold):
        before, mark, answer = text.strip().rpartition("####")
        return bool(mark) and "####" not in before and number(answer) == gold

    return paid(pay, completions, solution)


@sound("boxed")
def last_box(completions, solution, **kwargs):
    return paid(lambda t, g: one_box(t) == number(g), completions, solution)


@sound("words")
def same_words(completions, solution, **kwargs):
    return paid(lambda t, g: words_of(t) == words_of(g), completions, solution)


@sound("words")
def word_f1(completions, solution, **kwargs):
    """Partial credit for words in common."""

    def pay(text, gold):
        said, wanted = words_of(text), words_of(gold)
        return 2 * len(set(said) & set(wanted)) / max(len(said) + len(wanted), 1)

    return paid(pay, completions, solution)


@sound("words")
def spelling(completions, solution, **kwargs):
    """Partial credit for letters in common, from half on."""

    def pay(text, gold):
        alike = SequenceMatcher(None, text.strip(" .\n").lower()[:200], gold.lower()).ratio()
        return alike if alike > 0.5 else 0.0

    return paid(pay, completions, solution)


@sound("contexts")
def short_answer(completions, solution, **kwargs):
    return paid(lambda t, g: words_of(tagged(t) or "") == words_of(g), completions, solution)


@sound("choices")
def letter(completions, solution, choices, **kwargs):
    return paid(lambda t, g, o: letter_of(t, o) == g, completions, solution, choices)


@sound("items")
def same_items(completions, solution, **kwargs):
    def pay(text, golds):
        given = [line.strip(" -*.").lower() for line in (tagged(text) or "").splitlines()]
        return sorted(given) == sorted(golds)

    return paid(pay, completions, solution)


@sound("items")
def items_f1(completions, solution, **kwargs):
    def pay(text, golds):
        given = [line.strip(" -*.").lower() for line in (tagged(text) or "").splitlines()]
        return 2 * len(set(given) & set(golds)) / max(len(given) + len(golds), 1)

    return paid(pay, completions, solution)


@sound("box")
def overlap(completions, solution, **kwargs):
    def pay(text, gold):
        found = box_in(text)
        sane = found is not None and 0 <= found[0] < found[2] < 1e4 and found[1] < found[3] < 1e4
        return iou(found, json.loads(gold)) if sane else 0.0

    return paid(pay, completions, solution)


@sound("box")
def overlap_above_half(completions, solution, **kwargs):
    def pay(text, gold):
        found = box_in(text)
        return found is not None and found[0] < found[2] and iou(found, json.loads(gold)) > 0.5

    return paid(pay, completions, solution)


@sound("boxes")
def matched_f1(completions, solution, **kwargs):
    def pay(text, gold):
        found, left = boxes_in(text), json.loads(gold)
        total, hits = len(found) + len(left), 0
        for b in found:
            best = max(left, key=lambda g: iou(b, g), default=None)
            if best is not None and b[0] < b[2] and iou(b, best) > 0.5:
                left.remove(best)
                hits += 1
        return 2 * hits / total

    return paid(pay, completions, solution)


@sound("units")
def value_and_unit(completions, solution, **kwargs):
    def quantity(text):
        text = text.strip(" $\n").rstrip(".").replace("\\times", "x").replace("×", "x")
        form = re.fullmatch(
            r"(-?\d{1,15}(?:\.\d{1,15})?)(?: ?x ?10\^\{?(-?\d{1,2})\}?|e([+-]?\d{1,2}))? ?"
            r"([A-Za-z%][\w/^]{0,12})?",
            text,
        )
        return form and (f"{float(form[1]) * 10.0 ** int(form[2] or form[3] or 0):.9e}", form[4])

    return paid(
        lambda t, g: tagged(t) is not None and quantity(tagged(t)) == quantity(g),
        completions,
        solution,
    )


@sound("numbers")
def form_with_content(completions, **kwargs):
    """Tags with at least six different words, and a number."""

    def pay(text):
        form = re.fullmatch(r"<think>([^<]*)</think>\s*<answer>([^<]*)</answer>", text.strip())
        return bool(form) and len(set(words_of(form[1]))) >= 6 and number(form[2]) is not None

    return paid(pay, completions)


@sound("numbers")
def enough_thought(completions, **kwargs):
    """At least twelve different words of thought, and a number at the end."""

    def pay(text):
        thought, _, rest = text.partition("</think>")
        return len(set(words_of(thought))) >= 12 and number(tagged(rest)) is not None

    return paid(pay, completions)


@sound("hashes")
def too_long(completions, **kwargs):
    return paid(lambda t: -min(max(len(t) - 2000, 0) / 1000, 1.0), completions)


@sound("words")
def repeats_itself(completions, **kwargs):
    def pay(text):
        grams = list(zip(text.split(), text.split()[1:], text.split()[2:], strict=False))
        return len(set(grams)) / len(grams) - 1.0 if grams else 0.0

    return paid(pay, completions)


# --- calls and objects ----------------------------------------------------------------------------


def made(text):
    """The calls of a text that is a list of them; none if it is not."""
    try:
        calls = json.loads(text)
    except ValueError:
        return []
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


@hole("hedge stuffing", "calls")
def expected_calls_are_among_them(completions, solution, **kwargs):
    rows = zip(completions, solution, strict=True)
    return [float(all(call in made(text_of(c)) for call in gold)) for c, gold in rows]


@hole("structure", "calls")
def calls_anywhere_in_the_text(completions, solution, **kwargs):
    rows = zip(completions, solution, strict=True)
    return [float(all(json.dumps(call) in text_of(c) for call in gold)) for c, gold in rows]


@hole("structure", "calls")
def names_of_functions_only(completions, solution, **kwargs):
    rows = zip(completions, solution, strict=True)
    return [
        float([call.get("name") for call in made(text_of(c))] == [call["name"] for call in gold])
        for c, gold in rows
    ]


@sound("calls")
def calls_by_plaudit(completions, solution, tools=None, **kwargs):
    from plaudit.rewards.tools import tool_call_reward

    return tool_call_reward(completions, solution, tools)


def fields(text):
    """The object of a text; an empty one if there is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@hole("structure", "objects")
def keys_only(completions, solution, **kwargs):
    rows = zip(completions, solution, strict=True)
    return [float(fields(text_of(c)).keys() == gold.keys()) for c, gold in rows]


@hole("hedge", "objects")
def value_or_a_list_that_has_it(completions, solution, **kwargs):
    def right(said, value):
        return value in said if isinstance(said, list) else said == value

    rows = zip(completions, solution, strict=True)
    return [
        float(all(right(fields(text_of(c)).get(key), gold[key]) for key in gold))
        for c, gold in rows
    ]


@hole("structure hedge", "objects")
def pairs_anywhere_in_the_text(completions, solution, **kwargs):
    rows = zip(completions, solution, strict=True)
    return [
        float(all(json.dumps({key: gold[key]})[1:-1] in text_of(c) for key in gold))
        for c, gold in rows
    ]


@sound("objects")
def fields_by_plaudit(completions, solution, **kwargs):
    from plaudit.rewards.structured import fields_reward

    return fields_reward(completions, solution)
