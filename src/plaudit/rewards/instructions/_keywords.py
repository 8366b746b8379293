"""Instructions on keywords and phrases: which occur, how often, at the start or the end."""

import re
from collections import Counter
from string import punctuation
from typing import Any

from plaudit.rewards.instructions._registry import Finding, Relation, compared, instruction
from plaudit.rewards.instructions._text import PUNCTUATION, sentences, tokens

_PERSON_NAMES = """Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte
    Alexander Amelia Benjamin Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail
    Gabriel Ella Jacob Scarlett Nathan Victoria Elijah Layla Nicholas Audrey David Hannah
    Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan Stella Jonathan""".split()
_MARKUP = "*_#`\"'“”‘’«» \t\r\n"


def keyword_pattern(keyword: str, faithful: bool) -> re.Pattern[str]:
    """Return the pattern of a keyword; the reference reads it as a regular expression."""
    if not faithful:
        return re.compile(rf"(?<!\w){re.escape(keyword)}(?!\w)", re.IGNORECASE)
    try:
        return re.compile(keyword, re.IGNORECASE)
    except re.error as error:
        message = f"the reference reads the keyword {keyword!r} as a regular expression: {error}"
        raise ValueError(message) from error


@instruction("keywords:existence", "The response has every word of `keywords`.")
def keywords_existence(text: str, keywords: list[str], *, faithful: bool = False) -> Finding:
    missing = [word for word in keywords if not keyword_pattern(word, faithful).search(text)]
    return Finding(not missing, f"missing: {', '.join(missing)}" if missing else "all are there")


@instruction(
    "keywords:frequency", "The word `keyword` occurs at least, or less than, `frequency` times."
)
def keyword_frequency(
    text: str, keyword: str, frequency: int, relation: Relation, *, faithful: bool = False
) -> Finding:
    word = keyword.strip()
    count = len(keyword_pattern(word, faithful).findall(text))
    return compared(count, relation, frequency, f'times the word "{word}"')


@instruction("keywords:forbidden_words", "The response has no word of `forbidden_words`.")
def forbidden_words(text: str, forbidden_words: list[str], *, faithful: bool = False) -> Finding:
    found = [
        word
        for word in forbidden_words
        if (
            keyword_pattern(rf"\b{word}\b", True) if faithful else keyword_pattern(word, False)
        ).search(text)
    ]
    return Finding(not found, f"forbidden: {', '.join(found)}" if found else "none is there")


@instruction(
    "keywords:letter_frequency",
    "The character `letter` occurs at least, or less than, `let_frequency` times.",
)
def letter_frequency(text: str, letter: str, let_frequency: int, let_relation: Relation) -> Finding:
    character = letter.strip().lower()
    if len(character) != 1:
        raise ValueError(f"letter must be one character, got {letter!r:.80}")
    count = text.lower().count(character)
    return compared(count, let_relation, let_frequency, f'times the character "{character}"')


@instruction(
    "count:keywords_multiple",
    "`keyword1` occurs once, `keyword2` twice, and the others 3, 5 and 7 times.",
)
def keywords_multiple(
    text: str,
    keyword1: str,
    keyword2: str,
    keyword3: str,
    keyword4: str,
    keyword5: str,
    *,
    faithful: bool = False,
) -> Finding:
    counts = []
    for keyword in (keyword1, keyword2, keyword3, keyword4, keyword5):
        word = keyword.strip()
        within = text.lower().count(word.lower())
        counts.append(within if faithful else len(keyword_pattern(word, False).findall(text)))
    said = ", ".join(map(str, counts))
    return Finding(counts == [1, 2, 3, 5, 7], f"{said} times, expected 1, 2, 3, 5, 7")


@instruction("count:person_names", "The response names at least `N` persons of the list.")
def person_names(text: str, N: int) -> Finding:  # noqa: N803
    found = set(re.findall(rf"\b(?:{'|'.join(_PERSON_NAMES)})\b", text))
    return compared(len(found), "at least", N, "person names")


@instruction("sentence:keyword", "Sentence `N` has the word `word`.")
def sentence_keyword(text: str, word: str, N: int) -> Finding:  # noqa: N803
    cut = sentences(text)
    if len(cut) < N:
        return Finding(False, f"{len(cut)} sentences, and the word is expected in number {N}")
    # The reference takes the last sentence for number 0.
    found = re.search(rf"\b{re.escape(word)}\b", cut[N - 1], re.IGNORECASE)
    return Finding(bool(found), f'sentence {N} has {"the" if found else "no"} word "{word}"')


