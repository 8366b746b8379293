"""Yes and no: what a gold such as True or "no" asks for, and what an answer says."""

import re

from plaudit.answers._languages import pattern

_TRUE_GOLDS = frozenset(("true", "yes"))
_FALSE_GOLDS = frozenset(("false", "no"))
_LETTERS = {"y": True, "t": True, "n": False, "f": False}
_ASKS_FOR_LETTER = re.compile(r"\b[yt]\s*+(?:/|or)\s*+[nf]\b|\btrue\s*+(?:/|or)\s*+false\b", re.I)
_ASKS_FOR_SYMBOL = re.compile(r"\b(?:symbol|element|abbreviation|letter|formula)\b", re.I)
_DRESS = re.compile(r"\\(?:text|textbf|mathrm|boxed)\b|[*_`$\\{}\"'“”()\[\]]")
_CLAUSES = re.compile(r"[.!?;:\n,]+|\s[-–—]+\s|\bbut\b|\bso\b(?=\s\w)|\bbecause\b")
_LEAD = (
    r"^\s*+(?:(?:well|i(?:'d|d| would)(?: have to)? say|i think|i believe|i(?:m| am) afraid"
    r"|sorry|in short"
    r"|short answer|therefore|thus|there (?:is|can be)|theres"
    r"|hence|the (?:final |short |correct )?answer is|answer|final answer|and|then|that is|thats"
    r"|it is|its|this is|they are|the (?:statement|claim|sentence|assertion)(?: is)?|which is|oh)"
    r"\s++)*+"
)
_NO = re.compile(
    _LEAD + r"(?:(?:absolutely|certainly|definitely|of course|surely"
    r"|probably|i(?:m| am) afraid|obviously|clearly|sadly|unfortunately) not\b|not (?:at all"
    r"|really|quite|in"
    r" the least|remotely|a chance)\b|by no means\b|in no way\b|under no circumstances\b|far"
    r" from it\b"
    r"|on the contrary\b|quite the opposite\b|hardly\b|nope\b"
    r"|nah\b|no way\b|never\b|false\b|incorrect\b|wrong\b|untrue\b|impossible\b|negative\b"
    r"|there is no way\b|i (?:dont|do not) (?:think|believe) so\b|not in a (?:million"
    r"|thousand)\b|not on your life\b|not$"
    r"|(?:that|this|it)(?: is not|isnt| isnt| cannot be| cant be| wont be| is far from being)"
    r" (?:so|the case|true|right|correct)\b"
    r"|not (?:true|correct|right|so|possible|the case|in general|generally|always"
    r"|necessarily)\b|fails\b|does(?: not|nt) hold\b"
    # "no" with a noun, as in "no remainder", answers nothing.
    r"|no\b(?=\s*+$|\s++(?:it|they|he|she|there|we|i|this|that|these|those|the|you|since)\b))"
)
_YES = re.compile(
    _LEAD + r"(?:yes\b|yeah\b|yep\b|yup\b|true\b|correct\b|right\b|affirmative\b|of course\b|sure\b"
    r"|(?:absolutely|certainly|definitely|surely|probably)\b(?! not)|no (?:reason to )?doubt\b"
    r"|holds\b"
    r"|exactly\b|you bet\b|i (?:think|believe) so\b|by all means\b|naturally\b"
    r"|indeed\b(?!.*(?:\bnot\b|nt\b)))"
)
_SHORT_REPLY = re.compile(
    r"\s*+(?:it|they|he|she|that|this|there|we|you|one) (?:is|are|was|were|does|do|did"
    r"|can|could|has|have|had|will|would)(nt| not)?\s*+"
)
_SAYS_NO = re.compile(
    r"\bis an? (?:false|wrong|incorrect|untrue) (?:statement|claim|assertion|sentence)\b"
    r"|\b(?:is|are|was|would be) (?:false|incorrect|wrong|untrue|impossible|not (?:true"
    r"|correct|possible))\b"
)
_SAYS_YES = re.compile(
    r"\bis an? (?:true|correct) (?:statement|claim|assertion|sentence)\b"
    r"|\b(?:is|are|was) (?:true|correct|possible)\b"
)
_NOT_FALSE = re.compile(
    r"\b(?:is|are|was)(?:nt| not| never) (?:false|incorrect|wrong|untrue|impossible)\b"
)
_MAYBE = re.compile(r"\b(?:might|may|could)\b")
_CORRECTION = re.compile(r"\b(?:wait|actually|correction|hold on|scratch that|on second thought)\b")
_NEITHER = re.compile(
    r"\byes (?:and|or) no\b|\byes\b[^.!?]{1,40}\b(?:and|but) no\b|\bwho can (?:say|tell)\b"
    r"|\bdepends?\b|^\s*whether\b|\bno idea\b|\b(?:cannot|cant) (?:say|tell|be determined)\b"
    r"|\bnot sure\b|\bdont know\b|\bdo not know\b|\bunclear\b|\bneither yes nor no\b|\bcould go"
    r" either way\b"
    r"|\bhard to (?:say|tell)\b|\bin some cases\b|\bsometimes\b|\bboth yes\b|\b(?:maybe"
    r"|perhaps)\b|\bwho knows\b"
)
_AUXILIARY = re.compile(
    r"^\W*(?:is|are|was|were|does|do|did|can|could|has|have|had|will|would|should|may|must)\b", re.I
)
_DENIES = re.compile(r"^\s*no\s(?!doubt|wonder)"
                     r"|\b(?:not|never|cannot|none|neither|nor|isnt|arent|wasnt|werent|doesnt|dont"
                     r"|didnt|cant|hasnt|havent|wont|wouldnt)\b")  # fmt: skip
