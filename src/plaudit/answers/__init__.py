r"""Text to a reading, and two readings to a verdict of plaudit's own.

from plaudit.answers import judge_answer

judge_answer(r"So it is \boxed{\frac{2}{4}}.", ["0.5"]).why
"""

from plaudit.answers._final import Final, final_answer
from plaudit.answers._judging import judge_answer
from plaudit.answers._rules import Outcome, Rules
from plaudit.answers._verdict import AnswerVerdict

__all__ = ["AnswerVerdict", "Final", "Outcome", "Rules", "final_answer", "judge_answer"]
