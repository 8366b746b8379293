r"""Judge answers by plaudit's own rules, and show how a text is read.

    from plaudit.answers import judge_answer, read

    judge_answer(r"So it is \boxed{\frac{2}{4}}.", ["0.5"]).why
    read("k < -5").kind   # interval

Everything is decided by rules, in this process. A text is read in time linear in its length, and
what would take long to compute is refused. A pair that no rule can decide is `undecided`; if a
computer algebra system may be able to, the verdict is also `symbolic`.
"""

from plaudit.answers._final_answer import Final, answer_text, final_answer
from plaudit.answers._final_answer import is_retracted as is_retracted
from plaudit.answers._judge_answer import Reading, judge_answer, read
from plaudit.answers._mention import mentioned, same_normal_text, shared_tokens
from plaudit.answers._number_words import count_in_words as count_in_words
from plaudit.answers._options import options_in as options_in
from plaudit.answers._rules import KINDS, Decision, Rules, check_kind

__all__ = [
    "KINDS",
    "Decision",
    "Final",
    "Reading",
    "Rules",
    "answer_text",
    "check_kind",
    "final_answer",
    "judge_answer",
    "mentioned",
    "read",
    "same_normal_text",
    "shared_tokens",
]
