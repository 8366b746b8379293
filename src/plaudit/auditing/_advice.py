"""The class of a finding and the kind of its golds in; what to do about it, in a sentence, out."""

from collections.abc import Mapping

from plaudit.auditing._golds import Kind

_OWN_ANSWER = "answers.answer_reward (preset math)"
_REPLACEMENT: Mapping[Kind, str] = {
    Kind.NUMBER: _OWN_ANSWER,
    Kind.QUANTITY: _OWN_ANSWER,
    Kind.LETTER: f"{_OWN_ANSWER} with a column choices",
    Kind.BOX: "vlm_r1.iou_reward",
    Kind.BOXES: 'vlm_r1.accuracy_reward with accu_reward_method = "weighted_sum"',
    Kind.ITEMS: f'{_OWN_ANSWER} with kind = "list"',
    Kind.TEXT: "answers.exact_match_reward, or answers.mention_reward (preset qa) for prose",
}
_GATE = 'give it gate = "…" in the recipe, so that it counts only where the answer is right'
_READS_GOLD = {
    "empty": "Give 0 where no answer is found, before anything is compared",
    "structure": "Give 0 where the answer is empty",
    "key": "Compare by rules first, and show a judge the final answer alone, quoted as data",
    "echo": "Ask for the final answer alone, and refuse what is the question or much longer than "
    "the gold",
    "hedge": "Refuse more than one answer",
    "neighbour": "Compare exactly, or within a tolerance that is written down",
    "retract": "Read the last answer after the thinking, and what is said of it",
    "stuffing": "Read one answer, and take something off for all that is too much",
    "length": "Let length change the pay of right answers only: {gate}",
    "missed": "Read the answer as people write it",
}
# The rewards for boxes are VLM-R1's, and keep these holes of theirs.
_BOTH = frozenset([Kind.BOX, Kind.BOXES])
_OPEN: Mapping[str, frozenset[Kind]] = {"retract": _BOTH, "stuffing": _BOTH, "missed": _BOTH}
_ONLY_FORM = {
    "empty": "Ask for an answer before any form is paid, or {gate}",
    "structure": "Ask for words and an answer inside the form, or {gate}",
    "echo": "Count only what is not in the prompt, or {gate}",
    "stuffing": "Count different sentences, not words, or {gate}",
    "length": "Do not pay for length alone: {gate}",
    "missed": "Take the form with any white space and any words inside",
}
_ALWAYS = {
    "unstable": "Make the value a function of the row alone: no state, no random numbers, nothing "
    "of the other rows; and refuse NaN",
    "cost": "Bound the text before it is searched, and use patterns that cannot backtrack; the "
    "rewards of plaudit take time linear in the text",
    "raises": "Give a value for every text: a trainer stops where a reward raises",
}


def advice(kind: str, gold: Kind, reads_gold: bool) -> str:
    """What to do about a finding of a class.

    >>> advice("structure", Kind.NUMBER, reads_gold=False)
    'Ask for words and an answer inside the form, or give it gate = "…" in the recipe, so that it \
counts only where the answer is right.'
    >>> advice("hedge", Kind.NUMBER, reads_gold=True)
    'Refuse more than one answer; answers.answer_reward (preset math) does.'
    """
    said = _ALWAYS.get(kind) or (_READS_GOLD if reads_gold else _ONLY_FORM).get(kind, "")
    is_closed = kind in _READS_GOLD and kind != "length" and gold not in _OPEN.get(kind, ())
    does = f"; {_REPLACEMENT[gold]} does" if is_closed and reads_gold else ""
    return f"{said.format(gate=_GATE)}{does}." if said else ""
