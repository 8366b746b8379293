"""Instructions on form: Markdown, sections, lists, JSON, brackets, quotation marks, white space."""

import json
import re
from string import digits, punctuation

from plaudit.rewards.instructions._registry import Finding, compared, instruction
from plaudit.rewards.instructions._text import sentences

_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_RULE = re.compile(r"(?:-\s*){3,}|(?:\*\s*){3,}")
_BULLET = re.compile(r"^[^\S\n]*[*+-][^\S\n]+", re.MULTILINE)
_HIGHLIGHT = re.compile(r"(?<![*\\])(\*{1,3})(?![*\s])([^*\n]+)(?<!\s)\1(?!\*)")
_MOST_LINES = 10_000  # stairs of more lines would have many million characters


@instruction("punctuation:no_comma", "The response has no comma.")
def no_comma(text: str, *, faithful: bool = False) -> Finding:
    count = len(re.findall("," if faithful else "[,，、،]", text))
    return Finding(count == 0, f"{count} commas, expected none")


@instruction("detectable_format:title", "The response has a title in <<double angular brackets>>.")
def title(text: str) -> Finding:
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start <= end - 3 and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return Finding(True, f"the title is {line[start : end + 2]:.80}")
    return Finding(False, "there is no title in << >>")


@instruction(
    "detectable_format:number_highlighted_sections",
    "At least `num_highlights` parts are *highlighted*.",
)
def highlighted_sections(text: str, num_highlights: int, *, faithful: bool = False) -> Finding:
    if faithful:  # it counts `***x***` twice, and the marks of bullets
        single = re.findall(r"\*[^\n*]*\*", text)
        double = re.findall(r"\*\*[^\n*]*\*\*", text)
        count = sum(bool(part.strip("*").strip()) for part in single + double)
    else:
        count = len(_HIGHLIGHT.findall(_BULLET.sub("", text)))
    return compared(count, "at least", num_highlights, "highlights")


@instruction("detectable_format:number_bullet_lists", "There are exactly `num_bullets` bullets.")
def bullet_lists(text: str, num_bullets: int, *, faithful: bool = False) -> Finding:
    if faithful:
        count = _reference_bullets(text.split("\n"))
    else:  # no rule, no *emphasis*, no number below zero
        items = re.findall(r"^[^\S\n]*([*-][^\S\n]+\S.*)", text, re.MULTILINE)
        count = sum(not _RULE.fullmatch(item) for item in items)
    return Finding(count == num_bullets, f"{count} bullets, expected {num_bullets}")


def _reference_bullets(lines: list[str]) -> int:
    """Return how many lines start with a hyphen, or with one star and some other character."""
    count, index = 0, 0
    while index < len(lines):
        line = lines[index].lstrip()
        is_last = index + 1 == len(lines)
        count += line[:1] == "-" or (
            line[:1] == "*" and line[1:2] != "*" and not (line == "*" and is_last)
        )
        # It takes the line break after a lone star for the other character, and skips a line.
        index += 2 if line == "*" else 1
    return count


@instruction(
    "detectable_format:multiple_sections",
    "There are at least `num_sections` sections that start with `section_spliter` and a number.",
)
def multiple_sections(text: str, section_spliter: str, num_sections: int) -> Finding:
    splitter = section_spliter.strip()
    count = len(re.findall(re.escape(splitter) + r"\s?\d+", text))
    return compared(count, "at least", num_sections, f'sections with "{splitter}"')


@instruction("detectable_format:json_format", "The whole response is JSON.")
def json_format(text: str, *, faithful: bool = False) -> Finding:
    body = text.strip()
    for mark in ("```json", "```Json", "```JSON", "```"):
        body = body.removeprefix(mark)
    body = body.removesuffix("```").strip()

    def refuse(name: str) -> None:
        if not faithful:
            raise ValueError(f"{name} is no JSON")

    try:
        json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        return Finding(False, f"it is no JSON: {error}")
    return Finding(True, "it is JSON")


