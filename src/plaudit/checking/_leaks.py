r"""The prompt of a row and its gold in, and out comes where the prompt states the answer.

"What is 6 * 7? (Answer: 42)"   ->  "Answer: 42"
"Is 42 more than 7?"            ->  "", since a prompt may name its answer without stating it
"""

import re
from collections.abc import Sequence

# What comes before an answer that is stated, and what comes after it.
_BEFORE = (
    r"(?:\bthe\s+)?(?:\b(?:answer|ans|solution)\b[^\n.?!:=]{0,40}?(?:\bis\b|\bare\b|[:=])|^\s*A:"
    r"|####|\\boxed\{|<answer>|\?(?=[^?]*\Z))[\s:\"'“*$]*"
)
_AFTER = r"(?=[\"'”)\]*$}!]*\.?\s*(?:\Z|\n)|[\"'”*$]*(?:\.\s|\s*[)\]}]|</answer>))"
_AT_END = r"\)?(?=[\"'”*$!]*\.?\s*(?:\Z|\n))"  # "(B)" elsewhere is one of the options
# Several of these are examples, whose answers are not this row's.
_EXAMPLE = re.compile(r"^\s*(?:A|(?:final )?answer|solution)\s*:", re.IGNORECASE | re.MULTILINE)
_LONGEST = 200  # characters of an answer that is looked for


def stated_answer(prompt: str, answers: Sequence[str]) -> str:
    """The words of a prompt that state one of these answers; "" if it states none.

    >>> stated_answer("What is 6 * 7? The answer is 42.", ["42"])
    'The answer is 42'
    >>> stated_answer("The answer is 42.5. What is half of it?", ["42"])
    ''
    """
    if len(_EXAMPLE.findall(prompt)) > 1:
        return ""
    for answer in answers:
        if not answer.strip() or len(answer) > _LONGEST:
            continue
        words = r"\s+".join(map(re.escape, answer.split()))
        pattern = rf"{_BEFORE}(?:{words}{_AFTER}|\({words}{_AT_END})"
        if found := re.search(pattern, prompt, re.IGNORECASE | re.MULTILINE):
            return " ".join(found[0].split())
    return ""
