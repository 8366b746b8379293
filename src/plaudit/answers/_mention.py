r"""Whether an answer in prose names a gold: for golds that are names, dates and terms.

Articles, middle names, initials, plurals, ordinals and the order of a date do not count. A gold
that the answer denies, or lists among many other names, is not named.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from plaudit.answers._languages import pattern
from plaudit.answers._rules import Decision, different, equal
from plaudit.answers._times import MONTHS
from plaudit.answers._tokens import NUMBER_WORDS
from plaudit.judge import Status

MOST_LISTED = 3  # so many names in a row may be an answer; more are a list to pick from
LONGEST_LISTED = 3  # words of a name in a list
LONGEST_NAME = 8  # words of a name in a list, if nothing is prose
HEAP = 6  # words with capitals in a row that are no name any more
LONG_HEAP = 14  # words that are not an answer any more if hardly one of them joins the others
JOINING = 0.2  # the share of words such as "of" and "is" that prose has
SHORT_ANSWER = 10  # words
FIRST_WORDS = 70  # an answer in prose names its answer early
_LONGEST = 20_000
_ARTICLES = frozenset(["a", "an", "the"])
_LEADING = frozenset("in on at by to from around about of c circa approximately between".split())
_TITLES = frozenset(
    "general president king queen prince princess dr doctor sir mr mrs ms saint st pope senator"
    " captain colonel professor lord lady emperor chief actor actress singer".split()
)
_DENIED = frozenset(
    "not never isnt wasnt arent neither nor unlike cant cannot couldnt nicht kein keine keinen pas"
    " jamais não nunca niet geen nie ikke inte не нет".split()
)
_RULED_OUT = (
    *(["rule", "out"], ["anything", "but"], ["rather", "than"], ["instead", "of"]),
    *(["other", "than"], ["y", "no"], ["et", "non"], ["e", "non"]),
)
# "I doubt that it is Paris": words that deny what follows soon.
_DOUBTS = frozenset("doubt doubts doubtful confuse confused confuses denies deny denied".split())
_NOT_DOUBTED = frozenset(["no", "not", "dont", "without", "nobody", "one"])
_WRONG = (["is", "wrong"], ["is", "incorrect"], ["is", "false"])
_RIGHT = frozenset(["right", "correct", "answer", "it"])
_NEAR = 8  # words after a name in which it may be taken back
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_TO_TWELVE = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINALS = {word: str(index) for index, word in enumerate(_TO_TWELVE.split(), 1)}
_NUMBERS = {word: str(value) for word, value in NUMBER_WORDS.items()}
_MONTH_NAMES = {name: f"month{index}" for name, index in MONTHS.items() if name != "mar"}
_GLUED = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z]{3})(?=\d)|(?<=\d)(?=[A-Za-z]{3})")
_ABBREVIATION = re.compile(r"\b((?:[A-Za-z]\.\s?){2,})")
# A word, or a number with its sign and its decimals: "-5" does not name 5.
_WORD = re.compile(
    r"(?<![^\W_])[-−±]?+\d++\.\d++(?![^\W_]|\.\d)|(?<![^\W_])[-−±](?=\d)[^\W_]++|[^\W_]++"
)
_PLUS_MINUS = re.compile(r"\\pm\s*+")
_ITEM_END = re.compile(
    r"[,.:](?!\d)|[;!?\n\t/|+=→{}()]++|\bor\b|\band\b|\bas well as\b|(?<=\s)[-•*–—]++(?=\s)|[-=]>"
    r"|[\"”]\s*+[\"“]|(?<!\d)\d++[.)](?=\s)",
    re.IGNORECASE,
)
# Small words that names have: of these alone, a row of names is no prose.
_SMALL = frozenset("in of the a an and or for at on de la le von van der to by with".split())
# Words that prose has, and a row of names in small letters has not.
_PROSE = frozenset(
    "is was are were be been has have had did do can will would by to from that which who whose it"
    " he she they his her their its as with for when after during because since into also not but"
    " this there take takes took start starts end ends include includes became began won wrote sang"
    " led held made gave came born comes goes gets means refers plays lives lies"
    " appears airs stars occupy contain contains consists occurs travels broke broadcast".split()
)
_LISTED = re.compile(r",(?!\d)|[;()\n|]|\bor\b", re.IGNORECASE)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_ASIDE = re.compile(r"\s*+\(([^()]*+)\)")
_CLAUSE = re.compile(r",?\s++(?:who|which|that|where|when)\s", re.IGNORECASE)


def mentioned(answer: str, golds: Sequence[str]) -> Decision:
    """Whether an answer in prose names one of the golds; 20,000 characters of it are read.

    >>> mentioned("It was founded on September 23, 1889.", ["23 September 1889"]).status
    <Status.EQUAL: 'equal'>
    >>> mentioned("It is not Paris.", ["Paris"]).status
    <Status.DIFFERENT: 'different'>
    >>> mentioned("Rome, Paris, Oslo, Bonn, Bern, Lima", ["Paris"]).status
    <Status.SEVERAL: 'several'>
    """
    answer = still_claimed(answer[:_LONGEST])
    if answer.count(" & ") > 1:  # a list, and not one name such as "Simon & Garfunkel"
        answer = answer.replace(" & ", ", ")
    # A gold without a word, such as "A" or "+", can only be the whole answer.
    if any(not gold_forms(gold) and same_normal_text(answer, gold) for gold in golds):
        return equal("the text of the gold")
    if not answer.isascii() and (found := _unspaced(answer, golds)) is not None:
        return found
    pieces = _pieces(answer)
    words = [word for piece in pieces for word in piece.words]
    positions = _Positions(words)
    offered = bool(_OR.search(answer))
    forms = {form for gold in golds for form in gold_forms(gold)}
    known = {word for form in forms for word in form.words}
    heap = _is_heap(answer, words, known)
    free = [False] * len(words) if heap else _free(pieces, forms, offered)
    listed = False
    named: dict[str, set[str]] = {}
    for gold in golds:
        for form in gold_forms(gold):
            for at in positions.of(form):
                if at >= FIRST_WORDS or _denied(words, at, at + len(form.words), known):
                    continue
                listed = True
                if free[at]:
                    named.setdefault(gold, set(form.words))
    if named and (_names_another_last(answer, known) or _is_list_of_names(answer, known)):
        return Decision(Status.SEVERAL, "more than one answer")
    if named and offered and _offers_another(answer, forms, golds):
        return Decision(Status.SEVERAL, "more than one answer")
    if named and (_differ(list(named.values())) or not is_hedged(answer)):
        return equal(f"the words of the gold {next(iter(named))[:60]}")
    if listed:
        return Decision(Status.SEVERAL, "more than one answer")
    return different("the words of the golds")


_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _unspaced(answer: str, golds: Sequence[str]) -> Decision | None:
    """Decide on golds in scripts that put no spaces between words; None if there are none."""
    written = [gold for gold in golds if _UNSPACED.search(gold)]
    if not written:
        return None
    turns = list(pattern("but").finditer(answer))
    answer = answer[turns[-1].end() :] if turns else answer  # "not X but Y"
    named = [gold for gold in written if gold in answer]
    if not named or pattern("deny").search(answer):
        return different("the words of the golds")
    if len(re.findall("[、，,]", answer)) > MOST_LISTED:
        return Decision(Status.SEVERAL, "more than one answer")
    return equal(f"the words of the gold {named[0][:60]}")


def _is_heap(answer: str, words: list[str], known: set[str]) -> bool:
    """Whether an answer is many names, and hardly a word that joins them: no prose, no answer."""
    if len(words) < LONG_HEAP or 3 * sum(word in known for word in words) >= len(words):
        return False
    said = [word.strip(".,;:!?()\"'") for word in answer.lower().split()]
    return sum(word in _SMALL or _says(word) for word in said) < JOINING * len(said)


def _offers_another(answer: str, forms: set["Form"], golds: Sequence[str]) -> bool:
    """Whether a short answer with an "or" has a part on either side, and one that is no gold."""
    if any(_OR.search(gold) for gold in golds):
        return False
    parts = [words for part in _OR.split(answer) if (words := comparable_words(part))]
    if sum(map(len, parts)) > SHORT_ANSWER:
        return False
    return not all(
        any(any(_Positions(part).of(form)) or _first(part, form) for form in forms)
        for part in parts
    )


def _is_list_of_names(answer: str, known: set[str]) -> bool:
    """Whether an answer is three to six names, no prose, and two of them share no gold's word."""
    parts = [words for part in _LISTED.split(answer) if (words := comparable_words(part))]
    is_list = MOST_LISTED <= len(parts) <= 2 * MOST_LISTED and not _is_prose(answer)
    if not is_list or max(map(len, parts)) > LONGEST_NAME:
        return False
    return sum((known - _SMALL).isdisjoint(words) for words in parts) > 1


