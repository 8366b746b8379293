r"""Rows' completions, a template or the usual formats in; dresses out: ways to write an answer.

    Dress(r"{reasoning}\n\n\boxed{{answer}}")       of a template
    learnt_dress(...)                               of completions that hold their row's gold

A dress puts an answer into its place in a completion, with reasoning before it, as an honest model
would.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

ANSWER, REASONING = "{answer}", "{reasoning}"

_OPENINGS = re.compile(
    r"(?:<(?P<tag>\w+)>\s*|\\boxed\{|(?:####|\*\*)[ \t]*|```\w*\n"
    r"|[A-Z]\w*(?: \w+)?:[ \t]*)$"
)
_LEADING_TAG = re.compile(r"\s*<(\w+)>")
_NEUTRAL = (
    "Let me look at what is asked here, take the facts one after another, and check the result "
    "once more before I write it down."
)
_USUAL = (
    "{answer}",
    "<answer>{answer}</answer>",
    "{reasoning}\n<answer>{answer}</answer>",
    "<think>{reasoning}</think>\n<answer>{answer}</answer>",
    "<think>{reasoning}</think><answer>{answer}</answer>",
    "<think>\n{reasoning}\n</think>\n<answer>\n{answer}\n</answer>",
    "\\boxed{{answer}}",
    "{reasoning}\n\nThe final answer is $\\boxed{{answer}}$.",
    "<think>{reasoning}</think>\n\n\\boxed{{answer}}",
    "<think>{reasoning}</think>\n<answer>\\boxed{{answer}}</answer>",
    "<think>{reasoning}</think>\n\n{answer}",
    "{reasoning}\n#### {answer}",
    "{reasoning}\nAnswer: {answer}",
    "{reasoning}\nThe answer is {answer}.",
    "{reasoning}\nFinal Answer: The final answer is ${answer}$. I hope it is correct.",
    "```json\n{answer}\n```",
    "<think>{reasoning}</think>\n<answer>\n```json\n{answer}\n```\n</answer>",
    "<answer>\n```json\n{answer}\n```\n</answer>",
    "<reasoning>\n{reasoning}\n</reasoning>\n<answer>\n{answer}\n</answer>\n",
    "<long_answer>{reasoning}</long_answer>\n<answer>{answer}</answer>",
    "<think>{reasoning}</think><long_answer>{reasoning}</long_answer><answer>{answer}</answer>",
    "{reasoning}\n{answer}",
    '{"answer": "{answer}"}',
    "${answer}$",
)


@dataclass(frozen=True)
class Dress:
    r"""How an answer is written down.

    template: the text, with {answer} and, where there is reasoning, {reasoning} in it
    heads: for rows whose own completion showed it: all that stands before the answer
    closing: what stands after the answer, where `heads` has what stands before it
    text: which of a gold's texts stands in the answer's place

    >>> Dress("<think>{reasoning}</think><answer>{answer}</answer>").written("4", "2 + 2")
    '<think>2 + 2</think><answer>4</answer>'
    """

    template: str
    heads: Mapping[int, str] = field(default_factory=dict, compare=False)
    closing: str = ""
    text: int = 0

    def written(self, answer: str, reasoning: str = _NEUTRAL, place: int = -1) -> str:
        """The completion with this answer; `place` is the row, whose own words come before it."""
        head = self.heads.get(place)
        if head is not None:
            return head + answer + self.closing
        return self.template.replace(REASONING, reasoning).replace(ANSWER, answer)

    @property
    def mark(self) -> tuple[str, str]:
        r"""What stands right before and right after the answer, such as `\boxed{` and `}`.

        >>> Dress("So $\\boxed{{answer}}$.").mark, Dress("{answer}").mark
        (('\\boxed{', '}'), ('', ''))
        """
        before, _, after = self.template.partition(ANSWER)
        found = _OPENINGS.search(before)
        if found is None:
            return "", ""
        opening = found[0]
        if found["tag"]:
            close = f"</{found['tag']}>"
            end = after.find(close)
            return opening, after[: end + len(close)] if end >= 0 else close
        if opening == "\\boxed{":
            return opening, "}"
        if opening.startswith("```"):
            return opening, "\n```"
        return opening, "**" if opening.startswith("**") else ""

    def marked(self, answer: str) -> str:
        """The answer with its mark alone.

        >>> Dress("{reasoning}\\n#### {answer}").marked("4")
        '#### 4'
        """
        before, after = self.mark
        return f"{before}{answer}{after}"


def padded(completion: str, padding: str) -> str:
    """A completion with more text where its reasoning begins.

    >>> padded("<think>2 + 2</think><answer>4</answer>", "Hm. ")
    '<think>Hm. 2 + 2</think><answer>4</answer>'
    """
    leading = _LEADING_TAG.match(completion)
    at = leading.end() if leading and leading[1] not in ("answer", "context") else 0
    return completion[:at] + padding + completion[at:]


def template_dress(template: str) -> Dress:
    """The dress of a template of the user's.

    >>> template_dress("<answer>{answer}</answer>").marked("4")
    '<answer>4</answer>'
    >>> template_dress("<a></a>")
    Traceback (most recent call last):
    ...
    ValueError: the template must have {answer} in it, where the answer goes, got '<a></a>'
    """
    if ANSWER not in template:
        raise ValueError(
            f"the template must have {{answer}} in it, where the answer goes, got {template!r:.80}"
        )
    return Dress(template)


def usual_dresses(tags: Sequence[str] = ()) -> list[Dress]:
    """The usual formats, and those of the tags that prompts and rewards name.

    >>> [dress.template for dress in usual_dresses(["plan", "answer"])][-1]
    '<plan>{reasoning}</plan>\\n<answer>{answer}</answer>'
    """
    templates = list(_USUAL)
    # The same without a word before the answer, for rewards that want nothing else.
    templates += [t.removeprefix(REASONING).lstrip() for t in _USUAL if t.startswith(REASONING)]
    for order in (tags, sorted(tags, key=lambda tag: tag == "answer")):
        if order:
            parts = [f"<{tag}>{REASONING}</{tag}>" for tag in order[:-1]]
            templates.append("\n".join([*parts, f"<{order[-1]}>{ANSWER}</{order[-1]}>"]))
    return [Dress(template) for template in dict.fromkeys(templates)]


def learnt_dress(
    completions: Mapping[int, str], golds: Mapping[int, Sequence[str]]
) -> Dress | None:
    """The dress of completions that hold their own row's gold; None where fewer than two do.

    >>> told = {0: "2 + 2\\n#### 4", 1: "3 * 3\\n#### 9", 2: "7 - 2\\n#### 6"}
    >>> dress = learnt_dress(told, {0: ["4"], 1: ["9"], 2: ["5"]})
    >>> dress.written("5", place=2)
    '7 - 2\\n#### 5'
    """
    split: dict[int, tuple[str, str, int]] = {}
    for place, text in completions.items():
        for number, gold in enumerate(golds.get(place, ())):
            at = text.rfind(gold)
            if at >= 0 and gold.strip():
                split[place] = (text[:at], text[at + len(gold) :], number)
                break
    seams = Counter((head[-6:], tail[:6], number) for head, tail, number in split.values())
    if not seams or seams.most_common(1)[0][1] < 2:
        return None
    seam = seams.most_common(1)[0][0]
    alike = {
        place: (head, tail)
        for place, (head, tail, number) in split.items()
        if (head[-6:], tail[:6], number) == seam
    }
    before = _common_end([head for head, _ in alike.values()])
    after = Counter(tail for _, tail in alike.values()).most_common(1)[0][0]
    first = _common_start([head for head, _ in alike.values()])
    heads = {place: head for place, (head, _) in alike.items()}
    for place, text in completions.items():
        at = text.rfind(before) if len(before.strip()) > 1 else -1
        if place not in heads and at >= 0:
            heads[place] = text[:at] + before
    # A row without a completion gets the beginning that all have, and reasoning of ours.
    opening = first if len(first) + len(before) <= min(map(len, heads.values())) else ""
    is_bare = min(map(len, heads.values())) == len(before)
    template = before + ANSWER + after if is_bare else opening + REASONING + before + ANSWER + after
    return Dress(template, heads, after, seam[2])


def _common_start(texts: list[str]) -> str:
    first, last = min(texts), max(texts)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first if same is None else first[:same]


def _common_end(texts: list[str]) -> str:
    return _common_start([text[::-1] for text in texts])[::-1]
