"""The answer that prose states: the value of its closing statement.

    There are 15 nickels.                                  15
    Therefore, x = 42. Check: 42/2 = 21.                   42
    I first thought it was 1000, but actually it's 12.     12
    The capital of France is Paris.                        Paris

A check, a remark or an offer of help after it is no statement, and neither is what was given up.
Prose with two values and no decision states none.
"""

import re
from collections import deque
from functools import lru_cache

from plaudit.answers._claims import is_denied, is_exception
from plaudit.answers._final_answer import is_retracted, without_drafts
from plaudit.answers._languages import find, find_all, phrases, words_in
from plaudit.answers._number_words import in_digits
from plaudit.answers._options import lists_options
from plaudit.answers._quantities import plain_quantity
from plaudit.answers._text import plain_name, with_acronyms, words_of

_MOST_ALIKE = 3  # sentences that differ in their number alone
LONGEST = 4000  # characters of prose that are read, from the end
_MARKS = re.compile(r"[*_`~]{1,3}|^[>#\s]+|^\s*[-•]\s+|\\[()\[\]]|\$(?=[^\d]|$)", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~]*~~|<(del|s|strike)>[^<]*</\1>", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[。！？।])|(?<=[.!?])\s+(?=[A-Z(\"“¿¡\d*✓])|\n+")
_REMARK = re.compile(
    r"^\W*(?:check|checking|verif\w+|to (?:verify|check)|remark|note|fun fact|as a (?:sanity )?"
    r"check|sanity|this (?:is (?:less|more|because|why)|makes sense|agrees|matches|checks)"
    r"|let me know|i hope|hope|feel free|if any\w*|if something|if there|should you"
    r"|by contrast|conversely|on the other hand|meanwhile|likewise|similarly|for comparison"
    r"|in comparison|by comparison|please|if you"
    r"|had |proof|does that|would you|is there|for example|e\.g\.|thank|plug\w*|substitut\w*"
    r"|indeed(?=,)"
    r"|recall|remember|interesting\w*|incidentally|by the way|side note|as a reminder|keep in mind"
    r"|in (?:contrast|case)|happy to|glad to|double-check\w*|insert\w* (?:it|this)"
    r"|(?:we|you) (?:are|were) (?:told|given)|given|suppose|assume|let"
    r"|(?:that|this)(?:['’]s| is) [^.!?]{0,30}(?:more|less|fewer|\w{2,}er) than)\b",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"^\W*(?:(?:we|you) (?:are|were)|given|suppose|assume|let|since|if)\b", re.IGNORECASE
)
_GIVEN_UP = re.compile(
    r"\b(?:first (?:thought|guess|idea|glance|attempt|try|answer|instinct)|at first|initial(?:ly)?"
    r"|originally|(?:might|may|could|would) (?:\w+ )?(?:think|say|expect|guess|assume|be"
    r" (?:tempted|led))"
    r"|tempt(?:ed|ing)|seems? to be|looks like|guessed|led to believe|was off|used to \w+"
    r"|(?:was|were) (?:going|about|ready) to|had (?:planned|intended|meant) to|almost (?:said"
    r"|wrote|answered)|formerly|previously|(?:would|i'd|i’d) have (?:said|thought|guessed|answered"
    r"|picked|expected)|trap|(?:obvious|naive|tempting|usual|common|misled into) (?:guess|answer"
    r"|choice|mistake|error|reading|answering)|by mistake|mistakenly|wrongly)\b",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"(?<!anything )(?<!everything )(?<!nothing )(?<!all )\bbut\b(?: (?:actually"
    r"|in fact|really))?|\bhowever\b|\bcorrection\b\s*:"
    r"|\boops\b|;|\bor rather\b|\bI mean\b|\byet\b|\bsorry,|\bwait\b|\bno, (?=it|the|that|\d)"
    r"|\bactually\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\(([^()]*)\)")
