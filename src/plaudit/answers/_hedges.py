"""Prose in, and out comes what it still claims at its end, and whether it hedges."""

import re

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
    """The text without its thinking, and without what it takes back.

    >>> still_claimed("<think>Rome?</think>It is Paris. Wait, no, it is Oslo.")
    ', it is Oslo.'
    """
    text = _THINKING.sub(" ", text)
    end = 0
    for found in _TAKEN_BACK.finditer(text):
        end = found.end() if text[found.end() :].strip(" .!") else end
    return text[end:].strip()


def is_hedged(text: str) -> bool:
    """Whether a text offers more answers than one: "either … or", or two hedges.

    >>> is_hedged("It could be Rome."), is_hedged("It could be Rome, or maybe Oslo.")
    (False, True)
    """
    if _EITHER.search(text):
        return True
    found = _HEDGE.finditer(text)
    return next(found, None) is not None and next(found, None) is not None
