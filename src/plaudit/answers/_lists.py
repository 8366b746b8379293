r"""Answers of several parts: bullets, tables, "cows, pigs and hens", (a) and (b), "mean: 6.2".

A list is compared element by element, in any order unless the question asks for one. Parts are
compared by their labels, else in the order of the question.
"""

import re
from collections.abc import Callable

from plaudit.answers._text import words_of

Same = Callable[[str, str], bool]

MOST_ITEMS = 20  # a pair of items costs some 50 µs
_BULLET = re.compile(r"^\s*+(?:[-*•–▪]|\d{1,2}[.)]|\([a-z\d]\)|[a-z][.)])\s++(\S.*)$")
_LABEL = re.compile(r"(?:^|(?<=\s))(?:\(([a-z]|\d|i{1,3}|iv)\)|(\d|[a-z])\))\s*+", re.IGNORECASE)
_NUMBERED_LINE = re.compile(r"^[ \t]*+(\d{1,2})[.)]\s++", re.MULTILINE)
_SEPARATOR = re.compile(
    r"\s*+(?:→|⇒|->)\s*+|\s*+[,;](?!\d)\s*+(?:and\s++)?|\s++(?:and|&|und|et|y|e|и)\s++|\n+"
)
_GOLD_SEPARATOR = re.compile(r"\s*+[,;]\s++(?:and\s++)?|\s++and\s++|,(?=\D)")
_NAMED = re.compile(
    r"^\s*+[*_]*+([^\W\d_][^:=\n]{0,40}?)[*_]*+\s*+(?::|=|\bis\b|\bare\b|\bwas\b)[*_\s]*+"
)
_LEADING_WORDS = re.compile(r"^([^\W\d_]{2,}+)\s++(?=[\d(\\-]|[a-z]\s?=)")
_NUMBER_AND_NOUN = re.compile(r"^\$?-?\d[\d.,]*+\s++([^\W\d_]{2,}+)$")
_MARKS = re.compile(r"[*_`]{1,3}|^[ \t]*+>\s?|\\\(|\\\)|\$(?!\d)", re.MULTILINE)
_STARS = re.compile(r"^[ \t]*+\*\s", re.MULTILINE)
_BRACKETED = re.compile(r"\s*+[\[{(](.*)[\])}]\s*+", re.DOTALL)
_ORDER = re.compile(
    r"\b(?:rank|sort|order(?!ed pair)|arrange|sequence|permutation|ascending|descending"
    r"|chronological\w*|from (?:first|least|smallest"
    r"|lowest|largest|greatest|highest|oldest|earliest"
    r"|youngest|shortest|longest|lightest|heaviest) to)\b",
    re.IGNORECASE,
)
_FILLING = frozenset(
    "there were are is was also few some several many"
    " a an the and then finally first next last both"
    " all as well of following include includes including are they it we have has found"
    " consists only just namely answer answers option options".split()
)
_STATING = frozenset(
    "is are was were be include includes contain contains named have has had got saw need needs use"
    " uses following".split()
)
_ELEMENT = re.compile(r"(?<![\w'])(?:[A-Z]|\d{1,2})(?![\w'])")


def asks_for_order(question: str) -> bool:
    """Whether a question asks for its parts in an order."""
    return bool(_ORDER.search(question))


