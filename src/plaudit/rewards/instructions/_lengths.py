"""Instructions on counts: of words, sentences, paragraphs, numbers, pronouns, marks."""

import re
from collections.abc import Iterable

from plaudit.rewards.instructions._registry import Finding, Relation, compared, instruction
from plaudit.rewards.instructions._text import (
    PUNCTUATION,
    STRIPPED,
    sentences,
    tokens,
    words,
)

_CONJUNCTIONS = frozenset("and but for nor or so yet".split())
_PRONOUNS = frozenset(
    """i me we us you he him she her it they them my mine our ours your yours his hers its their
    theirs myself ourselves yourself yourselves himself herself itself themselves this that these
    those who whom whose which what whoever whomever whatever whichever anybody anyone anything
    everybody everyone everything nobody nothing somebody someone something each either neither
    both all some any none""".split()
)
# Those of nltk's list that are one run of letters: "don't" is "don" and "t".
_STOP_WORDS = frozenset(
    """a about above after again against ain all am an and any are aren as at be because been
    before being below between both but by can couldn d did didn do does doesn doing don down
    during each few for from further had hadn has hasn have haven having he her here hers herself
    him himself his how i if in into is isn it its itself just ll m ma me mightn more most mustn my
    myself needn no nor not now o of off on once only or other our ours ourselves out over own re s
    same shan she should shouldn so some such t than that the their theirs them themselves then
    there these they this those through to too under until up ve very was wasn we were weren what
    when where which while who whom why will with won wouldn y you your yours yourself
    yourselves""".split()
)


@instruction(
    "length_constraints:number_words", "The response has at least, or less than, `num_words` words."
)
def number_words(text: str, num_words: int, relation: Relation) -> Finding:
    return compared(len(words(text)), relation, num_words, "words")


@instruction(
    "length_constraints:number_sentences",
    "The response has at least, or less than, `num_sentences` sentences.",
)
def number_sentences(text: str, num_sentences: int, relation: Relation) -> Finding:
    return compared(len(sentences(text)), relation, num_sentences, "sentences")


@instruction(
    "length_constraints:number_paragraphs",
    "The response has `num_paragraphs` paragraphs with the divider *** between them.",
)
def number_paragraphs(text: str, num_paragraphs: int, *, faithful: bool = False) -> Finding:
    divider = r"\s?\*\*\*\s?" if faithful else r"(?<!\S)\*\*\*(?!\S)"  # and no bold italics
    cut = [part.strip() for part in re.split(divider, text)]
    if not all(cut[1:-1]):
        return Finding(False, "a paragraph is empty")
    count = sum(map(bool, cut))
    return Finding(count == num_paragraphs, f"{count} paragraphs, expected {num_paragraphs}")


@instruction(
    "length_constraints:nth_paragraph_first_word",
    "There are `num_paragraphs` paragraphs with blank lines between them, and paragraph "
    "`nth_paragraph` starts with `first_word`.",
)
def nth_paragraph_first_word(
    text: str,
    num_paragraphs: int,
    nth_paragraph: int,
    first_word: str,
    *,
    faithful: bool = False,
) -> Finding:
    if not 1 <= nth_paragraph <= num_paragraphs:
        raise ValueError(f"nth_paragraph must be from 1 to {num_paragraphs}, got {nth_paragraph}")
    cut = text.split("\n\n") if faithful else re.split(r"\n[^\S\n]*\n", text)
    count = sum(bool(part.strip()) for part in cut)
    if not faithful:  # the reference counts no blank paragraphs, but numbers them
        cut = [part for part in cut if part.strip()]
    if count != num_paragraphs or nth_paragraph > count:
        return Finding(False, f"{count} paragraphs, expected {num_paragraphs}")
    its = cut[nth_paragraph - 1].split() or [""]
    if faithful:
        word = re.split(r"[.,?!'\"]", its[0].lstrip("'").lstrip('"'), maxsplit=1)[0]
    else:
        marked = [part for part in its if re.search(r"\w", part)] or [""]
        word = re.split(r"[.,?!'\"*_”’:;]", marked[0].lstrip("'\"*_#>“‘«(["), maxsplit=1)[0]
    return Finding(
        word.lower() == first_word.lower(),
        f'paragraph {nth_paragraph} starts with "{word:.60}", expected "{first_word}"',
    )