_NOT_ONLY = re.compile(r"\bnot (?:only|just|merely)\b")
_WORD = re.compile(r"[a-z0-9]++")
_SMALL = frozenset(
    "is are was were does do did can could has have had will would should may must the a an of in"
    " on at to and or it its this that there than with for by be not".split()
)
_ALSO_ENGLISH = ("no", "correct")
_LONGEST_WORD = 20  # characters of a yes or no in any language
LONGEST = 2000  # characters in which a yes or no is looked for


def truth_of_gold(gold: str, question: str = "") -> bool | None:
    """Return what a gold asks for; None if it is no truth value."""
    plain = _DRESS.sub("", gold).strip(" .").lower()
    if plain in _LETTERS and _ASKS_FOR_LETTER.search(question):
        return _LETTERS[plain]
    if plain == "no" and _ASKS_FOR_SYMBOL.search(question) and not _AUXILIARY.match(question):
        return None
    if plain in _TRUE_GOLDS or plain in _FALSE_GOLDS:
        return plain in _TRUE_GOLDS
    if len(plain) <= _LONGEST_WORD:
        for kind, value in (("no", False), ("yes", True)):
            if pattern(kind).fullmatch(plain):
                return value
    return None


def _word_of_language(text: str) -> bool | None:
    """Return what a text in another language says with its first word; None if nothing."""
    for kind, value in (("no", False), ("yes", True)):
        found = pattern(kind).match(text.lstrip(" ¡¿"))
        if found and found[0].lower() not in _ALSO_ENGLISH:
            return value
    return None


def truth_of_answer(answer: str, question: str = "") -> bool | None:
    """Return what an answer says; None if it says neither, or both.

    >>> truth_of_answer("Absolutely not."), truth_of_answer("That's correct.")
    (False, True)
    >>> truth_of_answer("9 is not prime.", "Is 9 prime?"), truth_of_answer("Yes and no.")
    (False, None)
    """
    text = _DRESS.sub("", answer[:LONGEST]).lower().replace("’", "").replace("'", "")
    if _NEITHER.search(text) or text.rstrip().endswith("?"):
        return None
    corrected = list(_CORRECTION.finditer(text))
    if corrected:
        after = _said(text[corrected[-1].end() :])
        if after:
            return after[-1]
    if (word := _word_of_language(answer.strip().lower())) is not None:
        return word
    said = _said(text)
    if said:
        # "Yes. At sea level it does." keeps its yes; "Yes, no" says both.
        return said[0] if len({*said}) == 1 else None
    plain = _LETTERS.get(text.strip(" ."))
    if plain is not None and _ASKS_FOR_LETTER.search(question):
        return plain
    return _by_statement(text, question)


def _said(text: str) -> list[bool]:
    """Return the truth values that the clauses of a text say outright."""
    said = []
    for clause in _CLAUSES.split(text):
        if short := _SHORT_REPLY.fullmatch(clause):
            said.append(short[1] is None)
        elif _NOT_FALSE.search(clause):
            said.append(True)
        elif _NO.search(clause) or _SAYS_NO.search(clause):
            said.append(False)
        elif _YES.search(clause) or _SAYS_YES.search(clause):
            said.append(True)
    return said


def _by_statement(text: str, question: str) -> bool | None:
    """Return whether a statement repeats the question's words, and does not deny them."""
    if not _AUXILIARY.match(question):
        return None
    if _MAYBE.search(text) and not _MAYBE.search(question.lower()):
        return None
    asked = {*_WORD.findall(question.lower().replace("'", ""))} - _SMALL
    sentences = [part for part in re.split(r"[.!?\n]+", text) if part.strip()]
    if not sentences or not asked:
        return None
    statement = sentences[0]
    words = {*_WORD.findall(statement)}
    if 2 * len(asked & words) < len(asked) and not re.match(r"\s*+(?:it|they|he|she)\b", statement):
        return None
    return not _DENIES.search(_NOT_ONLY.sub("", statement))