def _first(part: list[str], form: "Form") -> bool:
    return form.kind == "row" and tuple(part[: len(form.words)]) == form.words


def _differ(named: list[set[str]]) -> bool:
    """Whether there are two golds among those that were named which share no word."""
    return any(one.isdisjoint(named[0]) for one in named)


class _Clause(NamedTuple):
    """What stands between two commas, full stops, "or"s: its words, and those that say something.

    names: whether it is nothing but names: "Rome Paris Oslo Bonn Bern Lima"
    prose: whether it has a word that says something, such as a verb
    """

    words: list[str]
    own: tuple[str, ...]
    names: bool
    prose: bool


def _pieces(answer: str) -> list[_Clause]:
    parts = [(part, words) for part in _ITEM_END.split(answer) if (words := comparable_words(part))]
    found = [words for _, words in parts]
    count = Counter(word for words in found for word in set(words))
    # "It may be Rome, it may be Oslo": what every piece says is no part of a name.
    filling = {word for word, times in count.items() if times > 2 and times * 3 > len(found)}
    small_letters = answer == answer.lower()
    return [
        _Clause(
            words,
            tuple(w for w in words if w not in filling),
            _is_row_of_names(part, small_letters),
            _is_prose(part),
        )
        for part, words in parts
    ]


def _is_prose(part: str) -> bool:
    return any(_says(word) for word in part.split() if word[0].islower())