@instruction("count:word_count_range", "The response has `min_words` to `max_words` words.")
def word_count_range(text: str, min_words: int, max_words: int) -> Finding:
    count = len(words(text))
    return Finding(
        min_words <= count <= max_words, f"{count} words, expected {min_words} to {max_words}"
    )


@instruction("count:unique_word_count", "The response has at least `N` different words.")
def unique_word_count(text: str, N: int, *, faithful: bool = False) -> Finding:  # noqa: N803
    found = {word.strip(STRIPPED) for word in text.lower().split()}
    if not faithful:
        found.discard("")  # what is left of a dash
    return compared(len(found), "at least", N, "different words")


@instruction("ratio:stop_words", "At most `percentage` % of the words are stop words.")
def stop_words(text: str, percentage: float) -> Finding:
    its = words(text)
    if not its:
        return Finding(False, "there are no words")
    share = sum(word.lower() in _STOP_WORDS for word in its) / len(its) * 100
    return Finding(share <= percentage, f"{share:.1f} % stop words, expected at most {percentage}")


@instruction(
    "count:conjunctions", "The response has `small_n` different coordinating conjunctions."
)
def conjunctions(text: str, small_n: int, *, faithful: bool = False) -> Finding:
    def found(its: Iterable[str]) -> set[str]:
        return {word for word in its if word.strip(STRIPPED).lower() in _CONJUNCTIONS}

    its = found(text.split())
    if not faithful:  # "And" and "and," are the same one
        its = {word.strip(STRIPPED).lower() for word in its}
    return compared(len(its), "at least", small_n, "different conjunctions")


@instruction("count:numbers", "The response has exactly `N` numbers in digits.")
def numbers(text: str, N: int) -> Finding:  # noqa: N803
    count = len(re.findall(r"\d+", text.translate(PUNCTUATION)))
    return Finding(count == N, f"{count} numbers, expected {N}")


@instruction("count:pronouns", "The response has at least `N` pronouns.")
def pronouns(text: str, N: int) -> Finding:  # noqa: N803
    count = sum(token in _PRONOUNS for token in tokens(text.replace("/", " ").lower()))
    return compared(count, "at least", N, "pronouns")


@instruction(
    "count:punctuation", "The response has every punctuation mark, and an interrobang (?!)."
)
def punctuation_marks(text: str) -> Finding:
    if not any(mark in text for mark in ("?!", "!?", "‽")):
        return Finding(False, "there is no interrobang")
    rest = text.replace("?!" if "?!" in text else "!?", "", 1)
    missing = [mark for mark in ".,!?;:" if mark not in rest]
    return Finding(not missing, f"missing: {' '.join(missing)}" if missing else "all are there")


@instruction("count:words_japanese", "Every `N`th word is Japanese.")
def words_japanese(text: str, N: int) -> Finding:  # noqa: N803
    if N < 1:
        raise ValueError("N must be at least 1")
    its = [word.strip(STRIPPED) for word in text.split()[N - 1 :: N]]
    other = [
        word
        for word in its
        if word and not word.isdigit() and not re.search("[\u3040-\u30ff\u4e00-\u9fff]", word)
    ]
    said = f"{len(its)} words checked, {len(other)} not Japanese"
    return Finding(not other, said + (f', the first is "{other[0]:.60}"' if other else ""))


@instruction(
    "ratio:overlap",
    "`percentage` % (± 2) of the response's trigrams of characters are in `reference_text`.",
)
def trigram_overlap(text: str, reference_text: str, percentage: float) -> Finding:
    its, known = _trigrams(text), _trigrams(reference_text)
    if not its:
        return Finding(False, "there are no trigrams")
    share = len(its & known) / len(its) * 100
    followed = percentage - 2 <= share <= percentage + 2
    return Finding(followed, f"{share:.1f} % shared trigrams, expected {percentage} ± 2")


def _trigrams(text: str) -> set[str]:
    return {text[start : start + 3] for start in range(len(text) - 2)}