@instruction("detectable_format:constrained_response", "The response says yes, no or maybe.")
def constrained_response(text: str) -> Finding:
    found = next((option for option in _OPTIONS if option in text), None)
    return Finding(found is not None, found or f"expected one of {_OPTIONS}")


@instruction("combination:two_responses", "There are two different responses with ****** between.")
def two_responses(text: str) -> Finding:
    parts = [part.strip() for part in text.split("******")]
    if not all(parts[1:-1]):
        return Finding(False, "a response is empty")
    kept = [part for part in parts if part]
    followed = len(kept) == 2 and kept[0] != kept[1]
    return Finding(followed, f"{len(set(kept))} different responses, expected 2")


@instruction(
    "detectable_content:number_placeholders", "There are `num_placeholders` [placeholders]."
)
def placeholders(text: str, num_placeholders: int, *, faithful: bool = False) -> Finding:
    count = sum(_placeholders(line, faithful) for line in text.split("\n"))
    return compared(count, "at least", num_placeholders, "placeholders")


def _placeholders(line: str, faithful: bool) -> int:
    """Return how many there are; links, empty brackets and numbers of notes are none."""
    count, start = 0, line.find("[")
    while start >= 0:
        end = line.find("]", start)
        if end < 0:
            break
        inner = line[start + 1 : end].strip()
        is_link = line[end + 1 : end + 2] == "("
        count += faithful or not (is_link or not inner or inner.isdigit())
        start = line.find("[", end)
    return count


@instruction("detectable_content:postscript", "There is a postscript after `postscript_marker`.")
def postscript(text: str, postscript_marker: str, *, faithful: bool = False) -> Finding:
    marker = postscript_marker.strip()
    pattern = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(marker)
    if pattern is None:
        pattern = marker.lower() if faithful else re.escape(marker.lower())
    if not faithful:
        pattern = rf"(?<![\w.]){pattern}"  # "U.P.S." is none
    found = re.search(pattern, text.lower())
    return Finding(bool(found), f'there is {"a" if found else "no"} postscript with "{marker}"')


@instruction("format:parentheses", "Brackets are nested at least five deep.")
def nested_brackets(text: str, *, faithful: bool = False) -> Finding:
    depth = _reference_depth(text) if faithful else _nested_depth(text)
    return compared(depth, "at least", 5, "levels of brackets")


def _nested_depth(text: str) -> int:
    """Return how deep brackets are nested of which each is closed."""
    opened: list[tuple[str, int]] = []  # the bracket, and how deep what is in it goes
    deepest = 0
    for character in text:
        if character in "([{":
            opened.append((character, 0))
        elif character in _CLOSES:
            if not opened or opened[-1][0] != _CLOSES[character]:
                opened = []
                continue
            depth = opened.pop()[1] + 1
            deepest = max(deepest, depth)
            if opened:
                opened[-1] = (opened[-1][0], max(opened[-1][1], depth))
    return deepest


def _reference_depth(text: str) -> int:
    """Return how many brackets are open if one of them is closed: the others need not be."""
    opened: list[str] = []
    deepest = reached = 0
    for character in text:
        if character in "([{":
            opened.append(character)
            deepest = max(deepest, len(opened))
        elif character in _CLOSES:
            if opened and opened[-1] == _CLOSES[character]:
                opened.pop()
                reached = max(reached, deepest)
            else:
                opened, deepest = [], 0
    return reached


@instruction("format:quotes", "Double and single quotes are nested at least three deep.")
def nested_quotes(text: str) -> Finding:
    opened: list[str] = []
    deepest = 0
    for character in text:
        if opened and character == opened[-1]:
            opened.pop()
            if deepest - len(opened) >= 3:
                return Finding(True, f"{deepest} levels of quotes")
        elif character in "\"'":
            opened.append(character)
            deepest = max(deepest, len(opened))
    return Finding(False, f"{deepest} levels of quotes, expected 3 that are closed")