_EXPLAINS = re.compile(
    r"\b(?:not|since|because|check|as|from|which|i\.?e|e\.?g|that|about|the|for|with|in|is|are|was"
    r"|were|have|has|by|at|after|before|than|per|so)\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"\\[A-Za-z]+")
_TEMPLATE = re.compile(
    r"\[(?:your|insert|the|final)\b[^\]]*\]|<(?:number|answer|your \w+)>", re.IGNORECASE
)
# What others say, and what is still to be computed, is not claimed.
_HEARSAY = re.compile(
    r"\b(?:wrong|incorrect|false) (?:answer|result|value|number)\b|"
    r"\b(?:people|some|many|others|most|they|nobody|no one|who|everyone|everybody|students"
    r"|readers|beginners|critics|sources) (?:\w+ ){0,2}(?:often |usually |might |would |may "
    r"|will |could |ever )?(?:say|think|believe|claim|guess|suggest|write|answer|put|assume"
    r"|expect|argue)s?\b|\bmyth\b|\bwhether\b|\bmisconception\b|\bin"
    r" theory\b"
    r"|\b(?:can|could|would|do|did|will|am|is)(?:n['’]t|not| not) (?:say|tell|know|confirm|sure"
    r"|certain)\b"
    r"|\bneeds? (?:more|further|additional) (?:information|details?|data|context)\b"
    r"|\b(?:not enough|insufficient) (?:information|data|details?)\b"
    r"|^\W*(?:please|ask|add|subtract|multiply|divide|compute|calculate|find|consider|count|solve|determine)"
    r"\b(?!.*(?:=|\b(?:is|are|gives?|gets?|makes?|obtain|yields?)\b))"
    r"|\brefuse\b|\bwish\b|\d times (?:as|more|larger)\b"
    r"|\d short\b|\b(?:need|have|has) to (?:divide|multiply|add|subtract)\b",
    re.IGNORECASE,
)
_WOULD = re.compile(
    r"\b(?:wären?|serían?|serait|seraient|sarebbe|sarebbero|seriam?)\b"
    r"|\b(?:would|could|might) (?:have been|be)\b|\bhad (?:it|they|he|she)\b",
    re.IGNORECASE,
)
_TOO = re.compile(
    r"\b(?:too|not) (?:low|high|large|small|big|much|many|few|little|enough)\b", re.IGNORECASE
)
# What is said besides the value: "give or take a slip", "one more than the usual 365".
_BESIDES = re.compile(
    r"\bgive or take\b.*$|\bmore or less\b|\bif i (?:remember"
    r"|recall|am not|'m not|understand)[^,]*,"
    r"|\b(?:if|unless) i(?:'m| am)(?: not)? (?:mistaken|wrong)\b,?|\bif memory serves[^,]*,?"
    r"|,\s(?:since|because|as)\s.*$|\bwithout (?:a |any )?doubt\b|\bsooner or later\b"
    r"|,\s(?:(?:one|\d+|which is|far|much|that is|a \w+)\s)*(?:[$€£]?\d+\s)?(?:\w+\s)?"
    r"(?:more|less|fewer|older|younger|higher|lower|larger|smaller|longer|shorter) than\b.*$"
    r"|,\s(?:up|down) from\b.*$|,\s(?:not|and not"
    r"|rather than|instead of|unlike|as opposed to|compared"
    r" (?:to|with))\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_OF_HOW_MANY = re.compile(
    r"(?:(?<=\d)\s(?:out )?|\b(?:out )?)of (?:the |all |those |these |all the |his |her |their"
    r" )(?:[a-z]+ )?\d+(?![\d.,/%]*\d|%)"
)
_IN_OTHER_WORDS = re.compile(r"\b(?:i\.e\.|that is,|in other words,?)\s", re.IGNORECASE)
_SO = re.compile(r",?\s(?:so|therefore|hence|thus|which means(?: that)?)\s", re.IGNORECASE)
_CONGRUENT = re.compile(
    r"(?:≡|\\equiv|\bis congruent to)\s*(-?\d+)\s*(?:\(?\s*(?:mod|modulo)\s*\d+\)?\s*)?[.\s]*$",
    re.I,
)
_WRONG = re.compile(
    r"\b(?:wrong|incorrect|mistaken|untrue|not (?:right|correct|true)|scratch that|disregard|ignore"
    r"|take (?:that|it|this) back|retract|never ?mind)\b",
    re.IGNORECASE,
)
_NO_ALONE = re.compile(r"\W*no\b\W*$", re.IGNORECASE)  # "15... no."
_UNDECIDED = re.compile(
    r"\bor\b|\\pm|\+/?-|\banything but\b|\bexcept\b|\brather than\b|\binstead of\b|\bruled? out\b"
    r"|\bbetween\b|\bat (?:least|most)\b|\b(?:more|less|fewer|(?!other|rather)\w{2,}er) than\b"
    r"(?!.*\bso\b)|\b(?:twice|thrice|times) as\b(?![^.]*,\s(?:so|hence|thus|which)\b)"
    r"|\bsome of (?:them|these|those)\b|\bas (?:many|much) as\b(?!.*\bso\b)"
    r"|\bwould (?:do|suffice)\b|\b(?:under|below|above|beyond) [$€£]?\d"
    r"|\b(?:exceed|surpass|outnumber)\w*|\bdepend(?:s|ing)\b|\bsoon\b"
    r"|\bover [$€£]?\d+(?! (?:second|minute|hour|day|week|month|year)s)|\bclose to\b"
    r"|\bnearly\b|\balmost\b|\bjust (?:over|under)\b|\bup to\b|\bif\b|\bunless\b"
    r"|\bwould have\b|\b(?:more|less|fewer)\s(?:\w+\s){1,3}than\b|\bwhether\b|\bin excess of\b"
    r"|\b(?:upwards|short|shy) of\b|\bhad (?:she|he|they|we|it|you|i)\b|\bwithin \d|±|\bmaybe\b"
    r"|\bperhaps\b|\?|\be\.g\.|\[your|\bcannot\b|\bunable\b"
    r"|\bhalf\b(?! of \d+ (?:is|=|makes|gives))",
    re.IGNORECASE,
)
# "Not" in the languages of the documentation: what is denied is not stated.
_DENIAL = re.compile(
    r"\b(?:not|never|değil|nicht|kein\w*|pas|jamais|non|não|nao|nunca|niet|geen|nie|ikke|inte|не|нет)\b"
    r"|n['’]t\b|\bno (?:es|son)\b|不是|不为|并非|ではない|ではありません|じゃない|より|아니"
    r"|ليس|لا |नहीं",
    re.IGNORECASE,
)
# One of these is in each of both: most statements have none.
_UNCLAIMED = frozenset(
    "or pm anything except rather instead out between least most than over under close nearly"
    " almost up if unless soon depends depending exceed exceeds exceeded exceeding surpasses"
    " surpass surpassed surpassing outnumber outnumbers outnumbered below above beyond"
    " have whether excess upwards short shy had"
    " within maybe perhaps e your"
    " twice thrice times some many much would cannot unable half not never nicht kein keine keinen"
    " keinem keiner keines pas jamais non nao"
    " nunca niet geen nie ikke inte t no".split()
)
_UNCLAIMED_SIGN = re.compile(r"[+?]|[^\x00-\x7f]")
_STATES = re.compile(
    r"\b(?:is|are|was|were|it'?s|that'?s|equals?|makes?|gives?|leaves?|comes? to|totals?|total of"
    r"|gets?|got|obtain(?:s|ed)?|has|have|had|costs?|ris(?:es|e|en) to|falls? to|scored|sold|needs?"
    r"|takes?|took|pays?|paid|earn(?:s|ed)|sav(?:es|ed)|spends?|spent|bought|fill(?:s|ed)|shar(?:es|ed)"
    r"|holds?|held|weigh(?:s|ed)|contain(?:s|ed)|receiv(?:es|ed)|travel(?:s|led|ed)|ran|walk(?:s|ed)"
    r"|worked|writes?|counts?|tried|found|yields?|becomes?|remains?|stands? at"
    r"|differs? by|amounts?"
    r" to|answers?|result|making|leaving|giving)\b|=|:|→|⇒|->",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-−]?(?:[$€£¥]\s?)?\d+(?:[,\u202f' ]\d{3})*(?:\.\d+)?(?:/\d+)?"
    r"(?:\s?(?:%|percent\b|per cent\b|pct\b))?(?![A-Za-z0-9_‰])"
)
_PROSE_LETTER = re.compile(r"[^\W\d_]")
_CIRCUMSTANCE = re.compile(
    r"^[^\d]*?(?:,|\b(?:of|than|out of|per|in|on|after|from|by|at|since|because|with|for|each)\b)"
)
# "The 4 boxes weigh 24 kg": what the reader knows already.
_KNOWN_COUNT = re.compile(
    r"\b(?:the|these|those|all|his|her|their|its|each of the)\s\d+(?=\s[a-z])"
)
_CONCLUDES = re.compile(r",?\sso\s(?:[^\d,;:=]|\bthe \d+\b)*[\d$€£][\d.,]*(?:\s[^\d,;:=]*)?$", re.I)
_REMAINS = re.compile(
    r"\d\S*(?:\s\w+)?\s(?:remain|are left|is left|left|stay|survive|go|were)\w*\W*$", re.I
)
# "Of the 12 eggs, 7 were broken"
_SUBJECT = re.compile(
    r"\W*[$€£]?\d\S*(?:\s[a-z]+){0,2}\s(?:is|are|was|were|will|have|has|had|came|stayed)\b", re.I
)
_BOUNDED = re.compile(
    r"\b(?:after|before|since|until|till|past|prior to|later than|earlier than)\s$", re.I
)
_BY_YEAR = re.compile(r"\bby (?:1\d|20)\d\d\b", re.IGNORECASE)
_LABELLED = re.compile(r"^([^:=]{1,60}):\s")
_PRONOUN = re.compile(
    r"\b(?:i|it|we|you|they|he|she|that|this|determine|thus|so|hence)\b", re.IGNORECASE
)
_SENTENCE_BEFORE = re.compile(r"\d|\b(?:is|are|was|were|has|have|there|gets?|costs?)\b", re.I)
_USUAL_LABEL = re.compile(
    r"\b(?:answer|guess|estimate|altogether|in all|overall|result|total|solution|sum|value"
    r"|conclusion)\b",
    re.IGNORECASE,
)
# Values in a row that end a statement, with nothing but commas or equals signs between them.
_LISTED = re.compile(
    r"(?:^|\b(?:is|are|was|were|be|gets?|equals?)\b|:)\s*(?:[$€£]?-?\d[\d./]*\s*(?:,|;|=|&|\band\b)"
    r"\s*)+[$€£]?-?\d[\d./]*\W*$",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\s?[^\s\d,.;:!?]++(?:\s[^\s\d,.;:!?]++){0,2}")
_IS = re.compile(
    r"\b(?:is|was|are|were|it'?s|called|named|becomes?|became|means?|equals?|by|to be|at|on|=)\s+"
    r"(?:(?:called|named|known as|written|written as|the"
    r"|a|an|in fact|actually|really|indeed|definitely)\s+)*",
    re.IGNORECASE,
)
_LAST_VALUE = re.compile(r"\d|\b[B-HJ-Z]\b(?!')")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def stated_number(text: str, question: str = "", with_unit: bool = False) -> str | None:
    """Return the number that the closing statement of a text states; None if there is none.

    question: what was asked, for labels such as "Passed: 22"
    with_unit: whether to return the words after it as well, which may be its unit

    >>> stated_number("There are 15 nickels. (As a check, they are 75 cents.)")
    '15'
    >>> stated_number("It may be 3 or 4.") is None
    True
    """
    for statement in _statements(text):
        statement = _ALTHOUGH.sub("", statement)
        plain = plain_quantity(in_digits(_BESIDES.sub("", statement)))
        listed = _LISTED.search(plain)
        if listed and len({number[0].strip() for number in _NUMBER.finditer(listed[0])}) > 1:
            return None  # "It is 21 = 24", "It is 21, 24"
        turned = _after_turn(_OF_HOW_MANY.sub(" ", plain))
        if _GIVEN_UP.search(turned):
            continue
        if not _NUMBER.search(_ASIDE.sub("", turned)):
            continue
        if congruent := _CONGRUENT.search(turned):
            return congruent[1]
        if not _NUMBER.search(turned):
            continue
        if _is_other_label(turned, question) or _has_other_ordinal(turned, question):
            continue
        if (part := _PART_OF.search(turned)) and part[1].lower() not in question.lower():
            return None
        turned = _answering_clause(turned, question)
        if _CHANGED.search(turned) and not _ASKS_CHANGE.search(question):
            return None
        if (extra := _EXTRA.search(turned)) and extra[1].lower() not in question.lower():
            return None
        if _is_denied_number(turned):
            return None
        if _WOULD.search(turned) and not _TURN.search(plain):
            continue
        if _TOO.search(turned) or _HEARSAY.search(statement) or not is_claimed(turned):
            return None
        return _value(turned, with_unit)
    return None


def _is_denied_number(statement: str) -> bool:
    """Whether the clause before the last number denies it: "I doubt that it is 8"."""
    number = deque(_NUMBER.finditer(statement), maxlen=1).pop()
    before = _THAT.sub(" ", statement[: number.start()])
    clause = _CLAUSE_END.split(before)[-1]
    return is_denied(words_of(clause), [])


# "It is a multiple of 12", "it rose by 31 degrees": not the value itself.
_PART_OF = re.compile(r"\b(multiple of|factor of|divisor of|divisible by) \d", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:climb|rose|rise|fell|fall|drop|increas|decreas|grew|grow|shr[aiu]nk)\w* by"
    r" [$€£]?\d[\d.,]*+(?!.*\d)",
    re.IGNORECASE,
)
_ASKS_CHANGE = re.compile(r"\b(?:by|chang|increas|decreas|ris|fall|drop|grow|climb|differ)", re.I)
_ORDINAL = re.compile(r"\b(?:first|second|third|fourth|fifth|last|\d+(?:st|nd|rd|th))\b", re.I)


def _has_other_ordinal(statement: str, question: str) -> bool:
    """Whether a statement says "the first box" and the question asks for the second."""
    asked = {one.lower() for one in _ORDINAL.findall(question)}
    said = {one.lower() for one in _ORDINAL.findall(statement)}
    return bool(asked and said) and asked.isdisjoint(said)


def _answering_clause(statement: str, question: str) -> str:
    """Return the clause with most of the question's words, if it has one number of several."""
    clauses = _CLAUSES.split(statement)
    if len(clauses) < 2 or not all(len(_NUMBER.findall(clause)) == 1 for clause in clauses):
        return statement
    asked = _content(question)
    shared = [len(asked & _content(clause)) for clause in clauses]
    best = max(shared)
    return clauses[shared.index(best)] if shared.count(best) == 1 else statement


_CLAUSES = re.compile(r",\s(?:and|while|whereas)\s|;\s")
# "She needs 5 more dolls" does not say how many she has.
_EXTRA = re.compile(r"\d\s(more|fewer|additional|extra)\b(?! than)(?!.*\d)", re.IGNORECASE)
# What is granted before a comma says nothing of the answer: "While I can't see it, it is 12."
_ALTHOUGH = re.compile(
    r"^\W*(?:(?:while|although|though|even though|even if)\b[^,]{0,80}"
    r"|if\s[^,=]{1,40}=[^,]{1,40}),\s(?:then\s)?",
    re.IGNORECASE,
)
_THAT = re.compile(r",\s(?=(?:dass|daß|что|że|že|hogy)\s)")
_CLAUSE_END = re.compile(r"[;:,.!?](?=\s)|\b(?:so|because|since|and)\b")
_NONE = re.compile(
    r"^\W*(?:none|nobody|no one|nothing|zero)\b(?! (?:but"
    r"|other))|\b(?:is|are|was|were|has|have|had|got|scored"
    r"|found|made) (?:no|none|nothing|not a single)\b(?! (?:less|more|fewer|longer|doubt|idea))"
    r"|\bno [a-z]++ (?:is|are|was|were|remains?|left|came|survived|passed|won)\b",
    re.IGNORECASE,
)


def states_none(text: str) -> bool:
    """Whether the closing statement counts nothing: "There are no marbles left."

    >>> states_none("Nobody came."), states_none("There is no doubt.")
    (True, False)
    """
    statements = _statements(text)
    return (
        bool(statements)
        and bool(_NONE.search(statements[0]))
        and not re.search(r"\d", statements[0])
    )


def is_claimed(statement: str) -> bool:
    """Whether a statement says what it names: it denies nothing, and offers no choice."""
    may_be_unclear = not _UNCLAIMED.isdisjoint(words_in(statement))
    may_be_unclear = may_be_unclear or _UNCLAIMED_SIGN.search(statement) is not None
    if may_be_unclear and (_UNDECIDED.search(statement) or _DENIAL.search(statement)):
        return False
    return not find("deny", statement) and not find("bounds", statement)


def _is_other_label(statement: str, question: str) -> bool:
    """Return whether a statement is a label with a value, and the label is not what was asked."""
    labelled = _LABELLED.match(statement)
    if labelled is None or _USUAL_LABEL.search(labelled[1]) or _PRONOUN.search(labelled[1]):
        return False
    if _SENTENCE_BEFORE.search(labelled[1]):
        return False
    label = _content(labelled[1])
    return bool(label) and not label <= _content(question)


@lru_cache(maxsize=256)
def _statements(text: str, keep_asides: bool = False) -> tuple[str, ...]:
    """Return the sentences that may state the answer, the last first."""
    body = _STRUCK.sub("", without_drafts(text[-LONGEST:]))
    if _TEMPLATE.search(body):
        return ()
    sentences = _SENTENCES.split(_MARKS.sub("", body))
    kept = [sentence.strip() for sentence in sentences if sentence.strip()]
    if kept and len({one for one in kept if _frame(one) == _frame(kept[-1])}) > _MOST_ALIKE:
        return ()  # "It is 40. It is 58. …", or a number on each line: a list
    after = _values_end([_REASON.sub("", sentence) for sentence in kept])
    if _WRONG.search(after) or _NO_ALONE.match(after) or is_retracted(after, ""):
        return ()  # what follows the last value takes it back
    statements = [
        result if keep_asides else _ASIDE.sub(_other_values, result)
        for sentence in reversed(kept)
        if keep_asides or not sentence.startswith("(") or not _EXPLAINS.search(sentence)
        if (result := _result(sentence))
    ]
    return tuple(one for one in statements if not _GIVEN_UP.search(one) or _TURN.search(one))


def _frame(sentence: str) -> str:
    """A sentence without its numbers."""
    return _NUMBER.sub("#", sentence.rstrip("."))


def _result(sentence: str) -> str:
    """Return what a sentence states; of "We are told that x = 6, so 3x = 18" the end."""
    if not _REMARK.match(sentence):
        return sentence
    results = _SO.split(sentence)
    return results[-1] if len(results) > 1 and _GIVEN.match(sentence) else ""


def _other_values(aside: re.Match[str]) -> str:
    """Return what an aside adds: nothing if it explains, else its values, as (3, 4) does."""
    inside = _COMMAND.sub(" ", aside[1])
    explains = _EXPLAINS.search(inside) and not re.search(r"\bor\b", inside, re.IGNORECASE)
    has_word = re.search(r"[^\W\d_]{2,}", inside)
    return "" if explains or (has_word and not re.search(r"\d", inside)) else aside[0]


def _values_end(sentences: list[str]) -> str:
    """Return what a text says after its last number or letter of an option."""
    text = " ".join(sentences)
    ends = [found.end() for found in _LAST_VALUE.finditer(text)]
    return text[ends[-1] :] if ends else ""


def _after_turn(statement: str) -> str:
    """Return what follows the last "but", "wait" or "correction" that a value follows."""
    turns = [*_turns(statement), *find_all("but", statement)]
    for turn in sorted(turns, key=lambda turn: -turn.end()):
        rest = statement[turn.end() :]
        if _NUMBER.search(rest):
            return rest
    return statement


def _turns(statement: str) -> list[re.Match[str]]:
    """The words that turn from what is given up to the answer; "any but" is none."""
    return [
        turn
        for turn in _TURN.finditer(statement)
        if not turn[0].lower().startswith("but")
        or not is_exception(statement[: turn.start()].lower().split())
    ]


def _value(statement: str, with_unit: bool) -> str | None:
    explained = _IN_OTHER_WORDS.split(statement)
    if len(explained) > 1 and _NUMBER.search(explained[-1]):
        statement = explained[-1]
    numbers = list(_NUMBER.finditer(statement))
    if len({number[0].strip() for number in numbers}) == 1:
        bounded = _BOUNDED.search(statement, 0, numbers[0].start()) or _BY_YEAR.search(statement)
        return None if bounded else _plain(numbers[0], with_unit)
    last_clause = re.split(r",\s|\bso\b", statement)[-1]
    last_clause = _KNOWN_COUNT.sub(" ", last_clause)
    if _CONCLUDES.search(statement) and len(_NUMBER.findall(last_clause)) == 1:
        found = _NUMBER.search(last_clause)
        return _plain(found, with_unit) if found else None
    if (_REMAINS.search(last_clause) or _SUBJECT.match(last_clause)) and len(
        _NUMBER.findall(last_clause)
    ) == 1:
        found = _NUMBER.search(statement, len(statement) - len(last_clause))
        return _plain(found, with_unit) if found else None
    rest = _LEAD.sub("", statement)
    if rest != statement and len(_NUMBER.findall(rest)) == 1:
        return _plain(next(_NUMBER.finditer(rest)), with_unit)
    for states in reversed(list(_STATES.finditer(statement))):
        found = _NUMBER.search(statement, states.end())
        if found:
            rest = statement[found.end() :]
            more = _NUMBER.search(rest)
            between = rest[: more.start()] if more else ""
            is_list = more and (" and " in between or not _PROSE_LETTER.search(between))
            if is_list or (more and not _CIRCUMSTANCE.match(rest)):
                return None  # "4 hours and 30 minutes" is not 4, and "21, 40" is not 21
            return _plain(found, with_unit)
    return None


def _plain(number: re.Match[str], with_unit: bool) -> str:
    plain = re.sub(r"\s?(?:percent|per cent|pct)$", "%", number[0]).replace("−", "-")
    unit = _UNIT.match(number.string, number.end()) if with_unit else None
    return plain + unit[0] if unit else plain


# -- Options

_LETTER = re.compile(
    r"\(([A-Za-z])\)|\b(?i:option|choice|answer|letter|statement|sentence|item)\s+([A-Z])\b(?!')"
    r"|^([B-HJ-Z])[).:]?(?=\s|$)"
    r"|^([A-Z])[).:](?=\s|$)|\b([B-HJ-Z]) it is\b"
    r"|\b([B-HJ-Z])\)? (?:must be|has to be|is (?:the )?(?:correct|right|best|only|true))\b"
    r"|(?:\b(?i:choose|pick|with|is|be|but|so|leaves?|leaving|only|es|est|ist|la|lautet)|(?<![不非没])[是选])\s?\**([A-Z])\b(?![a-z'])"
)
_RULED_OUT = re.compile(
    r"(?:\b(?i:not|cannot|neither|all but|every\w* (?:but|except)|except)\b|n['’]t\b|rule\w* out"
    r"|reason for|anything but)(?:(?!\bbut\b)[^.;,]){0,25}$"
)
_RULED_OUT_AFTER = re.compile(
    r"\W{0,3}(?:(?:is|was|can|could|does|would)(?:\snot\b|n['’]t\b)|cannot\b|can['’]t\b"
    r"|(?:is|was)\s(?:(?:the\s)?(?:wrong|false|incorrect)|an?\s(?:trap|distractor|decoy)|never"
    r"|out)\b)",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^\W*(?:because|since|as|given that)\b[^,]{0,120},\s|,?\s(?:because|since|whereas|while)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_ELIMINATED = re.compile(
    r"\b(?:eliminat\w+|rul\w+ out|exclud\w+|discard\w*"
    r"|reject\w*|cross(?:ed)? out)\s(?:options?\s)?\(?[A-Z]\)?"
    r"(?:,?\s(?:and\s|or\s)?\(?[A-Z]\)?(?=[\s,.]))*"
    r"|\b(?:options?\s)?\(?[A-Z]\)?(?:,?\s(?:and\s|or\s)?\(?[A-Z]\)?(?=[\s,.])){0,9}\s(?:can(?:"
    r" all)?"
    r" be|are|is|were|was|must be)\s(?:all\s)?(?:excluded|ruled out|eliminated|wrong|false"
    r"|incorrect"
    r"|out|discarded|rejected|impossible)\b",
    re.IGNORECASE,
)
_OR_LETTER = re.compile(r"\b(?:or|and)\s+\(?[A-Z]\b(?!\w)|\b[A-Z]\)?\s*[,/&]\s*\(?[A-Z]\b(?!\w)")


def stated_choice(text: str) -> str | None:
    """Return the one letter that the closing statement of a text chooses; None if there is none.

    >>> stated_choice("It is not B. The closest option is (A) 9.8 ft/s.")
    'A'
    """
    for statement in _statements(text, keep_asides=True):
        if _HEARSAY.search(statement):
            continue
        statement = _ELIMINATED.sub("", _REASON.sub("", statement))
        if _OR_LETTER.search(statement) or lists_options(statement):
            return None
        found = {
            next(filter(None, match.groups())).upper()
            for match in _LETTER.finditer(statement)
            if not _RULED_OUT.search(statement[: match.start()])
            and not _RULED_OUT.search(statement[: match.end() - 1])
            and not _RULED_OUT_AFTER.match(statement, match.end())
        }
        # "The answer is 42" or a number alone is the last word, whatever letters stand before it.
        if found or _VALUE_STATED.search(statement):
            return found.pop() if len(found) == 1 else None
    return None


_VALUE_STATED = re.compile(r"\banswer is [(\[{$\\]*+[-\d]|^(?=[^a-z]*+$)\D*+\d", re.IGNORECASE)


def stated_option(text: str, options: tuple[str, ...]) -> str | None:
    """Return the letter of the only option whose words the closing statement has.

    >>> stated_option("This process is called osmosis.", ("diffusion", "osmosis"))
    'B'
    """
    statements = _statements(text)
    if not statements or not options or statements[0].endswith("?"):
        return None
    words = words_of(_TAIL.sub("", _after_turn_of_text(statements[0])))
    found = [
        (letter, option)
        for letter, option in zip("ABCDEFGHIJ", map(words_of, options), strict=False)
        if option and _index(words, option) is not None
    ]
    # "agrees" is a part of "neither agrees nor disagrees".
    longest = [
        letter
        for letter, option in found
        if not any(other != option and _index(other, option) is not None for _, other in found)
    ]
    denied = len(longest) == 1 and _denied_before(words, options["ABCDEFGHIJ".index(longest[0])])
    return longest[0] if len(longest) == 1 and not denied else None


def _denied_before(words: list[str], option: str) -> bool:
    mine = words_of(option)
    at = _index(words, mine) or 0
    return is_denied(words[:at], words[at + len(mine) : at + len(mine) + 6])


# -- Texts

_TAIL = re.compile(
    r",?\s+(?:which|who|because|since|where|that|not|and not|rather than|whereas|while|so)\b.*$"
    r"|,\s.*$|\s[-–—]\s.*$|;.*$",
    re.IGNORECASE | re.DOTALL,
)
_LEAD = re.compile(
    r"^if\b[^,]{0,80},\sthen\s|^(?:in|at|on|after|for|during|as|when|since|of|among|by|with|from|to|therefore|thus|hence|so"
    r"|because|unlike|once|here|there|yes|well|clearly"
    r"|obviously|if i)\b[^,]{0,80},\s|^\d{1,2}[.)]\s",
    re.IGNORECASE,
)
# "Fe, from ferrum": what follows the comma explains what stands before it.
_EXPLAINED = re.compile(
    r",\s(?:from|because|since|as|for|meaning|short for|named|after|whose|where|which is)\s", re.I
)
_NEXT = frozenset("next close similar compared related due thanks prior opposite belongs".split())
_SMALL = frozenset(
    "the a an of in on at to and is was are were who what which where when how did does do it its"
    " this that by for with as first called you"
    " me we they he she your our their be been can".split()
)
_NEAR = 12  # words before a name in which it may be denied
_PREFERRED = frozenset("prefer prefers preferred preferable superior inferior opposed".split())
_OFFERED = re.compile(r"\bor\b|\?|\beither\b|\bif\b|\bcould be\b|\bmight be\b", re.IGNORECASE)
# What follows these is compared with the answer, or related to it.
_COMPARING = frozenset(
    "imitates imitate imitated mimics mimicked reminds cancelled canceled skipped than"
    " like near before after beside besides unlike except but without against versus vs from"
    " resembles resembled replaces replaced rivals precedes preceded borders lacks excludes denies"
    " avoids opposes succeeded beat beats defeated"
    " until since like towards toward over under above below behind between".split()
)
_OF = frozenset("made consist consists composed full city name consisting out kind type".split())
_FOLLOWING = frozenset(
    "in on at during for from when because as by every each since while with to and under".split()
)
_QUOTED = re.compile(r"[\"“]([^\"“”]{8,300})[\"”]")
_REPEATED = re.compile(
    r"^[ \t]*+(?:Question|Q|Frage|Problem)\s*+:.*$", re.IGNORECASE | re.MULTILINE
)


def without_question(text: str, question: str) -> str:
    """Return a text without the question that it repeats."""
    text = _REPEATED.sub("", text)
    if len(question) < 8:
        return text
    text = _QUOTED.sub(lambda found: "" if found[1].strip(" .?") in question else found[0], text)
    if question in text and (text.strip() != question or question.endswith("?")):
        text = text.replace(question, " ")
    return text


def stated_values(text: str, question: str = "") -> list[str]:
    """Return what the closing statement says after its last verb or equals sign, and all of it.

    question: what was asked: a statement that repeats it counts, and not the one after it

    >>> stated_values("The point is (3, -2).")
    ['(3, -2)', 'The point is (3, -2)']
    """
    statements = _statements(text)
    if not statements:
        return []
    statement = _after_turn_of_text(_answering(statements, question)).strip(" .!\"'“”")
    if not is_claimed(statement):
        return []
    verbs = list(_IS.finditer(statement))
    after = [statement[verbs[-1].end() :].strip(" .!\"'“”")] if verbs else []
    return [one for one in (*after, statement) if one]


def states_text(text: str, gold: str, question: str = "") -> bool:
    """Whether the statement that answers the question has the gold as its subject or its end.

    >>> states_text("The capital of France is Paris.", "Paris")
    True
    >>> states_text("Bees make wax beside the honey.", "honey")
    False
    """
    wanted = words_of(plain_name(gold))
    statements = _statements(text)
    if not wanted or not statements:
        return False
    asked = _content(question)
    turned = _after_turn_of_text(_answering(statements, question)).strip(" .!\"'“”")
    turned = plain_name(with_acronyms(_SUFFIX.sub("", turned), gold))
    if _OFFERED.search(_LEAD.sub("", turned)) or _HEARSAY.search(turned) or find("deny", turned):
        return False
    if _is_complement(turned, gold, wanted, asked):
        return True
    whole = _LEAD.sub("", turned)
    words = words_of(_TAIL.sub("", whole))
    asked = (asked | {f"{word}s" for word in asked}) - {*wanted}
    if words == wanted and _EXPLAINED.search(whole) and is_claimed(whole):
        return True
    return _states_words(words, wanted, asked) or _has_subject(words_of(whole), wanted, asked)


_DASH = re.compile(r"\s[-–—]\s|:\s")
_SUFFIX = re.compile(r"['’][dt][ıiuü]r\b")  # Turkish: Ankara'dır
_COPULAS = tuple("是 为 為 叫 は が 은 는 이 가 →".split())


def _is_complement(statement: str, gold: str, wanted: list[str], asked: set[str]) -> bool:
    """Whether a statement ends with the gold, behind a dash or the "is" of a language."""
    *lead, last = _DASH.split(statement)
    if lead and words_of(last) == wanted:
        words = {*words_of(" ".join(lead))} - _SMALL
        return bool(words) and 2 * len(words & asked) >= len(words) and is_claimed(lead[-1])
    if gold.isascii():
        return False
    plain = statement.rstrip("。.！! ")
    ending = next((one for one in phrases("endings") if plain.endswith(one)), "")
    plain = plain.removesuffix(ending)
    lead_of_gold = plain.removesuffix(gold).rstrip()
    return plain.endswith(gold) and lead_of_gold.endswith(_COPULAS) and is_claimed(statement)


def _answering(statements: tuple[str, ...], question: str) -> str:
    """Return the last statement that repeats most of the question, else the last one."""
    asked = _content(question)
    return next((one for one in statements if _answers(one, asked)), statements[0])


def _answers(statement: str, asked: set[str]) -> bool:
    """Whether a statement repeats most of a question."""
    return len(asked) > 1 and 2 * len(asked & _content(statement)) >= len(asked) + 1


def _states_words(words: list[str], wanted: list[str], asked: set[str]) -> bool:
    at = _index(words, wanted)
    end = (at or 0) + len(wanted)
    if at is None or is_denied(words[max(0, at - _NEAR) : at], words[end : end + 6]):
        return False
    before = words[at - 1] if at else ""
    if before in _COMPARING or "between" in words[max(0, at - 4) : at]:
        return False
    if before.startswith("out") and before.endswith(("s", "ed")):  # outweighs, outlived
        return False
    if before == "of" and not (at > 1 and words[at - 2] in _OF):
        return False
    if before == "as" and {"same", "such"} & {*words[:at]}:
        return False
    if before == "to" and (words[at - 2] in _NEXT or _PREFERRED & {*words[:at]}):
        return False
    if at > 1 and words[at - 2] == "to" and before not in asked and before not in _SMALL:
        return False  # "to make milk"
    rest = [] if asked >= {*words[end:]} else words[end:]
    if at == 0:
        return False
    if not rest:
        return _leads_to_value(words[:at], asked)
    return at > 1 and rest[0] in _FOLLOWING and before != "and"


def _has_subject(words: list[str], wanted: list[str], asked: set[str]) -> bool:
    """Whether a statement begins with the gold, and goes on with what was asked."""
    rest = words[len(wanted) :]
    if words[: len(wanted)] != wanted or rest[:1] in (["and"], ["or"], ["with"]):
        return False
    content = {word for word in rest if not word.isdigit()} - _SMALL
    repeats = bool(content) and 2 * len(content & asked) >= len(content)
    return repeats and not is_denied([], rest) and not is_denied(rest, [])


def _leads_to_value(lead: list[str], asked: set[str]) -> bool:
    """Whether words before a value state it: "dark blue" is not blue, "we call it blue" is."""
    if any(word in _VERBS or (len(word) > 3 and word.endswith(("s", "ed"))) for word in lead):
        return True
    return all(word in asked or word in _SMALL for word in lead)


_VERBS = frozenset(
    "is are was were be been has have had do does did will can make makes made give gives gave get"
    " got call means use pay play live eat breathe"
    " produce form take come came speak follow wrote won"
    " led sell grow need want choose pick say think"
    " believe find found know see in on at with by for"
    " es est ist e sono son sind war waren era eran fue etait fut zijn er jest byl byla"
    " heisst llama"
    " becomes answer therefore its thats it he she they we i you".split()
)


def _index(words: list[str], wanted: list[str]) -> int | None:
    """Return where words stand in a row for the last time; None if they do not."""
    for at in range(len(words) - len(wanted), -1, -1):
        if words[at : at + len(wanted)] == wanted:
            return at
    return None


def _after_turn_of_text(statement: str) -> str:
    turns = _turns(statement)
    rest = statement[turns[-1].end() :] if turns else ""
    return rest if rest.strip(" .") else statement


def _content(text: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(text)} - _SMALL
