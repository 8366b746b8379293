"""What a clause claims: whether it denies, doubts or leaves open what it names.

It is Rome.  It is none other than Rome.  No one would deny that it is Rome.     claimed
It isn't Rome.  It is anything but Rome.  I doubt that it is Rome.               denied
I cannot say whether it is Rome.                                                 left open

Words that deny cancel one another: an odd number of them before a name denies it.
"""

import re
from functools import cache
from itertools import pairwise

from plaudit.answers._languages import phrases
from plaudit.answers._text import plain_letters

_UMLAUTS = re.compile("([aou])e(?=[^aeiou])")


def _words(text: str) -> frozenset[str]:
    """Words, also as `mention_reward` compares them: without an s, and "qustion"."""
    words = [*text.split(), *(word.removesuffix("s") for word in text.split() if len(word) > 3)]
    return frozenset(words) | {_UMLAUTS.sub(r"\1", word) for word in words}


_AUXILIARIES = "is are was were do does did has have had ca could would should wo need might must"
_NOT = _words(
    "not never no none nobody nothing nowhere neither nor cannot hardly scarcely barely rarely"
    " seldom without nicht kein keine keinen keinem keiner pas jamais não nunca niet geen nie ikke"
    " inte не нет weder ni"
) | _words(" ".join(f"{word}nt" for word in _AUXILIARIES.split()))
_DENY = _words(
    "doubt doubts doubted doubtful deny denies denied denying dispute disputes disputed refuse"
    " refuses refused reject rejects rejected rejecting dismiss dismisses dismissed exclude"
    " excludes excluded excluding false wrong incorrect untrue mistaken impossible unlikely"
    " improbable confuse confuses confused confusing except unlike lacks disbelieve"
    " mistake error myth misconception legend rumour rumor nonsense discard discards"
    " discarded eliminate eliminates eliminated wrongly mistakenly falsely"
    " erroneously bezweifle bezweifeln dudo dudamos doute"
    " dubito duvido сомневаюсь disagree"
    " disagrees contradict contradicts"
)
# They deny only what is denied already: "no one would question that it is Rome".
_CANCEL = _words("question questions questioned until argue dispute contest challenge")
_RULE = frozenset(["rule", "rules", "ruled", "ruling"])
_RULE_OUT = _DENY | _RULE
_LEAST = _words("likely plausible probable suitable fitting")
_MAY = frozenset(["can", "could", "must", "should"])
_GIVE = frozenset(["give", "gives", "gave", "given", "giving"])
_ONLY = _words("only just merely simply surprisingly least")
_HARD = frozenset(["hard", "difficult", "tough"])
_BELIEVE = _words("believe imagine accept see say tell claim argue think maintain")
_ASK = _words(
    "know knows knew tell tells say sure certain ask asked asks wonder wondered wonders check"
    " determine decide see depends unclear unknown unsure surprised astonished amazed shocked"
)
# "Nothing but Rome" is Rome, and "anything but Rome" is not.
_NOTHING = frozenset(["nothing", "none", "nobody", "one", "nowhere"])
_ANYTHING = _words("anything anyone anybody anywhere everything everyone all every any")
_BUT = frozenset(["but", "other", "except", "besides"])
_EXCEPT = frozenset(["but", "except", "besides", "save"])
_HELP = frozenset(["else", "cannot", "help"])
_SOME = frozenset("some others other people many most they nobody".split())
_CLAIM = _words("say said says claim claims claimed think thinks believe believes argue suggest")
_AFTER = 5  # words after a name in which a verb may deny it


def is_denied(before: list[str], after: list[str]) -> bool:
    """Whether a name is denied by the words of its clause before and after it.

    >>> is_denied("it could not have been".split(), []), is_denied(["no", "doubt", "it", "is"], [])
    (True, False)
    >>> is_denied([], "had nothing to do with it".split())
    True
    """
    before = _since_turn(before)
    if after[:1] == ["out"] and not _RULE.isdisjoint(before[-1:]):
        return True
    return _is_open(before) or _denials(before) % 2 == 1 or _is_denied_after(after)


def _since_turn(words: list[str]) -> list[str]:
    """The words after the last "but" that is no part of "nothing but"."""
    for at in range(len(words) - 1, -1, -1):
        before = words[at - 1] if at else ""
        if words[at] == "but" and before not in _HELP and not is_exception(words[:at]):
            return words[at + 1 :]
    return words


def is_exception(before: list[str]) -> bool:
    """Whether a "but" after these words excepts: "any city but", "nothing but"."""
    return not (_NOTHING | _ANYTHING | {"no"}).isdisjoint(before[-3:])


def _is_open(before: list[str]) -> bool:
    if "whether" in before:
        return True
    said = next((at for at, word in enumerate(before) if word in _CLAIM), 0)
    if said and not _SOME.isdisjoint(before[max(0, said - 2) : said]):
        return True
    at = before.index("if") if "if" in before else len(before)
    return at < len(before) and not _ASK.isdisjoint(before[:at])


def _denials(words: list[str]) -> int:
    count = 0
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in _NOT or word in denials_of_languages():
            skipped = following in _ONLY or (
                word in ("no", "not") and following in ("wonder", "so")
            )
            near = words[at + 1 : at + 4]
            only = (word in _NOTHING or word == "no" or following in ("one", "1")) and not (
                _BUT.isdisjoint(near)
            )
            twice = word == "nor" and "neither" in words[:at]
            count += not (skipped or only or twice)
        elif word in _EXCEPT and not _ANYTHING.isdisjoint(words[max(0, at - 3) : at]):
            pass  # counted at "everything"
        elif word == "little":
            count += following == "chance"
        elif word == "far":
            count += following == "from"
        elif word == "other" and following == "than":
            count += (_NOTHING | {"no"}).isdisjoint(words[max(0, at - 3) : at])
        else:
            count += _denies(word, following, words[at + 1 : at + 4], count > 0)
    return count


def _denies(word: str, following: str, near: list[str], is_denied_before: bool) -> bool:
    if word in _DENY or (word in _ANYTHING and not _EXCEPT.isdisjoint(near)):
        return True
    if word in _RULE or word in _GIVE:
        return following == ("out" if word in _RULE else "up")
    if word in _CANCEL:
        return is_denied_before
    if word == "beyond":
        return following in _DENY | _CANCEL
    return word in _HARD and not _BELIEVE.isdisjoint(near)


def _is_denied_after(after: list[str]) -> bool:
    near = after[:_AFTER]
    if near[:1] in (["no"], ["not"]) and near[1:2] not in (["doubt"], ["later"], ["only"]):
        return True
    if not _NOT.isdisjoint(near[:3]) and near[0] not in ("no", "not"):
        return _denials(near) % 2 == 1 and "until" not in after
    if near[:1] and near[0] in _MAY and near[1:2] == ["be"] and not _RULE_OUT.isdisjoint(near[2:3]):
        return True
    if "least" in near and not _LEAST.isdisjoint(near[near.index("least") :]):
        return True
    if any(word in _RULE and after == "out" for word, after in pairwise(near)):
        return True
    return "question" in near and "out" in near


@cache
def denials_of_languages() -> frozenset[str]:
    """The words of other languages that deny."""
    plain = {plain_letters(phrase).lower() for phrase in phrases("deny") if not phrase.isascii()}
    return frozenset(phrase for phrase in plain if " " not in phrase)