@instruction("format:quote_unquote", "Every quoted phrase is followed by words without quotes.")
def quote_unquote(text: str, *, faithful: bool = False) -> Finding:
    if not faithful:
        text = re.sub("[“”„]", '"', text)
    text = "".join(text.replace("'\"'", "").split())
    if '""' in text:
        return Finding(False, "a quote follows a quote")
    last = text.strip(digits + punctuation.replace('"', ""))[-1:]
    return Finding(last != '"', "the last quote is explained" if last != '"' else "it ends quoted")


@instruction("format:newline", "Each word is on a line of its own.")
def newline(text: str) -> Finding:
    bare = text.translate(str.maketrans("", "", punctuation)).strip()
    lines, count = [line for line in bare.split("\n") if line], len(bare.split())
    return Finding(len(lines) == count, f"{len(lines)} lines, {count} words")


@instruction("format:line_indent", "Each line is indented further than the one before.")
def line_indent(text: str, *, faithful: bool = False) -> Finding:
    lines = text.split("\n")
    if len(lines) > _MOST_LINES and len(text) < _MOST_LINES**2 / 8:
        return Finding(False, f"{len(lines)} lines, of which not each is indented further")
    if faithful:  # it removes lines from the list that it walks, and so skips some
        for line in lines:
            if not line.strip():
                lines.remove(line)
    else:
        lines = [line for line in lines if line.strip()]
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    followed = indents == sorted(set(indents))
    return Finding(followed, f"lines are indented by {indents[:9]}, expected more each time")


@instruction("format:list", "There is a list with `sep` instead of bullets.")
def special_bullets(text: str, sep: str) -> Finding:
    if not sep:
        raise ValueError("sep must not be empty")
    return compared(text.count(sep), "at least", 2, f'times "{sep}"')


@instruction("format:thesis", "A section begins with a thesis in <i>italics</i>.")
def thesis(text: str) -> Finding:
    start = text.find("<i>") if "<i>" in text else text.find("<em>")
    rest = text[start:] if start >= 0 else ""
    end = rest.find("</i>") if "</i>" in rest else rest.find("</em>")
    followed = end >= 0 and bool(rest[3:end].strip()) and bool(rest[end + 4 :].strip())
    return Finding(followed, "a thesis and a text" if followed else "no thesis before a text")


@instruction("format:sub-bullets", "Each bullet * has a sub-bullet - of its own.")
def sub_bullets(text: str, *, faithful: bool = False) -> Finding:
    if faithful:  # any star is a bullet, any hyphen a sub-bullet
        without = sum("-" not in part for part in text.split("*")[1:])
        return Finding(not without, f"{without} stars without a hyphen after them")
    marks = re.findall(r"^[^\S\n]*([*-])[^\S\n]", text, re.MULTILINE)
    count = marks.count("*")
    without = len(re.findall(r"\*(?!-)", "".join(marks)))
    return Finding(
        count > 0 and not without, f"{count} bullets, {without} of them without a sub-bullet"
    )


@instruction("format:no_bullets_bullets", "Two sentences are followed by at least two bullets *.")
def sentences_then_bullets(text: str, *, faithful: bool = False) -> Finding:
    said = bullets = 0
    in_sentences = True
    for line in map(str.strip, text.split("\n")):
        if not line and not faithful:
            continue
        if line.startswith("*"):
            in_sentences = False
            if said < 2:
                return Finding(False, f"{said} sentences before the bullets, expected 2")
            bullets += 1
        elif in_sentences:
            its = sentences(line)
            said += len(its)
            in_sentences = bool(its)  # after a blank line the reference allows bullets alone
        else:
            return Finding(False, "text follows the bullets")
    return Finding(bullets >= 2, f"{said} sentences and {bullets} bullets, expected 2 of each")


@instruction("format:output_template", "The response has the three labels of the template.")
def output_template(text: str) -> Finding:
    labels = ("My Answer:", "My Conclusion:", "Future Outlook:")
    missing = [label for label in labels if label not in text]
    return Finding(not missing, f"missing: {missing}" if missing else "all are there")


@instruction("format:no_whitespace", "The response has no white space.")
def no_whitespace(text: str) -> Finding:
    count = len(re.findall(r"\s", text))
    return Finding(count == 0, f"{count} characters of white space, expected none")
