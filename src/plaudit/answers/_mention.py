r"""Whether an answer in prose names a gold: for golds that are names, dates and terms.

Articles, middle names, initials, plurals, ordinals and the order of a date do not count. A gold
that the answer denies, or lists among many other names, is not named.
"""

import re
import string
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from plaudit.answers._claims import is_denied
from plaudit.answers._languages import find, find_all, words_in
from plaudit.answers._lists import table_rows
from plaudit.answers._prose import is_claimed, without_question
from plaudit.answers._quantities import find_unit
from plaudit.answers._ranges import range_of_gold, same_range
from plaudit.answers._rules import Decision, different, equal
from plaudit.answers._text import initials, plain_letters, plain_name, with_acronyms
from plaudit.answers._times import MONTHS, dates_in, read_date, same_date
from plaudit.answers._tokens import NUMBER_WORDS
from plaudit.inputs.extract import after_thinking
from plaudit.judge import Status

MOST_LISTED = 3  # so many names in a row may be an answer; more are a list to pick from
LONGEST_LISTED = 3  # words of a name in a list
LONGEST_NAME = 8  # words of a name in a list, if nothing is prose
HEAP = 6  # words with capitals in a row that are no name any more
LONG_HEAP = 14  # words that are not an answer any more if hardly one of them joins the others
JOINING = 0.2  # the share of words such as "of" and "is" that prose has
SHORT_ANSWER = 10  # words
FIRST_WORDS = 70  # an answer in prose names its answer early
_LONGEST = 6000
_ARTICLES = frozenset(["a", "an", "the"])
_LEADING = frozenset("in on at by to from around about of c circa approximately between".split())
_TITLES = frozenset(
    "general president king queen prince princess dr doctor sir mr mrs ms saint st pope senator"
    " captain colonel professor lord lady emperor chief actor actress singer".split()
)
_RULED_OUT = frozenset(
    tuple(pair.split())
    for pair in (
        *("rule out", "rather than", "instead of", "no es", "no era", "no son", "no fue"),
        *("nao e", "non e", "y no", "et non", "e non"),
    )
)
_WRONG = tuple(["is", word] for word in ("wrong", "incorrect", "false", "ruled", "out"))
_NEAR = 8  # words after a name in which it may be taken back
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_NUMBERS = {word: str(value) for word, value in NUMBER_WORDS.items()}
_MONTH_NAMES = {name: f"month{index}" for name, index in MONTHS.items() if name != "mar"}
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_UMLAUTS = re.compile("([aou])e(?=[^aeiou])")
_GLUED = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z]{3})(?=\d)|(?<=\d)(?=[A-Za-z]{3})")
_ABBREVIATION = re.compile(r"\b((?:[A-Za-z]\.\s?){2,})")
# A word, or a number with its sign and its decimals: "-5" does not name 5.
_WORD = re.compile(
    r"(?<![^\W_])[-−±]?+\d++\.\d++(?![^\W_]|\.\d)|(?<![^\W_])[-−±](?=\d)[^\W_]++|[^\W_]++"
)
_PLUS_MINUS = re.compile(r"\\pm\s*+")
_ITEM_END = re.compile(
    r",(?!\d|\s(?:dass|daß|что|że|že|hogy)\s)|[.:](?!\d)"
    r"|[;!?\n\t/|+=→{}()]++|\bor\b|\band\b|\bas well as\b|(?<=\s)[-•*–—]++(?=\s)|[-=]>"
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


def mentioned(answer: str, golds: Sequence[str], question: str = "") -> Decision:
    """Whether an answer in prose names one of the golds; 6,000 characters of it are read.

    question: what was asked, so that what repeats it does not count

    >>> mentioned("It was founded on September 23, 1889.", ["23 September 1889"]).status
    <Status.EQUAL: 'equal'>
    >>> mentioned("It is not Paris.", ["Paris"]).status
    <Status.DIFFERENT: 'different'>
    >>> mentioned("Rome, Paris, Oslo, Bonn, Bern, Lima", ["Paris"]).status
    <Status.SEVERAL: 'several'>
    """
    answer = without_question(still_claimed(answer[:_LONGEST]), question)
    answer = _ASKING.sub(" ", _REFUSED_FIRST.sub("", answer))
    answer = _REMARK.sub(" ", _IN_FAVOUR.sub("but", answer))
    if not _CANDIDATE_WORDS.isdisjoint(words_in(answer)):
        answer = _without_candidates(answer)
    if _ONLY_QUESTION.fullmatch(answer):
        return different("a question")
    found = _by_value(answer, golds)
    if found is None:
        found = _by_words(_spelled(answer, golds, question), golds, question)
    if found.equal:
        return found
    for part in _closing_parts(answer, found.status is Status.SEVERAL):
        again = _by_words(_spelled(part, golds, question), golds, question)
        if again.equal:
            return again
    return found


def _by_value(answer: str, golds: Sequence[str]) -> Decision | None:
    """Decide on golds that are dates, ranges and units; None if the words decide."""
    if len(answer) > _LONGEST_VALUE:
        return None
    for gold in golds:
        date = read_date(gold)
        if date is not None and any(one.year or one.month for one in [date]):
            dates = dates_in(answer)
            bounded = _BOUNDED_DATE.search(answer)
            if len({*dates}) != 1 or bounded or not is_claimed(answer):
                continue
            if same_date(date, dates[0]):
                return equal(f"the date {gold[:60]}")
        limits = range_of_gold(gold)
        if limits is not None and same_range(limits, answer):
            return equal(f"both ends of {gold[:60]}")
        if "/" in gold and _names_rate(answer, gold):
            return equal(f"the unit {gold[:60]}")
    return None


def _names_rate(answer: str, gold: str) -> bool:
    """Whether an answer names a unit such as km/h in words: "kilometres per hour"."""
    parts = [find_unit(part) for part in gold.split("/")]
    if len(parts) != 2 or None in parts:
        return False
    return any([find_unit(one[1]), find_unit(one[2])] == parts for one in _PER.finditer(answer))


def _closing_parts(answer: str, is_list: bool) -> Iterator[str]:
    """The parts of an answer that may be all of it: a decision, and what comes after a colon."""
    decided = deque(_DECIDES.finditer(answer), maxlen=1)
    if decided:
        yield answer[decided[0].end() :]
    head, colon, tail = answer.rpartition(": ")
    is_denied = find("deny", head[-20:])
    if colon and tail.strip() and len(tail) < _LONGEST_VALUE and not is_denied and not is_list:
        yield tail
    without = _ASIDE.sub(lambda aside: " " if _is_prose(aside[1]) else aside[0], answer)
    if without != answer and without.strip():
        yield without
    rows = table_rows(answer)
    if len(rows) == 1:
        yield rows[0][-1]


def _spelled(answer: str, golds: Sequence[str], question: str) -> str:
    """The answer without people and things that are only related to it, acronyms in full."""
    asked = question.lower()
    answer = _POSSESSOR.sub(lambda one: one[0] if one[2] in asked else one[2], answer)
    answer = _RELATED.sub(lambda one: one[0] if one[1].lower() in asked else " ", answer)
    if " than " not in asked and (" than " in answer or " as " in answer):
        answer = _COMPARED.sub(" ", answer)
    answer = _BOUNDED_YEAR.sub(lambda one: one[0] if one[1].lower() in asked else " ", answer)
    answer = _STATE.sub(lambda code: f", {STATES[code[1]]}", answer)
    if any(_COMPASS.search(gold) for gold in golds):
        answer = _COMPASS_LETTER.sub(lambda one: _COMPASS_WORDS[one[1]], answer)
    answer = plain_name(answer)
    short = {one[0].replace(".", "").replace(" ", "") for one in _ACRONYM.finditer(answer)}
    if short or any(gold.isupper() for gold in golds):
        for gold in golds:
            if (gold.isupper() and gold not in answer) or initials(gold) in short:
                answer = with_acronyms(answer, gold)
    return answer


_LONGEST_VALUE = 400
_IN_FAVOUR = re.compile(r"\bin favou?r of\b", re.IGNORECASE)
# A remark after the answer: "Note that Pluto is a dwarf planet."
_REMARK = re.compile(
    r"(?<=[.!?]\s)(?:note that|keep in mind|(?:a |one )?fun fact|by the way|remember that|for"
    r" comparison|by contrast|in contrast)\b[^.!?\n]{0,300}",
    re.IGNORECASE,
)
# A name that is only considered, or was right once: "You might be thinking of Rome; it is Paris."
_CANDIDATE = re.compile(
    r"\b(?:you (?:might|may|could|must|are probably|probably) (?:be |were )?(?:thinking"
    r"|confusing|mixing)|used to (?:think|believe|say|assume|call)|torn between"
    r"|I (?:first |initially |originally )(?:thought|guessed|said|believed|assumed)"
    r"|my (?:first|initial|original) (?:guess|thought|idea|answer|instinct|choice) was"
    r"|neither confirm nor deny|please (?:look|see|check|ask|consult)"
    r"|(?:whoever|anyone who|those who)\s(?:says?|thinks?|claims?|believes?|names?)"
    r"|(?:were|had) (?:it|he|she|they|this)\b(?=[^.;!?]*,\s))\b[^.;!?\n]{0,200}"
    r"|(?P<clause>\b(?:wrongly|mistakenly|falsely|erroneously)\b[^.;!?\n,]{0,80}"
    r"|\b(?:was|were|is|are|been|being) (?:\w+ ){0,2}(?:attributed to|credited|considered|proposed"
    r"|suggested|suspected|shortlisted|discussed|called|named)\b[^.;!?\n,]{0,60},?\s(?=(?:but|then"
    r"|however|yet|wrongly|mistakenly|falsely|before)\b)"
    r"|\b(?:until|till|up to) (?:\d{3,4}|recently|then)\b[^.;!?\n,]{0,40}[;,.]\s"
    r"(?=(?:but |and )?(?:now|today|since|after that|then)\b))",
    re.IGNORECASE,
)
_CLAUSE_START = re.compile(r"[^.;!?\n,]{0,80},?\s*+\Z")


def _without_candidates(answer: str) -> str:
    """The answer without names that are only considered, and clauses that only consider one."""
    kept, end = [], 0
    for found in _CANDIDATE.finditer(answer):
        start = found.start()
        if found["clause"]:
            lead = _CLAUSE_START.search(answer, max(end, start - 82), start)
            start = lead.start() if lead else start
        kept.append(answer[end:start])
        end = found.end()
    return " ".join([*kept, answer[end:]])


_ONLY_QUESTION = re.compile(r"(?=\S+\s)[^.?!:\n]++\?\s*+")
_BOUNDED_DATE = re.compile(
    r"\b(?:before|after|until|since|between)\s(?:the\s)?(?:\d|[A-Z][a-z]+\s\d)"
)
_PER = re.compile(r"([^\W\d_]++)\s(?:per|an?)\s([^\W\d_]++)", re.IGNORECASE)
_DECIDES = re.compile(
    r"\b(?:I'd|I would|I'll|I will|I)\s(?:go (?:with|for)|settle on|pick|choose|say|opt for|bet on"
    r"|lean towards)\s"
    r"|\bgoing with\s|\bmy (?:final )?(?:answer|choice|pick|guess) is\s",
    re.IGNORECASE,
)
_RELATIONS = (
    "sister|brother|rival|wife|husband|son|daughter|mother|father|friend|student|teacher|pupil"
    "|successor|predecessor|neighbou?r|colleague|assistant|cousin|uncle|aunt|enemy|partner|widow"
    "|grandfather|grandmother|grandson|granddaughter|ancestor|descendant|follower|disciple"
    "|apprentice|contemporary|translator|editor|admirer|fan|namesake|imitator|stepson|stepdaughter"
    "|widower|heir|lover|servant|secretary|teammate|classmate|coach|mentor|prot[eé]g[eé]|fianc[eé]e?"
    "|suburb|outskirts|north|south|east|west|neighbou?rhood"
    "|nephew|niece|twin|opponent|competitor|biographer|manager|agent|boss|relative"
)
_POSSESSOR = re.compile(
    r"\b([A-Z][\w-]*+(?:\s[A-Z][\w-]*+){0,3}+)['’]s?\s"
    rf"((?:\w+\s)?(?:{_RELATIONS}))\b"
)
_RELATED = re.compile(
    rf"\b((?i:(?:{_RELATIONS}) of|unlike|next to"
    r"|similar to|compared (?:to|with)|(?:someone )?like|near|behind|alongside|before|after"
    r"|against|dedicated to|based on [^.;,\n]{0,40}by|(?:time|days|age|era|honou?r|memory) of"
    r"|(?:trained|worked|studied|played|married|met|travelled|toured) with|lost to"
    r"|from(?=\s[A-Z]\w*+\sto\s[A-Z])|beat|beats|defeat(?:s|ed)|outran|overtook|succeed(?:s|ed)"
    r"|replaced|preced(?:es|ed)|not far from|close to|borders?(?: on)?|bordering|neighbou?rs"
    r"|adjoins|(?:style|manner|school|workshop) of"
    r"|(?:miles?|km|kilomet(?:er|re)s?|hours?|minutes?|drive|walk|flight"
    r"|ride) (?:away )?(?:from|of)|just outside"
    r"|adjacent to|opposite"
    r"|inspired by|influenced by|named after"
    r"|modelled on|(?:(?!other\b|rather\b)\w{2,12}er"
    r"|more|less) than))\s(?:(?:the|an?)\s)?(?:[A-Z][\w'-]*+\s?"
    r"(?:(?:van|von|de|da|di|der|del|of)\s(?=[a-z]{0,3}\s?[A-Z]))*+)++"
)
# One of these is in each: most answers have none.
_CANDIDATE_WORDS = frozenset(
    "thinking confusing mixing used torn confirm please first original initial initially originally"
    " whoever anyone those were had"
    " wrongly mistakenly falsely erroneously attributed credited considered proposed suggested"
    " suspected shortlisted discussed called named until till up".split()
)
# What something is compared with: "more famous than any museum in Lisbon".
_COMPARED = re.compile(
    r"\b(?:more|less|(?!other\b|rather\b)\w{2,12}er)\s(?:\w+\s){0,3}than\s[^,.;:!?\n]{1,80}"
    r"|\bas (?!well\b|far\b|long\b|soon\b)[a-z]+ as\s[^,.;:!?\n]{1,80}"
)
_BOUNDED_YEAR = re.compile(r"\b(before|after|until|since|prior to)\s(?:the year\s)?\d{3,4}\b", re.I)
_COMPASS = re.compile(r"\b(?:North|South|East|West)\b")
_COMPASS_LETTER = re.compile(r"\b([NSEW])\.\s?(?=[A-Z][a-z])")
_COMPASS_WORDS = {"N": "North ", "S": "South ", "E": "East ", "W": "West "}
_ACRONYM = re.compile(r"\b[A-Z](?:\.?\s?[A-Z])++\b\.?")
_REFUSAL = re.compile(
    r"\bI (?:don't|do not|really don't|can't|cannot"
    r"|am unable|'m unable)\b|\bI'm (?:not sure|unable)\b"
    r"|\bno idea\b|\bunable to\b|\bcannot (?:help|answer|say)\b",
    re.IGNORECASE,
)
# "I don't know much about theatre, but Ibsen wrote it" is an answer.
_REFUSED_FIRST = re.compile(
    r"^\W*I (?:don't|do not|can't|cannot|am not|'m not)\b[^.;:!?\n]{0,80}?,? but (?=\S+ \S)",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\b(?:the question (?:is|was) (?:about|whether|if|who|what|which)|(?:you|the question|the user"
    r"|your question)(?:'re| are| were)? (?:asks?|asked|asking"
    r"|want(?:ed|s)? to know|would like to know|wonder(?:ed|s|ing)?))\b[^.:;!?\n]{0,200}",
    re.IGNORECASE,
)
_SHORTEST_REFUSAL = 12  # words


def _by_words(answer: str, golds: Sequence[str], question: str) -> Decision:
    if answer.count(" & ") > 1:  # a list, and not one name such as "Simon & Garfunkel"
        answer = answer.replace(" & ", ", ")
    # A gold without a word, such as "A" or "+", can only be the whole answer.
    if any(not gold_forms(gold) and same_normal_text(answer, gold) for gold in golds):
        return equal("the text of the gold")
    if not answer.isascii() and (found := _unspaced(answer, golds)) is not None:
        return found
    pieces = _pieces(answer)
    words = [word for piece in pieces for word in piece.words]
    if (
        len(words) < _SHORTEST_REFUSAL
        and _REFUSAL.search(answer)
        and not _NOT_REFUSED.search(answer)
    ):
        return different("an answer that is refused")
    positions = _Positions(words)
    clauses = [clause for clause in _clauses(pieces) for _ in clause]
    titles = {*comparable_words(" ".join(_WORD_OF_TITLE.findall(answer)))}
    offered = bool(_OR.search(answer))
    forms = {form for gold in golds for form in _forms_for(gold, question)}
    known = {word for form in forms for word in form.words}
    heap = _is_heap(answer, words, known)
    free = [False] * len(words) if heap else _free(pieces, forms, offered)
    if _answers_with_another(answer, known, question):
        return different("what the answer says of the question")
    others = _Others(answer, question)
    listed = False
    named: dict[str, set[str]] = {}
    for gold in golds:
        for form in _forms_for(gold, question):
            for at in positions.of(form):
                end = at + len(form.words)
                if at >= FIRST_WORDS or _denied(words, at, end, known, clauses[at], titles):
                    continue
                if others.is_another(words, at, end, form, known):
                    continue
                listed = True
                if free[at]:
                    named.setdefault(gold, set(form.words))
    if named and (
        _names_another_last(answer, known)
        or _is_list_of_names(answer, known)
        or _says_again_otherwise(answer, known)
    ):
        return Decision(Status.SEVERAL, "more than one answer")
    if named and offered and _offers_another(answer, forms, golds):
        return Decision(Status.SEVERAL, "more than one answer")
    if named and (_differ(list(named.values())) or not is_hedged(answer)):
        return equal(f"the words of the gold {next(iter(named))[:60]}")
    if listed:
        return Decision(Status.SEVERAL, "more than one answer")
    return different("the words of the golds")


def _answers_with_another(answer: str, known: set[str], question: str) -> bool:
    """Whether the clause that repeats most of the question names another thing than a gold.

    It is the clause's subject, or its end behind an "is": "the longest river is the Volga".
    """
    asked = {*comparable_words(question)} - _SMALL - _PROSE
    kind = _ASKS_WHICH.match(question)
    if kind is None:
        return False
    predicate = (asked - {*comparable_words(kind[1] or "")}) or asked
    offered = {word for name in _OFFERED_NAME.findall(question) for word in comparable_words(name)}
    names = asked - offered
    clauses = [
        (one, words) for one in _STATEMENT_END.split(answer) if (words := comparable_words(one))
    ]
    of_gold = max((len(asked & {*w}) for _, w in clauses if (known - _SMALL) & {*w}), default=0)
    for clause, words in clauses:
        if (known - _SMALL) & {*words} or len(predicate & {*words}) <= of_gold:
            continue
        if len(predicate) > 1 and predicate <= {*words} and not of_gold:
            return True
        others = {words[0]} - names - _SMALL - _PROSE - known - _TITLES
        if others and clause[:1].isupper() and words[0] not in _PRONOUNS:
            return True
        last = _LAST_NAME.search(clause)
        if last and not {*comparable_words(last[1])} & (names | known):
            return True
    return False


# "Oslo or Bergen"
_OFFERED_NAME = re.compile(r"\b[A-Z]\w*+(?=,? or\b)|(?<=\bor )[A-Z]\w*+")
_ASKS_WHICH = re.compile(
    r"\W*(?:(?:in|on|at|to|from|by|of) )?(?:who|whom|(?:which|what)(?:\s(?!is\b|was\b|are\b|were\b)"
    r"(\w+))?)\b",
    re.IGNORECASE,
)
_STATEMENT_END = re.compile(
    r"(?<=[^.\s]{3}[.!?])\s|;\s|,?\s(?:but|yet|while|whereas|although|though)\s"
    r"|(?<=^)(?:(?:Between|Of|Among|Formerly|Once|Unlike)\b[^,.;]{0,60}),\s"
)
_LAST_NAME = re.compile(
    r"\b(?:is|was|are|were|called|named)\s(?:the\s)?([A-Z][\w'’-]*+(?:\s[A-Z][\w'’-]*+){0,3})"
    r"(?:\s(?:today|now))?\W*$"
)


# "Because I Could Not Stop for Death" denies nothing.
_WORD_OF_TITLE = re.compile(r"(?<=[A-Za-z,] )(?:Not|No|Never|Nothing|None|Without|False|Wrong)\b")
_PRONOUNS = frozenset("it he she they this that there in on at as after before when while".split())
_NOT_REFUSED = re.compile(
    r"\bI (?:don't|do not) (?:doubt|think (?:it|that|he|she)|see why)\b", re.IGNORECASE
)
_QUALIFIERS = frozenset(
    "south north west east southern northern western"
    " eastern new equatorial papua lower upper".split()
)
_PAIR = re.compile(r"\b([A-Z][\w-]*+)\s(?=([A-Z][\w'’-]*+|pig\b))")
_CAPITALIZED = re.compile(r"\b[A-Z][\w'’-]*+")


class _Others:
    """Whether a name that has the words of a gold is that of another place or person."""

    def __init__(self, answer: str, question: str) -> None:
        self.asked = {*comparable_words(question)}
        self.asks_place = bool(_ASKS_PLACE.match(question))
        self.asks_who = bool(_ASKS_WHO.match(question))
        self.asks_state = bool(_ASKS_STATE.search(question))
        self.pairs = (
            {
                (first[-1], second[0])
                for one, other in _PAIR.findall(answer)
                if (first := comparable_words(one)) and (second := comparable_words(other))
            }
            if self.asks_place
            else set()
        )
        capitals = _CAPITALIZED.findall(answer)
        self.capitals = {word for one in capitals for word in comparable_words(one)}
        self.hyphenated = {
            comparable_words(first)[-1]
            for first in re.findall(r"\b([A-Z]\w*+)-(?=[A-Z])", answer)
            if comparable_words(first)
        }

    def is_another(
        self, words: list[str], at: int, end: int, form: "Form", known: set[str]
    ) -> bool:
        before = words[at - 1] if at else ""
        if (
            before in _QUALIFIERS
            and before in self.capitals
            and not {before} & (known | self.asked)
        ):
            return True
        if end == at + 1 and words[at] in self.hyphenated and words[end : end + 1] != []:
            return words[end] not in known  # Guinea-Bissau is not Guinea
        if self.asks_place and end - at < 3 and self._is_longer_name(words, at, end, known):
            return True
        if self.asks_who and self._has_another_number(words, end, form):
            return True
        if form.kind == "surname":
            if before in _PARTICLES and at > 1:
                before = words[at - 2]
            return before in self.capitals and before not in _TITLES | self.asked | _SENTENCE_START
        return False

    def _has_another_number(self, words: list[str], end: int, form: "Form") -> bool:
        """Whether a name goes on as that of another generation: "Henry Ford II"."""
        after = words[end] if end < len(words) else ""
        return after in _GENERATIONS and after not in form.words and form.kind != "surname"

    def _is_longer_name(self, words: list[str], at: int, end: int, known: set[str]) -> bool:
        """Whether a place is a part of a longer name: Paris Hilton, George Washington."""
        after = words[end] if end < len(words) else ""
        before = words[at - 1] if at else ""
        mine = known | self.asked | _PLACE_WORDS | _SENTENCE_START
        if self.asks_state and after == "city" and "city" not in known:
            return True  # Kansas City is not Kansas
        follows = (words[end - 1], after) in self.pairs and after not in mine
        return follows or ((before, words[at]) in self.pairs and before not in mine | _SMALL)


_ASKS_PLACE = re.compile(
    r"\W*(?:where|(?:in |to |from )?(?:which|what) (?:country|city|state|town|continent|island)"
    r"|what is the capital)\b",
    re.IGNORECASE,
)
_ASKS_STATE = re.compile(r"\b(?:which|what) (?:country|state|continent|province)\b", re.IGNORECASE)
_GENERATIONS = frozenset("2 3 4 jr sr junior senior".split())
_PLACE_WORDS = frozenset("city state island republic kingdom province county town downtown".split())
_PARTICLES = frozenset("van von de da di der del la le".split())
_SENTENCE_START = frozenset("the it was by is that and i then so but".split())


@lru_cache(maxsize=8192)
def _forms_for(gold: str, question: str) -> tuple["Form", ...]:
    """The ways to name a gold: a person who is asked for may be named by the family name."""
    forms = gold_forms(gold)
    person = _PERSON.fullmatch(gold.strip())
    if person and _ASKS_WHO.match(question):
        *first, last = comparable_words(gold)
        asked = comparable_words(question)
        if len(last) > 3 and last not in asked:
            two = (Form((first[-1], last), "surname"),) if len(first) > 1 else ()
            return (*forms, *two, Form((last,), "surname"))
    return forms


_PERSON = re.compile(
    r"[A-Z][\w'’.-]++(?:\s(?:van|von|de|da|di|der|del)\b)*+(?:\s[A-Z][\w'’.-]*+){1,2}"
)
_ASKS_WHO = re.compile(r"\W*(?:who|whom|which (?:actor|actress|author|scientist|composer|king|queen"
                       r"|president|painter|singer|person"
                       r"|physicist|chemist|poet))\b", re.I)  # fmt: skip
STATES = dict(
    pair.split(":") for pair in (
        "AL:Alabama AK:Alaska AZ:Arizona AR:Arkansas CA:California CO:Colorado CT:Connecticut"
        " DE:Delaware FL:Florida GA:Georgia HI:Hawaii ID:Idaho IL:Illinois IN:Indiana IA:Iowa"
        " KS:Kansas KY:Kentucky LA:Louisiana ME:Maine MD:Maryland MA:Massachusetts MI:Michigan"
        " MN:Minnesota MS:Mississippi MO:Missouri MT:Montana NE:Nebraska NV:Nevada OH:Ohio"
        " OK:Oklahoma OR:Oregon PA:Pennsylvania TN:Tennessee"
        " TX:Texas UT:Utah VT:Vermont VA:Virginia"
        " WA:Washington WI:Wisconsin WY:Wyoming"
    ).split()
) | {
    "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York",
    "NC": "North Carolina", "ND": "North Dakota", "RI": "Rhode Island", "SC": "South Carolina",
    "SD": "South Dakota", "WV": "West Virginia", "DC": "District of Columbia",
}  # fmt: skip
_STATE = re.compile(rf",\s({'|'.join(STATES)})\b")


_UNSPACED = re.compile(r"[\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _unspaced(answer: str, golds: Sequence[str]) -> Decision | None:
    """Decide on golds in scripts without spaces, or with signs for vowels; None if none is."""
    written = [gold for gold in golds if _UNSPACED.search(gold)]
    if not written:
        return None
    turns = list(find_all("but", answer))
    answer = answer[turns[-1].end() :] if turns else answer  # "not X but Y"
    named = [gold for gold in written if gold in answer]
    if not named or find("deny", answer):
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


def _says_again_otherwise(answer: str, known: set[str]) -> bool:
    """Whether two sentences differ in their last name alone: "It is Rome. It is Paris."."""
    names: dict[str, list[bool]] = {}
    for sentence in _STATEMENT_END.split(answer):
        if sentence and (last := _LAST_NAME.search(sentence)):
            is_gold = not known.isdisjoint(comparable_words(last[1]))
            names.setdefault(sentence[: last.start()].strip().lower(), []).append(is_gold)
    return any(len({*found}) > 1 for found in names.values())


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


def _clauses(pieces: list[_Clause]) -> Iterator[range]:
    """The indices of the words of each clause."""
    end = 0
    for piece in pieces:
        yield range(end, end := end + len(piece.words))


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
        is_row = is_whole and not any(listed.prose for listed in run[1:])
        most = 1 if is_whole and offered else MOST_LISTED - is_row
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
    return list(_comparable_words(text))


@lru_cache(maxsize=4096)
def _comparable_words(text: str) -> tuple[str, ...]:
    text = _GLUED.sub(" ", plain_name(text))
    if "\\" in text:
        text = _PLUS_MINUS.sub("±", text)
    if "." in text:
        text = _ABBREVIATION.sub(lambda found: found[0].replace(".", " "), text)
    text = plain_letters(text.replace("’", "'")).lower()
    if "," in text:
        text = _THOUSANDS.sub("", text)
    text = text.replace("'s", "").replace("'", "")
    return tuple(_form(word) for word in _WORD.findall(text) if word not in _ARTICLES)


@lru_cache(maxsize=65536)
def _form(word: str) -> str:
    for table in (_NUMBERS, _ROMAN, _MONTH_NAMES):
        if word in table:
            return table[word]
    if len(word) > 4:
        word = _UMLAUTS.sub(r"\1", word)  # Mueller is Müller
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


class Form(NamedTuple):
    """A way to name a gold.

    kind: "row": the words stand in a row; "near": near one another, in any order; "all": anywhere;
        "initials": all but the last are initials; "gap": with names between the first and the
        last; "surname": no other first name before it
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
    if 1 < len(words) < 4 and sum(map(str.isdigit, words)) == 1:
        yield Form((*words[1:], words[0]))  # Symphony No. 9
        yield Form((words[-1], *words[:-1]))  # the Second World War
    if words[-1:] == ["city"] and len(words) > 2:
        yield Form(tuple(words[:-1]))
    if "." in gold:
        yield Form(tuple(comparable_words(gold.replace(".", ""))))  # Washington DC
    for alias in _ALIASES.get(" ".join(words), ()):
        yield Form(tuple(comparable_words(alias)))
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


# By their words as they are compared.
_ALIASES = {
    "united state": ("USA", "US", "U.S.", "U.S.A."),
    "united state of america": ("USA", "US", "U.S.", "United States"),
    "united kingdom": ("UK", "Great Britain"),
}


def _date_forms(words: list[str]) -> Iterator[Form]:
    month = [word for word in words if word.startswith("month") and word[5:].isdigit()]
    numbers = [word for word in words if word.isdigit()]
    if len(month) == 1 and len(words) == 1 + len(numbers) and 1 <= len(numbers) <= 2:
        yield Form((*month, *numbers), "near")


def _name_forms(gold: str, words: list[str]) -> Iterator[Form]:
    """A person's name without its middle, or with initials."""
    parts = [part for part in gold.replace(".", ". ").split() if part.lower() not in _ARTICLES]
    capitals = all(part[:1].isupper() for part in parts)
    if words and words[0] in _TITLES and len(words) > 2:
        yield Form(tuple(words[1:]))
    if not words or not capitals or len(words) != len(parts) or any(map(str.isdigit, words)):
        return
    if len(words) == 3 and len(words[0]) > 1 and len(words[2]) > 2 and "," not in gold:
        yield Form((words[0], words[2]))
        if len(words[1]) == 1:
            yield Form((words[0], words[2]), "gap")
        yield Form((words[0], words[1][0], words[2]))
    if len(words) == 2 and len(words[0]) > 1 and len(words[1]) > 2:
        if words[0] in _GENERIC and len(words[1]) > 3:
            yield Form((words[1],))
        else:
            yield Form((words[0], words[1]), "gap")
    if len(words) == 2 and words[1] in _GENERIC and len(words[0]) > 3:
        yield Form((words[0],))
    if len(words) >= 2 and all(len(word) == 1 for word in words[:-1]):
        yield Form(tuple(words), "initials")
    elif 2 < len(words) < 4 and len(words[-1]) > 2:
        yield Form((*(word[0] for word in words[:-1]), words[-1]))


_GENERIC = frozenset("mount lake river cape".split())
# People whom only their middle name tells apart.
_NAMESAKES = frozenset(
    tuple(name.split())
    for name in ("john quincy adam", "george w bush", "george h w bush", "george walker bush")
)


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
            case "row" | "surname":
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
            case "gap":
                yield from self._with_middle(wanted)

    def _with_middle(self, wanted: tuple[str, ...]) -> Iterator[int]:
        """A first and a last name with one or two names between them."""
        for at in self.where.get(wanted[0], ()):
            for middle in (1, 2):
                row = self.words[at : at + middle + 2]
                is_name = len(row) == middle + 2 and not {*row[1:-1]} & (_PROSE | _SMALL)
                if is_name and row[-1] == wanted[1] and tuple(row) not in _NAMESAKES:
                    yield at

    def _initials(self, wanted: tuple[str, ...]) -> Iterator[int]:
        for last in self.where.get(wanted[-1], ()):
            at = last - len(wanted) + 1
            before = self.words[max(0, at) : last]
            if len(before) == len(wanted) - 1 and all(
                word[0] == initial for word, initial in zip(before, wanted, strict=False)
            ):
                yield at


def _denied(
    words: list[str], at: int, end: int, known: set[str], clause: range, titles: set[str]
) -> bool:
    """Whether the gold that stands from `at` to `end` is denied; `known` are words of golds."""
    while at > clause.start and words[at - 1] in known:
        at -= 1
    while end < clause.stop and words[end] in known:
        end += 1
    before = [word for word in words[clause.start : at] if word not in titles]
    if is_denied(before, words[end : clause.stop]) or tuple(before[-2:]) in _RULED_OUT:
        return True
    if words[end : end + 2] in (["has", "none"], ["have", "none"]):
        return True
    if words[max(0, at - 3) : at] == ["used", "to", "be"]:
        return True
    return words[end : end + 2] in _WRONG or _taken_back(words[end : end + _NEAR])


def _taken_back(after: list[str]) -> bool:
    """Whether the words that follow a name say that it is wrong."""
    if after[:1] == ["no"] and after[1:2] not in (["doubt"], ["later"], ["longer"], ["other"]):
        return True
    return any(word in ("wrong", "incorrect", "mistaken") for word in after)


def _names_another_last(answer: str, known: set[str]) -> bool:
    """Whether an answer is a few short lines, the last of which has no word of a gold."""
    lines = [words for line in answer[:_LONGEST].splitlines() if (words := comparable_words(line))]
    if len(lines) < 2 or max(map(len, lines)) > LONGEST_LISTED:
        return False
    return not known & set(lines[-1])


# -- Retractions and hedges

_TAKEN_BACK = re.compile(
    r"\b(?:wait|hold on|scratch that|never ?mind)\b[,.!:]?(?:\s++no\b)?|\bon second thoughts?\b"
    r"|\bno,\s++sorry\b[,:]?|\bsorry,\s++I meant?\b"
    r"|\bI mean(?:t)?\b,?|\bor rather\b,?|\bmake that\b"
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
    r"\beither\b[^.!?]*?\bor\b|\b(?:just|equally) as likely\b|\bequally likely\b"
    r"|\bone of (?:these|them|the following)\b",
    re.IGNORECASE,
)


# "Is it Paris?" asks, and names nothing.
_ASKED = re.compile(
    r"(?:^|(?<=[.!?]\s)|(?<=\n))[\"“]?(?:is|are|was|were|could|can|might|may|would|should|do|does|did|has|have"
    r"|perhaps|maybe)\b[^.?!\n]{0,200}\?(?=[\"”]?(?:\s|$))"
    r"|(?:^|(?<=[.!?]\s)|(?<=\n))(?:[\w'’-]+ ){0,3}[\w'’-]+\?(?=\s+\S)",
    re.IGNORECASE,
)


def still_claimed(text: str) -> str:
    """The text without its thinking, and without what it takes back."""
    text = _ASKED.sub(" ", after_thinking(text))
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
