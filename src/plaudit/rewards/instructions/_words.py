"""Instructions on each word of a response: its letters, its length, its case, its syllables."""

import re
from itertools import pairwise
from string import ascii_lowercase

from plaudit.rewards.instructions._language import language_of
from plaudit.rewards.instructions._registry import Finding, Relation, compared, instruction
from plaudit.rewards.instructions._text import PUNCTUATION, syllables, tokens, words

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
