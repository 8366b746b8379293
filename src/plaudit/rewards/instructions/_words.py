"""Instructions on words and sentences: their counts, keywords, letters, kinds and order."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from string import ascii_lowercase, punctuation
from typing import Any

from plaudit.rewards.instructions._registry import Finding, Relation, compared, instruction
from plaudit.rewards.instructions._text import (
    CLOSING_QUOTES,
    PUNCTUATION,
    STRIPPED,
    is_emoji,
    language_of,
    sentences,
    syllables,
    tokens,
    words,
)

_PRIMES = frozenset(n for n in range(2, 100) if all(n % d for d in range(2, n)))
_CONSONANTS = re.compile("[bcdfghjklmnpqrstvwxyz]{2}")
_CODES = frozenset(
    """af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr
    ne nl no pa pl pt ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh zh-cn zh-tw""".split()
)
# Base forms that often begin a response; forms in -ing, and verbs in -ify and -ize, need no list.
_VERBS = frozenset(
    """accept achieve act add address adjust adopt allow analyze answer apply approach are ask
    assess assume attend avoid be become begin believe bring build calculate call can capture check
    choose clean click close collect combine come compare complete compose connect consider
    continue convert cook could count cover craft create cut decide define deliver describe design
    determine develop did discover discuss do does draw drink drive eat embark embrace employ
    enable encourage enjoy ensure enter establish evaluate examine exist expand expect explain
    explore express extract feel fill find fix focus follow gather generate get give go grab grow
    had handle has have hear help hold identify ignore illustrate imagine implement improve include
    increase incorporate indicate initiate insert install introduce invest involve is join keep
    know launch lead learn leave let list listen live look maintain make manage may measure meet
    might mix monitor move must navigate need note notice obtain offer open order organize outline
    paint pay perform pick picture place plan play pour prepare present prevent proceed produce
    promote protect provide purchase put raise reach read realize receive recognize recommend
    reduce reflect remain remember remove repeat replace request require research respond return
    review save say schedule seek select sell send serve set shall share should show solve speak
    specify spend start stay stir store strive submit suggest support take talk tell test think
    transform travel try turn understand unlock update use utilize verify visit wait walk was watch
    wear were will witness work would write""".split()
)
_NOT_VERBS = frozenset(
    """during nothing something everything anything morning evening king ring spring string thing
    wing ceiling building beijing interesting""".split()
)


@instruction("words:start_verb", "The response starts with a verb.")
def start_verb(text: str) -> Finding:
    first = (tokens(text[:1000]) or [""])[0]
    word = first.lower()
    form = word in _VERBS or re.fullmatch(r"[a-z]{2,}(?:ing|ify|ize|ise)", word)
    # Words in capitals are names to the reference's tagger.
    followed = bool(form) and word not in _NOT_VERBS and not (len(first) > 1 and first.isupper())
    return Finding(followed, f'the first word is "{first:.60}"')


@instruction("language:response_language", "The response is in the language `language`.")
def response_language(text: str, language: str, *, faithful: bool = False) -> Finding:
    if language not in _CODES:
        raise ValueError(f'language must be a code such as "en" or "de", got {language!r:.80}')
    found = language_of(text)
    if found is None:  # no letters: the reference takes it as followed
        return Finding(faithful, "it has no letters of any language")
    return Finding(found == language, f'it is "{found}", expected "{language}"')


@instruction("change_case:english_capital", "The response is English, in capital letters.")
def english_capital(text: str, *, faithful: bool = False) -> Finding:
    if not text.isupper():
        return Finding(False, _letters_of(text, "small"))
    return _english(text, faithful)


@instruction("change_case:english_lowercase", "The response is English, in small letters.")
def english_lowercase(text: str, *, faithful: bool = False) -> Finding:
    if not text.islower():
        return Finding(False, _letters_of(text, "capital"))
    return _english(text, faithful)


def _letters_of(text: str, noun: str) -> str:
    count = sum(map(str.isupper if noun == "capital" else str.islower, text))
    return f"{count} {noun} letters, expected none" if count else "it has no letters"


def _english(text: str, faithful: bool) -> Finding:
    found = language_of(text)
    if found is None:
        return Finding(faithful, "it has no letters of any language")
    if not faithful and found != "en":
        # Capitals look like another language; a single word has none.
        found = language_of(text.lower()) if text.isupper() else found
        if len(words(text)) == 1 and text.isascii():
            found = "en"
    return Finding(found == "en", f'it is "{found}" and in one case, expected "en"')


@instruction(
    "change_case:capital_word_frequency",
    "At least, or less than, `capital_frequency` words are in capital letters.",
)
def capital_words(text: str, capital_frequency: int, capital_relation: Relation) -> Finding:
    count = sum(map(str.isupper, tokens(text)))
    return compared(count, capital_relation, capital_frequency, "words in capitals")


@instruction("format:title_case", "Every word starts with a capital letter.")
def title_case(text: str, *, faithful: bool = False) -> Finding:
    for word in tokens(text):
        if not faithful and word == "n't":
            continue
        is_small = word[0].islower() and (
            len(word) == 1 or word[1:].islower() or word[1:].isupper()
        )
        if word[0].isalpha() and is_small:
            return Finding(False, f'"{word:.60}" starts with a small letter')
    return Finding(True, "every word starts with a capital letter")


@instruction("words:alphabet", "Each word starts with the next letter of the alphabet, Z then A.")
def alphabet(text: str) -> Finding:
    its = text.lower().translate(PUNCTUATION).split()
    if not its or its[0][0] not in ascii_lowercase:
        return Finding(False, "the first word starts with no letter from A to Z")
    start = ascii_lowercase.index(its[0][0])
    for index, word in enumerate(its):
        wanted = ascii_lowercase[(start + index) % 26]
        if word[0] != wanted:
            return Finding(False, f'word {index + 1} is "{word:.60}", expected one with "{wanted}"')
    return Finding(True, f"{len(its)} words in order")


@instruction("words:vowel", "The response is one paragraph with at most three different vowels.")
def vowels(text: str) -> Finding:
    if "\n" in text.strip():
        return Finding(False, "there is more than one paragraph")
    found = sorted(set("aeiou") & set(text.lower()))
    return Finding(len(found) <= 3, f"the vowels {', '.join(found)}, expected at most 3")


@instruction("words:consonants", "Every word has two consonants in a row.")
def consonants(text: str) -> Finding:
    without = [word for word in text.lower().split() if not _CONSONANTS.search(word)]
    said = f'{len(without)} words without, the first is "{without[0]:.60}"' if without else "all do"
    return Finding(not without, said)


@instruction("words:palindrome", "There are ten palindromes of five letters or more.")
def palindromes(text: str) -> Finding:
    its = text.translate(PUNCTUATION).lower().split()
    count = sum(len(word) >= 5 and word == word[::-1] for word in its)
    return compared(count, "at least", 10, "palindromes")


@instruction("words:prime_lengths", "The length of every word is a prime number.")
def prime_lengths(text: str) -> Finding:
    others = [word for word in text.translate(PUNCTUATION).split() if len(word) not in _PRIMES]
    said = f'{len(others)} words are not, the first is "{others[0]:.60}"' if others else "all are"
    return Finding(not others, said)


@instruction("words:odd_even_syllables", "Words with odd and even numbers of syllables alternate.")
def odd_even_syllables(text: str) -> Finding:
    its = text.translate(PUNCTUATION).lower().split()
    for before, after in pairwise(its):
        if syllables(before) % 2 == syllables(after) % 2:
            return Finding(False, f'"{before:.60}" and "{after:.60}" do not alternate')
    return Finding(True, f"{len(its)} words alternate")


@instruction("words:no_consecutive", "No two words in a row start with the same letter.")
def no_consecutive(text: str) -> Finding:
    for before, after in pairwise(text.lower().translate(PUNCTUATION).split()):
        if before[0] == after[0]:
            return Finding(False, f'"{before:.60}" and "{after:.60}" start with the same letter')
    return Finding(True, "no two do")


# --- counts ---------------------------------------------------------------------------------------

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
    # Bold italics are no divider.
    parts = text.split("***") if faithful else re.split(r"\*\*\*(?<!\S\*\*\*)(?!\S)", text)
    cut = [part.strip() for part in parts]
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


# --- keywords and phrases -------------------------------------------------------------------------

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


def may_occur(keyword: str, text: str) -> bool:
    """Return False if a keyword surely does not occur: it takes a tenth of a pattern's time."""
    is_plain = keyword.isalnum() and keyword.isascii() and text.isascii()
    return not is_plain or keyword.lower() in text.lower()


@instruction("keywords:existence", "The response has every word of `keywords`.")
def keywords_existence(text: str, keywords: list[str], *, faithful: bool = False) -> Finding:
    missing = [
        word
        for word in keywords
        if not (may_occur(word, text) and keyword_pattern(word, faithful).search(text))
    ]
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
        if may_occur(word, text)
        and keyword_pattern(rf"\b{word}\b" if faithful else word, faithful).search(text)
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


# --- sentences ------------------------------------------------------------------------------------

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
