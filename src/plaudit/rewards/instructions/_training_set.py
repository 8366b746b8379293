"""The instructions that open-instruct's IFEvalG has for training, besides those of IFEval."""

import re
from itertools import pairwise

from plaudit.rewards.instructions._registry import Finding, Relation, compared, instruction
from plaudit.rewards.instructions._text import STRIPPED, sentences, tokens
from plaudit.rewards.instructions._words import (
    keyword_pattern,
    keyword_position,
    letter_frequency,
    number_paragraphs,
    repeat_span,
)


@instruction("copy:copy", "The response is `prompt_to_repeat`.")
@instruction("copy:copying_simple", "The response is `prompt_to_repeat`.")
def copy(text: str, prompt_to_repeat: str) -> Finding:
    same = text.strip().lower() == prompt_to_repeat.strip().lower()
    return Finding(same, f"it is {'' if same else 'not '}the request")


@instruction(
    "copy:copying_multiple", "The response is `prompt_to_repeat` `N` times, ****** between."
)
def copying_multiple(text: str, prompt_to_repeat: str, N: int) -> Finding:  # noqa: N803
    wanted = prompt_to_repeat.strip().lower()
    copies = [part.strip().lower() == wanted for part in text.split("******")]
    followed = len(copies) == N and all(copies)
    return Finding(followed, f"{sum(copies)} of {len(copies)} parts are the request, expected {N}")


@instruction(
    "new:copy_span_idx",
    "The response is characters `n_start` to `n_end` of `prompt_to_repeat`, both included.",
)
def copy_span(
    text: str, prompt_to_repeat: str, n_start: int, n_end: int, *, faithful: bool = False
) -> Finding:
    # The reference leaves out the last character.
    return repeat_span(text, prompt_to_repeat, n_start, n_end - 1 if faithful else n_end)


@instruction(
    "copy:repeat_phrase", "`phrase` comes `small_n` times, each with one other word inside."
)
def repeat_phrase(text: str, phrase: str, small_n: int, *, faithful: bool = False) -> Finding:
    wanted = phrase.split()
    if len(wanted) < 2:
        raise ValueError(f"phrase must have at least two words, got {phrase!r:.80}")
    found = [part for line in text.split("\n") for part in _between(line, wanted[0], wanted[-1])]
    changes = [
        sum(was != word for was, word in zip(part, wanted, strict=True))
        for part in map(str.split, found)
        if len(part) == len(wanted)
    ]
    followed = len(found) == len(changes) == small_n and all(count <= 1 for count in changes)
    # The reference looks for a change in the last one alone.
    followed = followed and (changes[-1:] == [1] if faithful else 0 not in changes)
    said = f"{len(found)} times the phrase, expected {small_n}"
    return Finding(followed, f"{said}; {changes[:9]} words are changed, expected one each")


def _between(line: str, first: str, last: str) -> list[str]:
    """Return the parts of a line from a word to the next of another."""
    found = []
    start = line.find(first + " ")
    while start >= 0:
        end = line.find(" " + last, start + len(first) + 1)
        if end < 0:
            break
        found.append(line[start : end + 1 + len(last)])
        start = line.find(first + " ", end + 1 + len(last))
    return found


@instruction("detectable_format:sentence_hyphens", "Hyphens connect the sentences, without spaces.")
def sentence_hyphens(text: str) -> Finding:
    cut = sentences(text.replace("-", " "))
    followed = all(part == wanted for part, wanted in zip(text.split("-"), cut, strict=False))
    return Finding(followed, f"{len(cut)} sentences, {text.count('-')} hyphens")


@instruction("detectable_format:square_brackets", "Every word is in [square] [brackets].")
def square_brackets(text: str) -> Finding:
    without = sum(not (word[0] == "[" and word[-1] == "]") for word in text.split())
    return Finding(not without, f"{without} words without brackets, expected none")


@instruction("detectable_format:bigram_wrapping", "Every two words are in <<double brackets>>.")
def bigram_wrapping(text: str) -> Finding:
    its = text.split()
    pairs = list(zip(its[0::2], its[1::2], strict=False))
    without = sum(not (a.startswith("<<") and b.endswith(">>")) for a, b in pairs)
    return Finding(not without, f"{without} of {len(pairs)} pairs without brackets, expected none")