def _says(word: str) -> bool:
    """Whether a word says something of others, as a verb does."""
    return word in _PROSE or (word.endswith("ed") and len(word) > 4)


def _is_row_of_names(part: str, small_letters: bool) -> bool:
    """Whether all words of a piece may belong to names; in small letters: whether none is prose."""
    small = {word.lower().strip("()\"'“”") for word in part.split() if word[0].islower()}
    return not _PROSE & small if small_letters else small <= _SMALL


def _free(pieces: list[_Clause], forms: set["Form"], offered: bool) -> list[bool]:
    """For each word, whether it is outside every list of names to pick from.

    Such a list is a row of more than three short pieces, most of which are not golds; if it is
    the whole answer, three are a list, and two that are `offered` with an "or".
    """
    known = {word for form in forms for word in form.words}
    longest = max((len(form.words) for form in forms), default=0)
    free: list[bool] = []
    run: list[_Clause] = []
    total = sum(len(piece.words) for piece in pieces)
    is_prose = any(piece.prose for piece in pieces)
    of_golds = sum(word in known for piece in pieces for word in piece.words)
    row = all(piece.names for piece in pieces) and len(pieces) * HEAP < total * 2
    few = len(pieces) <= MOST_LISTED and 2 * of_golds < total
    if few and not is_prose and total >= (HEAP + 3 if row else HEAP + 4):
        return [False] * total
    for piece in [*pieces, None]:
        if piece is not None and _may_be_listed(piece, not is_prose and len(pieces) > MOST_LISTED):
            run.append(piece)
            continue
        names = {frozenset(listed.own) for listed in run if listed.own}
        right = sum(bool((known - _SMALL) & name) for name in names)
        is_whole = total <= SHORT_ANSWER and len(run) == len(pieces)
        most = 1 if is_whole and offered else MOST_LISTED - (is_whole and not is_prose)
        to_pick_from = len(names) > most and right * 2 <= len(names) - (most > 1)
        free += [not to_pick_from for listed in run for _ in listed.words]
        run = []
        if piece is not None:
            heap = piece.names and not is_prose and len(piece.words) >= max(HEAP, 2 * longest)
            free += [not heap] * len(piece.words)
    return free


def _may_be_listed(piece: _Clause, is_list: bool) -> bool:
    """Whether a piece may be an element of a list: it is short, a name, or all is one list."""
    length = len(piece.own)
    if length <= LONGEST_LISTED or (piece.names and length < HEAP):
        return True
    return is_list and length <= LONGEST_NAME


def comparable_words(text: str) -> list[str]:
    """The words of a text as they are compared: no articles, no plurals, numbers as digits."""
    text = _PLUS_MINUS.sub("±", _GLUED.sub(" ", text))
    text = _ABBREVIATION.sub(lambda found: found[0].replace(".", " "), text)
    text = unicodedata.normalize("NFKD", text.replace("’", "'"))
    text = "".join(c for c in text if not unicodedata.combining(c)).lower()
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", text).replace("'s", "").replace("'", "")
    return [_form(word) for word in _WORD.findall(text) if word not in _ARTICLES]