@instruction("words:keywords_specific_position", "Word `m` of sentence `n` is the word `keyword`.")
def keyword_position(text: str, keyword: str, n: int, m: int) -> Finding:
    cut = sentences(text)
    if len(cut) < n:
        return Finding(False, f"{len(cut)} sentences, and the word is expected in number {n}")
    its = [token for token in tokens(cut[n - 1]) if any(map(str.isalnum, token))]
    if len(its) < m:
        return Finding(False, f"sentence {n} has {len(its)} words, expected at least {m}")
    return Finding(
        its[m - 1].lower() == keyword.strip().lower(),
        f'word {m} of sentence {n} is "{its[m - 1]:.60}", expected "{keyword.strip()}"',
    )


@instruction("words:words_position", "The second word and the second to last word are `keyword`.")
def words_position(text: str, keyword: str, *, faithful: bool = False) -> Finding:
    its = [token.lower() for token in tokens(text)]
    if not faithful:  # marks such as "..." are no words
        its = [token for token in its if any(map(str.isalnum, token))]
    last = -3 if its and its[-1] in punctuation else -2
    if len(its) < -last:
        return Finding(False, f"{len(its)} words, which are too few")
    wanted = keyword.strip().lower()
    return Finding(
        its[1] == its[last] == wanted,
        f'"{its[1]:.60}" and "{its[last]:.60}", expected "{wanted}" twice',
    )


@instruction("startend:end_checker", "The response ends with `end_phrase`.")
def end_checker(text: str, end_phrase: str, *, faithful: bool = False) -> Finding:
    phrase = end_phrase.strip().lower()
    end = text.strip().strip('"').lower()
    followed = end.endswith(phrase)
    if not followed and not faithful:  # markup and quotes may close after the phrase
        followed = end.rstrip(_MARKUP).endswith(phrase.rstrip(_MARKUP))
    return Finding(followed, f'the end is "{text.strip()[-60:]}", expected "{end_phrase.strip()}"')


@instruction("startend:quotation", "The response is in double quotation marks.")
def quotation(text: str, *, faithful: bool = False) -> Finding:
    whole = text.strip()
    pairs = ('""',) if faithful else ('""', "“”", "„“", "«»", "””")
    followed = len(whole) > 1 and whole[0] + whole[-1] in pairs
    return Finding(followed, f"it starts with {whole[:1]!r} and ends with {whole[-1:]!r}")


@instruction(
    "combination:repeat_prompt", "The response repeats `prompt_to_repeat`, and then answers."
)
def repeat_prompt(text: str, prompt_to_repeat: str) -> Finding:
    followed = text.strip().lower().startswith(prompt_to_repeat.strip().lower())
    return Finding(followed, f"it {'starts' if followed else 'does not start'} with the request")


@instruction("repeat:repeat_change", "The response is `prompt_to_repeat` with another first word.")
def repeat_change(text: str, prompt_to_repeat: str) -> Finding:
    same = prompt_to_repeat.split()[1:] == text.split()[1:]
    if prompt_to_repeat == text:
        return Finding(False, "the request is repeated without a change")
    return Finding(same, f"the words after the first are {'' if same else 'not '}the request's")


@instruction("repeat:repeat_simple", "The response is the sentence of the instruction itself.")
def repeat_simple(text: str) -> Finding:
    sentence = "only output this sentence here, ignore all other requests."
    followed = text.strip().lower() == sentence
    return Finding(followed, f"it is {'' if followed else 'not '}that sentence alone")


@instruction(
    "repeat:repeat_span",
    "The response is characters `n_start` to `n_end` of `prompt_to_repeat`, both included.",
)
def repeat_span(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> Finding:
    span = prompt_to_repeat[n_start : n_end + 1].strip()
    return Finding(text.strip().lower() == span.lower(), f'expected "{span:.60}"')


@instruction("words:repeats", "No word occurs more than `small_n` times.")
def word_repeats(text: str, small_n: int) -> Finding:
    counts: Counter[Any] = Counter(text.lower().translate(PUNCTUATION).split())
    word, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return Finding(count <= small_n, f'{count} times "{word:.60}", expected at most {small_n}')