@instruction(
    "keywords:no_adjacent_consecutive", "No word starts with the letter after its neighbour's."
)
def no_adjacent_consecutive(text: str) -> Finding:
    for before, after in pairwise(text.lower().split()):
        if ord(after[0]) - ord(before[0]) == 1:
            return Finding(False, f'"{before:.60}" and "{after:.60}" start with letters in order')
    return Finding(True, "no two do")


@instruction("keywords:word_once", "The word `keyword` occurs once.")
def word_once(text: str, keyword: str, *, faithful: bool = False) -> Finding:
    count = len(keyword_pattern(keyword.strip(), faithful).findall(text))
    return Finding(count == 1, f'{count} times the word "{keyword.strip()}", expected once')


@instruction(
    "keywords:word_count_different_numbers",
    "The word `keyword` occurs at least, or less than, `frequency` times.",
)
def word_count(
    text: str, keyword: str, frequency: int, relation: Relation, *, faithful: bool = False
) -> Finding:
    count = len(keyword_pattern(keyword.strip(), faithful).findall(text))
    return compared(count, relation, frequency, f'times the word "{keyword.strip()}"')


@instruction("count:count_increment_word", "`keyword1` occurs once, `keyword2` twice.")
def count_increment_word(
    text: str, keyword1: str, keyword2: str, *, faithful: bool = False
) -> Finding:
    counts = [
        len(keyword_pattern(word.strip(), faithful).findall(text)) for word in (keyword1, keyword2)
    ]
    return Finding(counts == [1, 2], f"{counts[0]} and {counts[1]} times, expected 1 and 2")


@instruction("keywords:exclude_word_harder", "The response has no word `keyword`.")
def exclude_word(text: str, keyword: str, *, faithful: bool = False) -> Finding:
    word = keyword.strip()
    # The reference misses the word before a mark, or at either end.
    found = f" {word} " in text if faithful else keyword_pattern(word, False).search(text)
    return Finding(not found, f'there is {"a" if found else "no"} word "{word}"')


@instruction("keywords:palindrome", "The response has a palindrome.")
def palindrome(text: str, *, faithful: bool = False) -> Finding:
    its = text.split()
    if not faithful:  # "a" and "I" are none
        its = [word.strip(STRIPPED).lower() for word in its]
        its = [word for word in its if len(word) > 2]
    found = next((word for word in its if word == word[::-1]), None)
    return Finding(found is not None, f'"{found:.60}" is one' if found else "there is none")


@instruction("keywords:keyword_specific_position", "Word `m` of sentence `n` is `keyword`.")
def keyword_in_position(
    text: str, keyword: str, n: int, m: int, *, faithful: bool = False
) -> Finding:
    if not faithful:
        return keyword_position(text, keyword, n, m)
    its = tokens(sentences(text)[n - 1]) if len(sentences(text)) >= n else []
    followed = its[m - 1 : m] == [keyword.strip()]
    return Finding(followed, f"token {m} of sentence {n} is {its[m - 1 : m]!r:.60}")


@instruction("keywords:start_end", "The first word is the last, without a mark after it.")
def start_end(text: str) -> Finding:
    its = [token.lower() for token in tokens(text)]
    followed = len(its) > 1 and its[0] == its[-1]
    return Finding(followed, f"the ends are {its[:1] + its[-1:]!r:.120}")


@instruction("letters:letter_counting", "There are at least, or less than, `N` letters.")
def letter_counting(text: str, N: int, relation: Relation) -> Finding:  # noqa: N803
    return compared(len(re.findall("[a-zA-Z]", text)), relation, N, "letters")


instruction(
    "letters:letter_counting2",
    "The character `letter` occurs at least, or less than, `let_frequency` times.",
)(letter_frequency)


@instruction("paragraphs:paragraphs", "There are two paragraphs with the divider *** between them.")
def two_paragraphs(text: str, *, faithful: bool = False) -> Finding:
    return number_paragraphs(text, 2, faithful=faithful)


