r"""The final answer of a completion, and whether the completion takes it back.

It is the last `\boxed{…}` or `<answer>…</answer>`, whichever is later; else what the last "the
answer is" or "####" announces; else the last line. Everything takes time linear in the text.
"""

import json
import re
from collections import deque
from typing import NamedTuple

from plaudit.answers._claims import is_denied
from plaudit.answers._languages import find_all, number_words, phrases
from plaudit.inputs.extract import after_thinking
from plaudit.inputs.parsing import read_literal

LONGEST_ANSWER = 2000
MOST_BOXES = 100
LONGEST_END = 10_000  # characters in which an announcement is looked for
_BRACES = re.compile(
    r"(?P<box>\\(?:boxed|fbox)\s*+\{)|(?P<bare>\\boxed\s++(?P<content>[\w.]++))|\\.|[{}]", re.DOTALL
)
_BETWEEN = re.compile(
    r"(?:[\s,;&$.]|\\[()\[\],;:! ]|\\text\s*+\{\s*+(?:and|or)\s*+\}|\\q?quad|\band\b|\bor\b|\*\*"
    r"|\b[A-Za-z](?:_\{?\d\}?)?\s*+=)*+"
)
_OR_ANOTHER = re.compile(
    r"[\s$*.,(]*+(?:\\[)\]][\s,]*+)?\bor\b(?:\s++(?:maybe|perhaps|possibly|even|else))*+[\s$*,:]*+"
    r"(?!equivalently|in other|simply|about|approximately|more)([^\s.,;()]{1,60})"
)
_AND_OR = re.compile(r"\b(and|or)\b")
_AFTER_BOX = re.compile(r"\s*+(\\?%|\^\s*+\{?\s*+\\circ\s*+\}?|°|_\{?\d++\}?)")
_ANNOUNCED = re.compile(
    r"####|(?:^|(?<=[.!?)*\n])\s|(?<=\n))[*_]*+A\s*+:|"
    r"^#{1,6}\s*+(?:final\s++)?(?:answer|result)\s*+$|"
    r"(?<!long )(?<!longer )(?<![^\W_])(?:final[\s_]++)?(?:answer"
    r"|result|solution)\b[*_]*+\s*+(?:to\s[^.:\n]{1,60}?\s)?"
    r"(?:is(?!n['’]t)\s*+:?|:|=|(?:would|must|should)\s++be|equals)|^[*_ \t]*+ans\b[*_]*+\s*+[:.=]|"
    r"\b(?:correct|right|best)\s++(?:option|choice|letter)\b[*_]*+\s*+(?:is\s*+:?|:|=)",
    re.IGNORECASE | re.MULTILINE,
)
# One of these is in each announcement: most texts have none.
_ANNOUNCING = (
    "####",
    "answer",
    "result",
    "solution",
    "ans",
    "a:",
    " :",
    "option",
    "choice",
    "letter",
)
_FILLING = re.compile(
    r"^(?:therefore|thus|hence|then|simply|clearly|just|donc|alors|also|somit|daher|entonces"
    r"|por (?:lo )?tanto"
    r"|portanto|então|quindi|dunque|значит|равен|равно)\b[\s,:]*+",
    re.IGNORECASE,
)
_DEFINED = re.compile(r"^([A-Za-z]),?\s(?:where|with)\s\1\s?(?:=|is)\s")
_BECAUSE = re.compile(
    r"[,;]?\s(?:because|since|which|so that|as we|as the|by the|meaning)\b|,\s(?:and\s)?not\s"
    r"|;\s(?=(?:note|hence|so|this|that|it|we|but|and)\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^[\s*_]*+(?:∴|\\therefore\b|(?:so|thus|hence|therefore|finally|then|answer|final answer"
    r"|and|we get|we have|it is)\b)[\s,:*]*+",
    re.IGNORECASE,
)
# A value that says of itself that it is wrong: "67 (incorrect)".
_DENIED = re.compile(
    r"[\d})\]][\s,;:–—-]*+(?:\\text\w*+\s*+\{\s*+)?\(?(?:is |was )?"
    r"(?:wrong|incorrect|mistaken|not (?:right|correct))\b[)}\s.!]*+$",
    re.IGNORECASE,
)
_DENIED_BEHIND = re.compile(
    r"\S\s*+\((?:that is |this is |which is )?(?:wrong|incorrect|mistaken|not (?:right|correct))\)"
    r"[\s.!]*+$",
    re.IGNORECASE,
)