def items_of(text: str) -> list[str]:
    """Return the items of bullets, numbered lines, a table, brackets or commas.

    >>> items_of("The colours are\\n- blue\\n- **red**"), items_of("['a', 'b']")
    (['blue', 'red'], ['a', 'b'])
    """
    plain = _MARKS.sub("", _STARS.sub("- ", text)).strip()
    lines = plain.splitlines()
    bullets = [found[1].strip(" .") for line in lines if (found := _BULLET.match(line))]
    if len(bullets) > 1:
        return bullets[:MOST_ITEMS]
    if rows := table_rows(text):
        return [row[0] for row in rows]
    bracketed = _BRACKETED.fullmatch(plain)
    inside = bracketed[1] if bracketed else plain
    parts = [part.strip(" .'\"“”\n") for part in _SEPARATOR.split(inside)[:MOST_ITEMS]]
    return [part for part in parts if part]


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of a table in Markdown, without its head."""
    rows = [
        [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.lstrip().startswith("|")
    ]
    rules = [
        at for at, row in enumerate(rows) if row and all(set(cell) <= set(":- ") for cell in row)
    ]
    return rows[rules[0] + 1 :][:MOST_ITEMS] if rules else []


def same_list(gold: str, answer: str, question: str, same: Same) -> bool:
    """Whether an answer lists what the gold lists, no more and no less."""
    wanted = gold_items(gold)
    if len(wanted) < 2:
        return False
    found = items_of(answer)
    if len(found) != len(wanted):
        return False
    asked = {*words_of(question)}
    if asks_for_order(question):
        pairs = zip(found, wanted, strict=True)
        return all(_is_item(*pair, asked, at == 0, same) for at, pair in enumerate(pairs))
    left = list(wanted)
    for at, item in enumerate(found):
        match = next((one for one in left if _is_item(item, one, asked, at == 0, same)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def gold_items(gold: str) -> list[str]:
    """Return the items of a gold that is a list; one if it is none."""
    plain = _MARKS.sub("", gold).strip()
    if _LABEL.match(plain):
        return [part for _, part in labelled(plain)]
    bracketed = _BRACKETED.fullmatch(plain)
    inside = bracketed[1] if bracketed and plain[0] in "[{" else plain
    depth_free = re.sub(r"\([^()]*\)", lambda found: found[0].replace(",", "\x00"), inside)
    parts = [
        part.strip(" '\"\n").replace("\x00", ",") for part in _GOLD_SEPARATOR.split(depth_free)
    ]
    return [part for part in parts if part][:MOST_ITEMS]


def _is_item(item: str, wanted: str, asked: set[str], is_first: bool, same: Same) -> bool:
    """Whether a part of a list is the wanted item, with words such as "also a few" before it."""
    mine, yours = words_of(wanted), words_of(item)
    lead, end = yours[: len(yours) - len(mine)], yours[len(yours) - len(mine) :]
    if mine and end == mine:
        free = [word for word in lead if word not in _FILLING and word not in asked]
        if not free or (is_first and lead[-1] in _STATING):
            return True
    return same(item, wanted)


# -- Sequences


def sequence_of(text: str) -> list[str]:
    """Return the letters and small numbers of an order: "First (2), then (1)" is 2, 1."""
    plain = text.strip(" .")
    if re.fullmatch(r"[A-Z]{2,}|\d{3,}", plain):
        return list(plain)
    return _ELEMENT.findall(plain.replace("-", " "))


def same_sequence(gold: str, answer: str) -> bool | None:
    """Whether two texts name the same elements in the same order; None if the gold is no order."""
    wanted = sequence_of(gold)
    named = re.sub(r"[\s,;>→()<-]|\band\b|\bthen\b", "", gold.strip(" ."))
    if len(wanted) < 3 or "".join(wanted) != named:
        return None
    if ">" in gold or "<" in gold:
        return None
    return sequence_of(answer) == wanted


# -- Parts


def labelled(text: str) -> list[tuple[str, str]]:
    """Return the parts of a text with their labels: (a) and (b), 1) and 2).

    >>> labelled("(a) 3 boys and (b) 4 girls")
    [('a', '3 boys and'), ('b', '4 girls')]
    """
    text = _NUMBERED_LINE.sub(r"(\1) ", text)
    found = list(_LABEL.finditer(text))
    if not found:
        return []
    ends = [*(one.start() for one in found[1:]), len(text)]
    return [
        ((one[1] or one[2]).lower(), text[one.end() : end].strip(" \n,;"))
        for one, end in zip(found, ends, strict=True)
    ][:MOST_ITEMS]


def same_parts(gold: str, answer: str, question: str, same: Same) -> bool | None:
    """Whether each part of the answer is that of the gold; None if there are no parts.

    same: whether the text of a part states a gold
    """
    plain = _MARKS.sub("", answer).strip()
    mine = _MARKS.sub("", gold).strip()
    if _LABEL.match(mine) and len(labelled(mine)) > 1:
        yours = dict(labelled(plain))
        if not yours:
            listed = items_of(plain)
            yours = dict(zip([label for label, _ in labelled(mine)], listed, strict=False))
        return all(label in yours and same(yours[label], value) for label, value in labelled(mine))
    items = gold_items(gold)
    if len(items) < 2:
        return None
    names = [_name_and_value(item) for item in items]
    if all(names):
        return _same_named([one for one in names if one], plain, same)
    ordered = {found[1].lower(): found[2] for found in _ORDINAL_PART.finditer(plain)}
    if len(ordered) == len(items) and [*_ORDINALS[: len(items)]] == sorted(
        ordered, key=_ORDINALS.index
    ):
        return all(
            same(ordered[label], item) for label, item in zip(_ORDINALS, items, strict=False)
        )
    parts = labelled(plain)
    named = all(re.search(rf"(?<!\w){label}(?!\w)", question) for label, _ in parts)
    if len(parts) == len(items) > 1 and named and not asks_for_order(question):
        return all(same(part, item) for (_, part), item in zip(parts, items, strict=True))
    return _in_order_of_nouns(items, plain, question)


_ORDINALS = ("first", "second", "third", "fourth")
_ORDINAL_PART = re.compile(
    r"\b(first|second|third|fourth)\b[^.;,]{0,40}?\s(?:is|was|are|equals|has|gets)\s([^\s,;]{1,40})",
    re.IGNORECASE,
)


def _name_and_value(item: str) -> tuple[str, str] | None:
    """A part with its name: "mean 6.2", "sender: Alice", "16 hours"."""
    found = _LEADING_WORDS.match(item) or _NAMED.match(item)
    if found:
        return found[1].lower(), item[found.end() :]
    counted = _NUMBER_AND_NOUN.match(item)
    return (counted[1].lower(), item) if counted else None


def _same_named(names: list[tuple[str, str]], answer: str, same: Same) -> bool:
    clauses = re.split(
        r"\n+|;|,\s++and\s++|\s++and\s++(?=the\s)|,\s++(?=the\s|[A-Z])|(?<=[^.])\.\s++(?=[A-Z])",
        answer,
    )
    values: dict[str, str] = {}
    for clause in clauses:
        clause = re.sub(r"^\s*+(?:and\s++)?(?:the\s++)?", "", clause, flags=re.IGNORECASE)
        found = _name_and_value(clause)
        if found:
            values.setdefault(found[0], found[1])
    return all(
        name in values and same(values[name].strip(" .,"), _bare(value, name))
        for name, value in names
    )


def _bare(value: str, name: str) -> str:
    """The value of a part without its noun: "16 hours" is 16 under the label "hours"."""
    return re.sub(rf"\s++{re.escape(name)}$", "", value, flags=re.IGNORECASE).strip()


def _in_order_of_nouns(items: list[str], answer: str, question: str) -> bool | None:
    """Whether counted things come in the question's order: "11 apples, 6 pears and 2 plums"."""
    found = [_NUMBER_AND_NOUN.match(item) for item in items_of(answer)]
    if len(found) != len(items) or not all(found):
        return None
    asked = words_of(question)
    counted = [(one[1].lower(), one[0].split()[0]) for one in found if one]
    if len({noun for noun, _ in counted}) < 2 or any(noun not in asked for noun, _ in counted):
        return None
    counted.sort(key=lambda one: asked.index(one[0]))
    return [value for _, value in counted] == [item.split()[0] for item in items]


def is_out_of_order(gold: str, answer: str, question: str) -> bool:
    """Whether equal lists are in another order than the question asks for."""
    if not question:
        return False
    items = gold_items(gold)
    if len(items) < 2:
        return False
    if asks_for_order(question):
        mine, yours = same_sequence(gold, answer), [words_of(item) for item in items_of(answer)]
        wanted = [words_of(item) for item in items]
        return mine is False or (
            mine is None and sorted(yours) == sorted(wanted) and yours != wanted
        )
    return _in_order_of_nouns(items, answer, question) is False