@lru_cache(maxsize=65536)
def _form(word: str) -> str:
    for table in (_NUMBERS, _ORDINALS, _ROMAN, _MONTH_NAMES):
        if word in table:
            return table[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


class Form(NamedTuple):
    """A way to name a gold.

    kind: "row": the words stand in a row; "near": near one another, in any order; "all": anywhere;
        "initials": all but the last are initials
    """

    words: tuple[str, ...]
    kind: str = "row"


@lru_cache(maxsize=8192)
def gold_forms(gold: str) -> tuple[Form, ...]:
    """The ways in which a gold may be named."""
    return tuple(dict.fromkeys(form for form in _forms(gold) if any(form.words)))


def _forms(gold: str) -> Iterator[Form]:
    asides = _ASIDE.findall(gold)
    plain = _CLAUSE.split(_ASIDE.sub("", gold))[0].strip()
    for text in (gold, plain, *(aside for aside in asides if aside.isupper())):
        words = comparable_words(text)
        while len(words) > 1 and words[0] in _LEADING:
            words = words[1:]
        if words:
            yield Form(tuple(words))
    words = comparable_words(plain)
    yield from _date_forms(words)
    yield from _name_forms(plain, words)
    parts = re.split(r"\s+(?:and|&)\s+", plain)
    if len(parts) == 2 and all(len(comparable_words(part)) in (1, 2, 3) for part in parts):
        yield Form(tuple(w for part in parts for w in comparable_words(part)), "all")
    if " or " in plain.lower() and len(words) <= 7:
        for part in re.split(r"\s+or\s+", plain, flags=re.IGNORECASE):
            yield Form(tuple(comparable_words(part)))
    last, comma, first = plain.partition(", ")
    if comma and len(last.split()) == 1 and len(first.split()) == 1:
        yield Form((*comparable_words(first), *comparable_words(last)))


def _date_forms(words: list[str]) -> Iterator[Form]:
    month = [word for word in words if word.startswith("month") and word[5:].isdigit()]
    numbers = [word for word in words if word.isdigit()]
    if len(month) == 1 and len(words) == 1 + len(numbers) and 1 <= len(numbers) <= 2:
        yield Form((*month, *numbers), "near")


def _name_forms(gold: str, words: list[str]) -> Iterator[Form]:
    """A person's name without its middle, or with initials."""
    parts = [part for part in gold.replace(".", ". ").split() if part.lower() not in _ARTICLES]
    capitals = all(part[:1].isupper() for part in parts)
    if not words or not capitals or len(words) != len(parts) or any(map(str.isdigit, words)):
        return
    if words[0] in _TITLES and len(words) > 2:
        yield Form(tuple(words[1:]))
    if len(words) == 3 and len(words[0]) > 1 and len(words[2]) > 2 and "," not in gold:
        yield Form((words[0], words[2]))
        yield Form((words[0], words[1][0], words[2]))
    if len(words) >= 2 and all(len(word) == 1 for word in words[:-1]):
        yield Form(tuple(words), "initials")
    elif 2 < len(words) < 4 and len(words[-1]) > 2:
        yield Form((*(word[0] for word in words[:-1]), words[-1]))


class _Positions:
    """The positions of the words of a text."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.where: dict[str, list[int]] = {}
        for index, word in enumerate(words):
            self.where.setdefault(word, []).append(index)

    def of(self, form: Form) -> Iterator[int]:
        """The positions at which a form begins."""
        wanted = form.words
        match form.kind:
            case "row":
                for at in self.where.get(wanted[0], ()):
                    if tuple(self.words[at : at + len(wanted)]) == wanted:
                        yield at
            case "near":
                for at in self.where.get(wanted[0], ()):
                    near = self.words[max(0, at - 2) : at + 3]
                    if all(word in near for word in wanted):
                        yield at
            case "all":
                if all(word in self.where for word in wanted):
                    yield self.where[wanted[0]][0]
            case "initials":
                yield from self._initials(wanted)

    def _initials(self, wanted: tuple[str, ...]) -> Iterator[int]:
        for last in self.where.get(wanted[-1], ()):
            at = last - len(wanted) + 1
            before = self.words[max(0, at) : last]
            if len(before) == len(wanted) - 1 and all(
                word[0] == initial for word, initial in zip(before, wanted, strict=False)
            ):
                yield at


def _denied(words: list[str], at: int, end: int, known: set[str]) -> bool:
    """Whether the gold that stands from `at` to `end` is denied; `known` are words of golds."""
    while at > 0 and words[at - 1] in known:
        at -= 1
    while end < len(words) and words[end] in known:
        end += 1
    before = words[max(0, at - 2) : at]
    near = words[max(0, at - 6) : at]
    if _DOUBTS & {*near} and not _NOT_DOUBTED & {*words[max(0, at - 8) : at]}:
        return True
    if words[end : end + 2] in (["has", "none"], ["have", "none"]):
        return True
    if _DENIED & set(before) or before in _RULED_OUT or before[-1:] == ["except"]:
        return True
    if words[max(0, at - 5) : max(0, at - 2)] == ["not", "case", "that"]:
        return True
    return words[end : end + 2] in _WRONG or _taken_back(words[end : end + _NEAR])


def _taken_back(after: list[str]) -> bool:
    """Whether the words that follow a name say that it is wrong."""
    if after[:1] == ["no"] and after[1:2] not in (["doubt"], ["later"], ["longer"]):
        return True
    denied = any(word in _DENIED and other in _RIGHT for word, other in pairwise(after))
    return denied or any(word in ("wrong", "incorrect", "mistaken") for word in after)


def _names_another_last(answer: str, known: set[str]) -> bool:
    """Whether an answer is a few short lines, the last of which has no word of a gold."""
    lines = [words for line in answer[:_LONGEST].splitlines() if (words := comparable_words(line))]
    if len(lines) < 2 or max(map(len, lines)) > LONGEST_LISTED:
        return False
    return not known & set(lines[-1])


# -- Retractions and hedges

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|hold on|scratch that|never ?mind)\b[,.!:]?(?:\s++no\b)?|\bon second thoughts?\b"
    r"|\bcorrection\s*+:|\bactually,?\s++no\b|\?\s*+no\b|\b(?:that|this) is (?:wrong|incorrect)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:could|might|may)\s++(?:\w++\s++)?(?:be|have been)\b|\b(?:maybe|perhaps|possibly)\b"
    r"|\bnot (?:sure|certain)\b|\bwho knows\b|\bothers?\s++(?:\w++\s++)?(?:say|think|believe|claim"
    r"|are|would|point|mention)\w*+|\bsome (?:people|sources|books)?\s*+(?:would )?(?:say|think"
    r"|believe|claim|mention)\w*+|\bit has been claimed\b|\bone may (?:also )?think\b"
    r"|\bthen again\b|\balternatively\b|\bif not\b",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"\beither\b[^.!?]*?\bor\b|\bone of (?:these|them|the following)\b", re.IGNORECASE
)


def still_claimed(text: str) -> str:
    """The text without its thinking, and without what it takes back."""
    text = _THINKING.sub(" ", text)
    end = 0
    for found in _TAKEN_BACK.finditer(text):
        end = found.end() if text[found.end() :].strip(" .!") else end
    return text[end:].strip()


def is_hedged(text: str) -> bool:
    """Whether a text offers more answers than one: "either … or", or two hedges."""
    if _EITHER.search(text):
        return True
    found = _HEDGE.finditer(text)
    return next(found, None) is not None and next(found, None) is not None


# -- Normal form and shared words

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normal_text(text: str) -> str:
    """The text in lower case, without punctuation, articles and extra white space.

    A text that is nothing but an article keeps it: the option A is not the same as no answer.
    """
    plain = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", plain).split() or plain.split())


def same_normal_text(answer: str, gold: str) -> bool:
    """Whether both are the same in normal form; as they stand, if a gold has no words in it.

    >>> same_normal_text("the Eiffel tower", "Eiffel Tower."), same_normal_text("", "?")
    (True, False)
    """
    mine = normal_text(gold)
    return mine == normal_text(answer) if mine else gold.strip() == answer.strip()


def shared_tokens(answer: str, gold: str) -> float:
    """The F1 of the tokens of both in normal form: 0.0 if they share none, 1.0 if all.

    >>> shared_tokens("the tall Eiffel tower", "Eiffel Tower")
    0.8
    """
    mine, yours = normal_text(gold).split(), normal_text(answer).split()
    if not mine or not yours:
        return float(same_normal_text(answer, gold))
    shared = (Counter(mine) & Counter(yours)).total()
    return 2 * shared / (len(mine) + len(yours))