_TAG_NAMES = r"(?:answer|final_?answer|final|ans|result|solution|response|conclusion)"
_TAG = re.compile(
    rf"(?:<\|?|\[|&lt;)(?:begin_of_)?({_TAG_NAMES})(?:\s[^<>\[\]]{{0,80}})?(?:\|?>|\]|&gt;)", re.I
)
_TAG_END = re.compile(rf"(?:<\|?/|<\|end_of_|\[/|&lt;/){_TAG_NAMES}(?:\|?>|\]|&gt;)", re.I)
_ANSWER_KEYS = ("final_answer", "finalanswer", "answer", "final", "result", "output", "choice")


# A mapping in YAML that is indented under a key.
_MAPPING = re.compile(r"(?<=\s)[a-z_]++:\s.*(?:\n\s++[a-z_]++:\s.*)++")
_DECIMAL_COMMA = re.compile(r"-?\d++,\d{1,2}")


_TAGS = re.compile(r"</?(?:b|i|u|em|strong|span|p|h\d)>\s*+", re.IGNORECASE)


class Final(NamedTuple):
    """The final answer, and where it stood: box, tag, json, announced, line; "" if there is none.

    >>> final_answer("<answer>5</answer>").where
    'tag'
    """

    text: str
    where: str
    retracted: bool = False


def final_answer(text: str) -> Final:
    r"""The final answer of a completion.

    >>> final_answer(r"So it is \boxed{5}.")
    Final(text='5', where='box', retracted=False)
    >>> final_answer("The answer is 7. Let me know if you have questions!").text
    '7'
    >>> final_answer(r"\boxed{5}. Actually no, it is 7.").retracted
    True
    >>> final_answer("First this,\nthen that:\n\n42")
    Final(text='42', where='line', retracted=False)
    """
    return final_of(after_thinking(text))


def final_of(body: str) -> Final:
    """The final answer of a text without thinking."""
    found = _boxed_or_tagged(body) or _in_json(body) or _announced(body)
    if found is None:
        last = _last_line(body)
        return last._replace(retracted=bool(_DENIED_BEHIND.search(last.text)))
    answer, where, end = found
    after = body[end : end + 5 * LONGEST_ANSWER]
    other = _OR_ANOTHER.match(after) if where in ("box", "tag", "json") else None
    if other:
        answer += f" \\text{{ or }} {other[1]}"
    answer = answer.strip()
    is_denied_there = bool(_DENIED.search(answer) or _DENIED_BEHIND.search(answer))
    return Final(answer, where, bool(answer) and (is_denied_there or is_retracted(after, answer)))


def answer_text(text: str) -> str:
    r"""Return the answer in a box, in a tag or announced; else all text after the thinking.

    It is empty if there is none, or if it is taken back.

    >>> answer_text("<think>Rome?</think> Paris,\nin France")
    'Paris,\nin France'
    >>> answer_text("<answer>Rome</answer> No, wait, that is wrong.")
    ''
    """
    body = after_thinking(text)
    final = final_of(body)
    if final.where in ("box", "tag", "json", "announced"):
        return "" if final.retracted else final.text
    return body.strip()


def _boxed_or_tagged(text: str) -> tuple[str, str, int] | None:
    boxes = _boxes(text)
    tag = _last_tag(text)
    if tag is not None and (not boxes or boxes[-1][1] <= tag[1]):
        start, end, after = tag
        inside = text[start:end]
        inner = _boxes(inside)
        return (_run(inside, inner), "box", after) if inner else (inside, "tag", after)
    if boxes:
        return _run(text, boxes), "box", boxes[-1][1]
    return None


