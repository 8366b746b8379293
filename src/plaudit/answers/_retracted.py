"""The text after an answer in, and out comes whether it takes the answer back: "Hold on, …"."""

import re

_SENTENCE_END = re.compile(r"\.(?=\s+[A-Z\"'(\[*]|\s*$|\s*\n)|[!?](?=\s|$)|\n")
# Before a full stop that ends no sentence. `sentence_end` looks at six characters for it.
_ABBREVIATION = re.compile(r"\b(?:a|p|St|Mr|Mrs|Dr|Oct|Sept?|Nov|Dec|Jan|Feb|Aug|No|vs)$")
_TAKEN_BACK = re.compile(
    r"\bactually[,:]?\s+(?:no\b|wait\b|that|it(?:'s| is)|I\b|the (?:correct|right) )"
    r"|\bno,?\s+wait\b|\bwait\b[,.!—-]|\bhold on\b|\bon second thought|\bscratch that\b"
    r"|\bcorrection\s*:|\bretract\b|\btake (?:that|it|this) back\b|\bdisregard\b"
    r"|\bignore (?:that|this|the above|my|what)\b|\bI was wrong\b|\bI(?:'m| am) wrong\b"
    r"|\b(?:that|this|it|which|above|answer)(?:'s| is| was)(?: actually| clearly| in fact)? "
    r"(?:wrong|incorrect|not right|not correct|mistaken|a mistake|an error|false|not true"
    r"|impossible)\b|\bI (?:have )?(?:made|see) (?:a|an|my)\b[^.]{0,30}?(?:mistake|error|slip)"
    r"|\bI (?:mis\w+|forgot|overlooked|missed|miscounted)\b|\bmy mistake\b|\bmy bad\b|\boops\b"
    r"|\b(?:sorry|apologies|apologize)\b(?! for (?:the|any|being|a) (?:long|length|lengthy|delay))"
    r"|\blet me (?:re|correct|fix|try again|start over)"
    r"|\bshould (?:actually |really |instead )?(?:be|have been)\b|\brather than\b|\bhmm+\b"
    r"|\bor rather\b|\bstrike that\b|\bforget (?:what|that|my|this)\b|\bwithdraw\b"
    r"|\bon reflection\b|\bwait,? no\b|\bnever ?mind\b|\bI (?:really )?meant\b|\bI should have\b"
    r"|\bI (?:have to |must )?change my (?:answer|mind)\b|\bthat (?:cannot|can't|can not) be\b"
    r"|\bthat (?:does not|doesn't) (?:work|hold|fit|check out|add up)\b|\bneeds? to be corrected\b"
    r"|\b(?:edit|update|erratum)\s*:|\b(?:up)?on (?:re-?\w+ing|closer|further|a second)\b"
    r"|\bafter (?:re-?\w+ing|double-checking|a second)\b|\b(?:checking|looking) again\b"
    r"|\bI (?:need|have|want) to correct\b|\bthe (?:answer|result|value) (?:must|has to) be\b"
    r"|\binstead\b(?! of)|\bit (?:is|was) in fact\b|\bturns out\b"
    r"|\bin fact,? (?:it is|it's|the answer) "
    r"|\bthe (?:correct|right|real|true|actual) answer (?:is|should)",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"^\W*(?:if|I (?:first|initially)|my first|earlier|initially|at first"
    r"|one (?:might|may|could)|some(?:one|body)?\b|you (?:might|may|could)|note\b|notice"
    r"|a common|many\b|students|people|had we|it (?:might|may) seem|remember|recall|don't|do not"
    r"|be careful)",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"\b(?:stands|still holds|checks out|remains|confirmed|confirms|no(?:thing| change)"
    r"|(?:is|was|am) (?:indeed |still |therefore )?"
    r"(?:correct|right|confirmed|fine|valid|unchanged|the same)"
    r"|as (?:before|found|above)|same (?:answer|result|value))\b",
    re.IGNORECASE,
)


_YES = re.compile(r"\byes\b[.,!]", re.IGNORECASE)
_YES_OR_NO = re.compile(r"\b(?:yes|no|true|false)\b", re.IGNORECASE)
_VALUES = re.compile(r"\d+(?:\.\d+)?|\b[A-J]\b")
_DRESS = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*+|[{}$*.]")
# Markers that also stand in remarks: they count only with another answer beside them.
_WEAK = (
    "should", "rather than", "actually", "hmm", "in fact", "it is in fact", "it was in fact",
    "let me", "the correct", "the right", "upon", "on ", "after", "checking", "looking", "instead",
    "turns out", "edit", "update", "the answer", "the result", "the value",
)  # fmt: skip


def is_retracted(after: str, answer: str) -> bool:
    r"""Whether what follows an answer takes it back.

    >>> is_retracted(". Hold on, it should be 7.", "5"), is_retracted(". It is not 7.", "5")
    (True, False)
    """
    last = None
    for found in _TAKEN_BACK.finditer(after):
        sentence = _sentence_around(after, found.start())
        if not _SUPPOSED.match(sentence) and not _harmless(found[0], sentence, answer):
            last = found
    if last is None:
        return False
    rest = _positive(after[last.end() :])
    says_yes = _YES.search(rest) and not _YES_OR_NO.search(answer)
    return not says_yes and not _CONFIRMED.search(rest)


def _positive(text: str) -> str:
    return re.sub(r"\b(?:not|n't|isn't|never)\s++\w++", "", text)


def _sentence_around(text: str, at: int) -> str:
    start = max(text.rfind(". ", 0, at), text.rfind("\n", 0, at), text.rfind("! ", 0, at))
    end = _SENTENCE_END.search(text, at)
    return text[start + 1 : end.start() if end else len(text)].strip()


def _harmless(marker: str, sentence: str, answer: str) -> bool:
    """Whether a marker is only a remark, by the sentence that it stands in."""
    lowered = marker.lower()
    plain = _DRESS.sub("", answer).strip()
    denies = plain.lower() in ("no", "false", "none", "impossible", "never")
    if denies and lowered.endswith(("not true", "false", "impossible")):
        return True  # "No. It is not true for n = 4."
    if not lowered.startswith(_WEAK) or lowered.startswith(
        ("actually, no", "actually no", "actually, wait")
    ):
        return False
    if lowered.startswith("let me"):
        return (
            not re.match(r"let me (?:re|correct|fix|try|start)", lowered)
            or "know" in sentence.lower()
        )
    values = _VALUES.findall(sentence)
    if _YES_OR_NO.fullmatch(plain):
        plain = plain.lower()
        values = [value.lower() for value in _YES_OR_NO.findall(sentence)]
    others = [value for value in values if value != plain]
    if lowered.startswith(("the correct", "the right", "the real", "the true", "the actual")):
        return plain in sentence or not others
    return not others or (
        plain in values and "not " + plain not in sentence and "rather" not in sentence
    )


def sentence_end(text: str, start: int) -> int:
    """Where the sentence ends; what stands between dollars or in display is not cut."""
    if text.startswith(("$$", "\\["), start):
        closing = text.find("$$" if text[start] == "$" else "\\]", start + 2)
        if closing > 0:
            return closing + 2
    found = _SENTENCE_END.search(text, start)
    dollars, counted = 0, start
    while found and found[0] == "!":
        dollars, counted = dollars + text.count("$", counted, found.start()), found.start()
        if dollars % 2 == 0:
            break
        found = _SENTENCE_END.search(text, found.end())  # a factorial
    while found and _ABBREVIATION.search(text[max(start, found.start() - 6) : found.start()]):
        found = _SENTENCE_END.search(text, found.end())
    return found.start() if found else len(text)
