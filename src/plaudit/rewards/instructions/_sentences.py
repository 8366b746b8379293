"""Instructions that compare sentences with one another: their kinds, lengths and words."""

import re
from itertools import pairwise
from string import punctuation

from plaudit.rewards.instructions._registry import Finding, instruction
from plaudit.rewards.instructions._text import (
    CLOSING_QUOTES,
    PUNCTUATION,
    STRIPPED,
    is_emoji,
    sentences,
)

# A flag is two regional letters, a keycap ends in U+20E3: none of these is an emoji by itself.
_PARTS_OF_EMOJI = frozenset(
    map(chr, [*range(0x1F1E6, 0x1F200), 0x20E3, 0xFE0F, *range(0x1F3FB, 0x1F400)])
)


def _kinds(text: str, faithful: bool) -> tuple[int, int, int]:
    """Return how many sentences end in a period, a question mark, an exclamation mark."""
    ends = [
        (sentence if faithful else sentence.rstrip(CLOSING_QUOTES))[-1:]
        for sentence in sentences(text)
    ]
    return ends.count("."), ends.count("?"), ends.count("!")


@instruction("ratio:sentence_type", "There are two statements for each question.")
def sentence_type(text: str, *, faithful: bool = False) -> Finding:
    statements, questions, _ = _kinds(text, faithful)
    followed = statements == 2 * questions and (faithful or questions > 0)
    return Finding(followed, f"{statements} statements and {questions} questions, expected 2 to 1")


@instruction("ratio:sentence_balance", "Statements, questions and exclamations are equally many.")
def sentence_balance(text: str, *, faithful: bool = False) -> Finding:
    kinds = _kinds(text, faithful)
    followed = len(set(kinds)) == 1 and (faithful or kinds[0] > 0)
    statements, questions, exclamations = kinds
    return Finding(
        followed, f"{statements} statements, {questions} questions, {exclamations} exclamations"
    )


@instruction(
    "ratio:sentence_words", "There are three sentences of equal length, and no word comes twice."
)
def sentence_words(text: str, *, faithful: bool = False) -> Finding:
    cut = sentences(text)
    lengths = [len(sentence) for sentence in cut]
    if len(cut) != 3 or len(set(lengths)) != 1:
        return Finding(False, f"sentences of {lengths[:9]} characters, expected three equal ones")
    its = text.lower().translate(PUNCTUATION).split()
    repeated = len(its) - len(set(its))
    return Finding(faithful or not repeated, f"{repeated} words are repeated, expected none")


@instruction(
    "sentence:alliteration_increment",
    "Each sentence has a longer row of words with the same first letter than the one before.",
)
def alliteration_increment(text: str) -> Finding:
    longest = [_alliteration(sentence) for sentence in sentences(text)]
    followed = all(before < after for before, after in pairwise(longest))
    return Finding(followed, f"{longest[:9]} alliterative words, expected more each time")


def _alliteration(sentence: str) -> int:
    """Return how many words are in rows of words with the same first letter, as IFBench counts."""
    firsts = [word.lstrip(STRIPPED)[:1] for word in sentence.lower().split()]
    firsts = [first for first in firsts if first]
    count, in_row = 0, False
    for before, after in pairwise(firsts):
        count += (1 if in_row else 2) if before == after else 0
        in_row = before == after
    return count


@instruction("sentence:increment", "Each sentence has `small_n` more words than the one before.")
def sentence_increment(text: str, small_n: int) -> Finding:
    counts = [len(sentence.translate(PUNCTUATION).split()) for sentence in sentences(text)]
    followed = all(after == before + small_n for before, after in pairwise(counts))
    return Finding(followed, f"{counts[:9]} words, expected {small_n} more each time")


@instruction("words:last_first", "The last word of each sentence is the first word of the next.")
def last_first(text: str) -> Finding:
    for before, after in pairwise(sentences(text)):
        last = before.rstrip(STRIPPED).lower().split()[-1:]
        first = after.lstrip(STRIPPED).lower().split()[:1]
        if not last or last != first:
            return Finding(False, f"{(*last, *first)!r:.120} stand at the ends")
    return Finding(True, "each sentence starts with the last word before it")


@instruction("format:emoji", "Every sentence ends with an emoji.")
def emoji_at_ends(text: str, *, faithful: bool = False) -> Finding:
    cut = [sentence.translate(PUNCTUATION).strip() for sentence in sentences(text)]
    for number, sentence in enumerate(cut, start=1):
        following = cut[number : number + 1] or [""]
        ends = any(_is_emoji(character, faithful) for character in sentence[-2:])
        if not sentence or not (ends or (following[0] and _is_emoji(following[0][0], faithful))):
            return Finding(False, f"sentence {number} of {len(cut)} has no emoji at its end")
    return Finding(True, f"each of {len(cut)} sentences has one")


def _is_emoji(character: str, faithful: bool) -> bool:
    return is_emoji(character) or (not faithful and character in _PARTS_OF_EMOJI)


@instruction("words:paragraph_last_first", "Each paragraph ends with the word it starts with.")
def paragraph_last_first(text: str) -> Finding:
    for number, line in enumerate(text.lower().split("\n"), start=1):
        its = line.strip().strip(STRIPPED).split()
        if its and its[0] != its[-1]:
            return Finding(
                False, f'line {number} starts with "{its[0]:.60}", ends with "{its[-1]:.60}"'
            )
    return Finding(True, "each paragraph ends with its first word")


@instruction("format:options", "The response is one of `options` and nothing else.")
def options(text: str, options: str) -> Finding:
    separator = "/" if "/" in options else "or" if "or" in options else ","
    known = [option.strip() for option in options.split(separator)]
    if re.match(r"\W*a\W*b\W*c", options, re.IGNORECASE):  # a), b), c): the marks count
        return Finding(text in known, f"expected one of {known}")
    bare = [option.strip(punctuation + " ").lower() for option in known]
    return Finding(text.strip(punctuation + " ").lower() in bare, f"expected one of {known}")