def _last_tag(text: str) -> tuple[int, int, int] | None:
    """Return where the content of the last tag starts and ends, and where the tag ends."""
    opened = deque(_TAG.finditer(text), maxlen=1)
    if not opened:
        return None
    start = opened[0].end()
    closed = _TAG_END.search(text, start)
    if closed is None and (len(text) - start > LONGEST_ANSWER or opened[0][1].lower() != "answer"):
        return None
    return (start, *closed.span()) if closed else (start, len(text), len(text))


def _in_json(text: str) -> tuple[str, str, int] | None:
    """Return what an object in JSON or Python says under a key such as "answer"."""
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0 or not start < end <= start + LONGEST_ANSWER:
        return None
    for read in (json.loads, read_literal):
        try:
            held = read(text[start:end])
        except (ValueError, RecursionError):
            continue
        if isinstance(held, dict):
            keys = {str(key).lower(): key for key in held}
            key = next((keys[name] for name in _ANSWER_KEYS if name in keys), None)
            return None if key is None else (_plain_value(held[key]), "json", end)
    return None


def _plain_value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain_value, value))
    if isinstance(value, dict):  # {"value": 30, "unit": "cm"}
        return f"{value.get('value', '')} {value.get('unit', '')}".strip()
    return "" if value is None else str(value)


def _boxes(text: str) -> list[tuple[int, int, str]]:
    """The boxes of a text, where they start and end and what they hold; nested ones count once."""
    found: list[tuple[int, int, str]] = []
    opened: list[tuple[int, int] | None] = []  # of each open brace: the box that it opens, if any
    for part in _BRACES.finditer(text):
        if part["box"]:
            opened.append((part.start(), part.end()))
        elif part["bare"]:
            found.append((part.start(), part.end(), part["content"]))
        elif part[0] == "{":
            opened.append(None)
        elif part[0] == "}" and opened and (box := opened.pop()):
            while found and found[-1][0] > box[0]:
                found.pop()
            found.append((box[0], part.end(), text[box[1] : part.start()]))
    return sorted(found)


def _run(text: str, boxes: list[tuple[int, int, str]]) -> str:
    """The last run of boxes with nothing between them, as one answer."""
    run = [boxes[-1]]
    joiners: list[str] = []
    for box in reversed(boxes[-MOST_BOXES:-1]):
        between = text[box[1] : run[-1][0]]
        if not _BETWEEN.fullmatch(between) or "\n\n" in between:
            break
        word = _AND_OR.search(between)
        joiners.append(word[1] if word else ",")
        run.append(box)
    run.reverse()
    joiners.reverse()
    after = _AFTER_BOX.match(text, run[-1][1])
    contents = [content.strip() for _, _, content in run]
    if len(set(contents)) == 1:
        contents = contents[:1]
    answer = contents[0]
    for joiner, content in zip(joiners, contents[1:], strict=False):
        answer += f" \\text{{ {joiner} }} {content}" if joiner != "," else f" , {content}"
    return answer + (after[1] if after else "")


def _announced(text: str) -> tuple[str, str, int] | None:
    # A short queue keeps the last that went through it.
    start = max(0, len(text) - LONGEST_END)
    lowered = text.lower()
    may_be_english = any(word in lowered for word in _ANNOUNCING)
    last = deque(_ANNOUNCED.finditer(text, start) if may_be_english else (), maxlen=2)
    is_english = bool(last)
    last = last or deque(find_all("announce", text, start), maxlen=1)
    if len(last) == 2 and not text[last[1].end() :].strip(" *:\n"):
        last.pop()  # a text that is cut off after "the answer is"
    if not last:
        return None
    if is_english and _is_denied_announcement(text, last[-1].start()):
        return None
    start = last[-1].end()
    while text[start : start + 1].isspace() or text[start : start + 1] in ("*", ":", "："):
        start += 1
    mapping = _MAPPING.match(text, start) if "\n" in text[last[-1].end() : start] else None
    if mapping:
        return _under_key(mapping[0]), "announced", mapping.end()
    end = sentence_end(text, start)
    because = _BECAUSE.search(text, start, end)
    stop = because.start() if because else end
    answer = _FILLING.sub("", text[start:stop].strip().strip("*").strip())
    answer = _DEFINED.sub("", _TAGS.sub("", answer))
    if not is_english:
        answer = _in_english(answer)
    if len(answer) > LONGEST_ANSWER:
        return None
    return answer, "announced", end