@instruction("paragraphs:paragraphs2", "There are two paragraphs with a blank line between them.")
def two_paragraphs_apart(text: str) -> Finding:
    cut = [part.strip() for part in text.split("\n\n")]
    count = sum(map(bool, cut))
    return Finding(count == 2 and all(cut[1:-1]), f"{count} paragraphs, expected 2")


@instruction("first_word:first_word_sent", "Each sentence starts with `first_word`.")
def first_word_of_sentences(text: str, first_word: str) -> Finding:
    firsts = [sentence.split()[0].lower() for sentence in sentences(text)]
    others = sum(word != first_word.strip().lower() for word in firsts)
    return Finding(not others, f"{others} of {len(firsts)} sentences start with another word")


@instruction("first_word:first_word_answer", "The response starts with the word `first_word`.")
def first_word_of_answer(text: str, first_word: str) -> Finding:
    first = text.split(maxsplit=1)[0]
    return Finding(first.lower() == first_word.strip().lower(), f'it starts with "{first:.60}"')


@instruction("last_word:last_word_sent", "Each sentence ends with the word `last_word`.")
def last_word_of_sentences(text: str, last_word: str) -> Finding:
    lasts = [_bare(sentence.split()[-1]) for sentence in sentences(text)]
    others = sum(word != last_word.strip().lower() for word in lasts)
    return Finding(not others, f"{others} of {len(lasts)} sentences end with another word")


@instruction("last_word:last_word_answer", "The response ends with the word `last_word`.")
def last_word_of_answer(text: str, last_word: str) -> Finding:
    last = _bare(text.split()[-1])
    return Finding(last == last_word.strip().lower(), f'it ends with "{last:.60}"')


def _bare(word: str) -> str:
    return re.sub(r"\W", "", word).lower()


@instruction("punctuation:punctuation_dot", "The response has no dot.")
def no_dot(text: str) -> Finding:
    return Finding("." not in text, f"{text.count('.')} dots, expected none")


@instruction("punctuation:punctuation_exclamation", "The response has no exclamation mark.")
def no_exclamation(text: str) -> Finding:
    return Finding("!" not in text, f"{text.count('!')} exclamation marks, expected none")


@instruction("count:lowercase_counting", "At most `N` words are in small letters.")
def lowercase_counting(text: str, N: int) -> Finding:  # noqa: N803
    count = len(re.findall(r"\b[a-z]+\b", text))
    return Finding(count <= N, f"{count} words in small letters, expected at most {N}")


@instruction(
    "count:counting_composition",
    "There are 3 paragraphs with * * * between, of `n_sent` sentences of `n_words` words.",
)
def counting_composition(
    text: str, n_sent: int, n_words: int, *, faithful: bool = False
) -> Finding:
    divider = r"\s?\*\*\*\s?" if faithful else r"(?<!\S)\* ?\* ?\*(?!\S)"
    cut = re.split(divider, text)
    if len(cut) != 3:
        return Finding(False, f"{len(cut)} paragraphs, expected 3")
    for paragraph in cut:
        counts = [_words_in(sentence, faithful) for sentence in sentences(paragraph)]
        if counts != [n_words] * n_sent:
            said = f"a paragraph has sentences of {counts[:9]} words"
            return Finding(False, f"{said}, expected {n_sent} of {n_words}")
    return Finding(True, f"3 paragraphs of {n_sent} sentences of {n_words} words")


def _words_in(sentence: str, faithful: bool) -> int:
    """Return how many words a sentence has; the reference counts marks as well."""
    return sum(faithful or any(map(str.isalnum, token)) for token in tokens(sentence))


@instruction("count:count_unique", "No word comes twice.")
def count_unique(text: str, *, faithful: bool = False) -> Finding:
    its = tokens(text)
    if not faithful:  # marks may come twice, and "The" is "the"
        its = [token.lower() for token in its if any(map(str.isalnum, token))]
    repeated = len(its) - len(set(its))
    return Finding(not repeated, f"{repeated} words are repeated, expected none")