def _is_denied_announcement(text: str, start: int) -> bool:
    """Whether an announcement is denied: "I doubt that the answer is 5"."""
    clause = _CLAUSE_END.split(text[max(0, start - 60) : start])[-1]
    words = clause.replace("'", "").replace("’", "").lower().split()
    # "The square of the answer is 49" does not say the answer.
    return is_denied(words, []) or words[-2:] == ["of", "the"]


_CLAUSE_END = re.compile(r"[;:,.!?\n]|\b(?:so|because|since|and|therefore|thus|hence|then)\b", re.I)


def _under_key(mapping: str) -> str:
    """Return what lines such as "final: 71" say under a key for answers; "" if there is none."""
    pairs = [line.strip().partition(":") for line in mapping.splitlines() if line.strip()]
    values = {key.strip().lower(): value.strip() for key, _, value in pairs}
    return next((values[key] for key in (*_ANSWER_KEYS, "value") if key in values), "")


def _in_english(answer: str) -> str:
    """Return an answer without the ending of its language, a number as English writes it."""
    ending = next((one for one in phrases("endings") if answer.endswith(one)), "")
    answer = answer.removesuffix(ending).strip(" .,")
    if _DECIMAL_COMMA.fullmatch(answer):
        return answer.replace(",", ".")
    return str(number_words().get(answer.lower(), answer))


_REMARK = re.compile(
    r"[\s*_(>#-]*+(?:check|verification|verify|note|remark|proof)\b[*_]*+\s*+[:.]", re.I
)


_DRAFT = re.compile(r"<(draft|steps?|explanation|rejected|notes?|plan|working)\b[^<>]{0,80}>", re.I)


def without_drafts(text: str) -> str:
    """Return a text without what stands in tags such as `<draft>…</draft>`.

    >>> without_drafts("<rejected>3</rejected> It is 4.")
    ' It is 4.'
    """
    kept, end = [], 0
    while "</" in text and (opened := _DRAFT.search(text, end)):
        closing = f"</{opened[1]}>"
        closed = text.find(closing, opened.end())
        if closed < 0:
            break
        kept.append(text[end : opened.start()])
        end = closed + len(closing)
    return "".join(kept) + text[end:]


_REMARK_BEHIND = re.compile(
    r"(?<=[.!?])\s++(?=(?:check(?:ing)?|verification|verify|test|probe|substituti(?:ng|on)|note"
    r"|remark|proof|indeed)\b[:,]?\s)",
    re.I,
)
_EXPLANATION = re.compile(
    r"[\s*_(>#-]*+(?:explanation|reason|reasoning|because)\b[*_]*+\s*+:", re.I
)


_LISTED_NUMBER = re.compile(
    r"\s*+(?:(?:it|x|this|that) (?:is|=) |= )?-?\d++(?:[.,/]\d++)?\.?\s*+", re.IGNORECASE
)
_FEWEST_LISTED = 4  # lines of a number each are a list


def _last_line(text: str) -> Final:
    text = without_drafts(text)
    lines = [line for line in text.strip().splitlines() if line.strip().strip("`*$ ")]
    while len(lines) > 1 and (
        _REMARK.match(lines[-1]) or (_EXPLANATION.match(lines[-1]) and len(lines[0].split()) < 3)
    ):
        lines.pop()
    if lines:
        lines[-1] = _REMARK_BEHIND.split(lines[-1], maxsplit=1)[0]
    if not lines:
        return Final("", "")
    if len(text) <= LONGEST_ANSWER and "\\begin" in text:
        return Final(text.strip(), "line")
    listed = sum(_LISTED_NUMBER.fullmatch(line) is not None for line in lines)
    if listed >= max(_FEWEST_LISTED, len(lines) - 1):
        return Final(", ".join(line.strip() for line in lines), "line")
    line = _LEADING.sub("", lines[-1].strip().strip("*").strip())
    line = line or lines[-1].strip()
    if len(line) > LONGEST_ANSWER:
        return Final("", "")
    return Final(line, "line")


# -- Retraction

_SENTENCE_END = re.compile(r"[。！？।]|\.(?=\s+[A-Z\"'(\[*]|\s*$|\s*\n)|[!?](?=\s|$)|\n")
# Before a full stop that ends no sentence. `sentence_end` looks at six characters for it.
_ABBREVIATION = re.compile(r"\b(?:a|p|St|Mr|Mrs|Dr|Oct|Sept?|Nov|Dec|Jan|Feb|Aug|No|vs)$")
_TAKEN_BACK = re.compile(
    # It looks ahead, so that "that is wrong" of "actually, that is wrong" is found as well.
    r"\bactually[,:]?\s+(?:no\b|wait\b|(?=that|it(?:'s| is)|I\b|the (?:correct|right) ))"
    r"|\bno,\s+(?=it(?:'s| is)\b(?! not\b))|\bno,?\s+wait\b"
    r"|\bwait\b[,.!—-]|\bhold on\b|\bon second thought|\bscratch that\b"
    r"|\bcorrection\s*:|\bretract\b|\btake (?:that|it|this) back\b|\bdisregard\b"
    r"|\bignore (?:that|this|the above|my|what)\b|\bI was wrong\b|\bI(?:'m| am) wrong\b"
    r"|\b(?:that|this|it|which|above|answer)(?:'s| is| was)(?: actually| clearly| in fact)? "
    r"(?:wrong|incorrect|not right|not correct|mistaken|a mistake|an error|false|not true"
    r"|impossible)\b|\bI (?:have )?(?:made|see) (?:a|an|my)\b[^.]{0,30}?(?:mistake|error|slip)"
    r"|\bI (?:mis\w+|forgot|overlooked|missed|miscounted)\b|\bmy mistake\b|\bmy bad\b|\boops\b"
    r"|\b(?:sorry|apologies|apologize)\b(?! for (?:the|any|being|a) (?:long|length|lengthy|delay))"
    r"|\blet me (?:re|correct|fix|try again|start over)"
    r"|\bshould (?:actually |really |instead )?(?:be|have been)\b|\brather than\b|\bhmm+\b"
    r"|\bor rather\b|\bstrike that\b|\bforget (?:what|that|my|this)\b|\bwithdraw\b"
    r"|\bon reflection\b|\bwait,? no\b|\bnever ?mind\b|\bI (?:really )?meant\b|\bI should have\b"
    r"|\bI (?:have to |must )?change my (?:answer|mind)\b|\bthat (?:cannot|can't|can not) be\b"
    r"|\bthat (?:does not|doesn't) (?:work|hold|fit|check out|add up)\b|\bneeds? to be corrected\b"
    r"|\b(?:edit|update|erratum)\s*:|\b(?:up)?on (?:re-?\w+ing|closer|further|a second)\b"
    r"|\bafter (?:re-?\w+ing|double-checking|a second)\b|\b(?:checking|looking) again\b"
    r"|\bI (?:need|have|want) to correct\b|\bthe (?:answer|result|value) (?:must|has to) be\b"
    r"|\binstead\b(?! of)|\bit (?:is|was) in fact\b|\bturns out\b"
    r"|\bin fact,? (?:it is|it's|the answer) "
    r"|\bthe (?:correct|right|real|true|actual) (?:answer|box|point|value) (?:is|should)",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"^\W*(?:if|I (?:first|initially)|my first|earlier|initially|at first"
    r"|one (?:might|may|could)|some(?:one|body)?\b|you (?:might|may|could)|note\b|notice"
    r"|a common|many\b|students|people|had we|it (?:might|may) seem|remember|recall|don't|do not"
    r"|be careful)",
    re.IGNORECASE,
)
_IF = re.compile(r"\b(?:if|whether)\s*+\Z", re.IGNORECASE)  # "let me know if that is wrong"
_CONFIRMED = re.compile(
    r"\b(?:stands|still holds|checks out|remains|confirmed|confirms|no(?:thing| change)"
    r"|(?:is|was|am) (?:indeed |still |therefore )?"
    r"(?:correct|right|confirmed|fine|valid|unchanged|the same)"
    r"|as (?:before|found|above)|same (?:answer|result|value))\b",
    re.IGNORECASE,
)


_YES = re.compile(r"\byes\b[.,!]", re.IGNORECASE)
_YES_OR_NO = re.compile(r"\b(?:yes|no|true|false)\b", re.IGNORECASE)
_VALUES = re.compile(r"\d+(?:\.\d+)?|\b[A-J]\b")
_FORMATTING = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*+|[{}$*.]")
# Markers that remarks have too: they count only if the sentence has another answer.
_WEAK = (
    "should", "rather than", "actually", "hmm", "in fact", "it is in fact", "it was in fact",
    "let me", "the correct", "the right", "upon", "on ", "after", "checking", "looking", "instead",
    "turns out", "edit", "update", "the answer", "the result", "the value", "no, ",
)  # fmt: skip


def is_retracted(after: str, answer: str) -> bool:
    r"""Whether what follows an answer takes it back."""
    if not after.strip():
        return False
    last = None
    for found in _TAKEN_BACK.finditer(after):
        sentence = _sentence_around(after, found.start())
        before = after[max(0, found.start() - 10) : found.start()]
        is_supposed = _SUPPOSED.match(sentence) or _IF.search(before)
        if not is_supposed and not _harmless(found[0], sentence, answer):
            last = found
    if last is None:
        return False
    rest = _positive(after[last.end() :])
    says_yes = _YES.search(rest) and not _YES_OR_NO.search(answer)
    return not says_yes and not _CONFIRMED.search(rest)


def _positive(text: str) -> str:
    return re.sub(r"\b(?:not|n't|isn't|never)\s++\w++", "", text)


def _sentence_around(text: str, at: int) -> str:
    start = max(text.rfind(". ", 0, at), text.rfind("\n", 0, at), text.rfind("! ", 0, at))
    end = _SENTENCE_END.search(text, at)
    return text[start + 1 : end.start() if end else len(text)].strip()


def _harmless(marker: str, sentence: str, answer: str) -> bool:
    """Whether a marker is only a remark, judged by its sentence."""
    lowered = marker.lower()
    plain = _FORMATTING.sub("", answer).strip()
    denies = plain.lower() in ("no", "false", "none", "impossible", "never")
    if denies and lowered.endswith(("not true", "false", "impossible")):
        return True  # "No. It is not true for n = 4."
    if not lowered.startswith(_WEAK) or lowered.startswith(
        ("actually, no", "actually no", "actually, wait")
    ):
        return False
    if lowered.startswith("let me"):
        return (
            not re.match(r"let me (?:re|correct|fix|try|start)", lowered)
            or "know" in sentence.lower()
        )
    values = _VALUES.findall(sentence)
    if _YES_OR_NO.fullmatch(plain):
        plain = plain.lower()
        values = [value.lower() for value in _YES_OR_NO.findall(sentence)]
    others = [value for value in values if value != plain]
    if lowered.startswith(("the correct", "the right", "the real", "the true", "the actual")):
        return plain in sentence or not others
    return not others or (
        plain in values and "not " + plain not in sentence and "rather" not in sentence
    )


def sentence_end(text: str, start: int) -> int:
    """The end of the sentence; a formula between dollars or in display is not cut."""
    if text.startswith(("$$", "\\["), start):
        closing = text.find("$$" if text[start] == "$" else "\\]", start + 2)
        if closing > 0:
            return closing + 2
    found = _SENTENCE_END.search(text, start)
    dollars, counted = 0, start
    while found and found[0] == "!":
        dollars, counted = dollars + text.count("$", counted, found.start()), found.start()
        if dollars % 2 == 0:
            break
        found = _SENTENCE_END.search(text, found.end())  # a factorial
    while found and _ABBREVIATION.search(text[max(start, found.start() - 6) : found.start()]):
        found = _SENTENCE_END.search(text, found.end())
    return found.start() if found else len(text)
