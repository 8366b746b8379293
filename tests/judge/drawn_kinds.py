"""Answers of every kind that models write, drawn with a seed, in pairs of which many look alike."""

import random

LETTERS = "xxxyntab"
WORDS = ("even", "No solution", "four", "ab", "none", "x", "12", "e", "pi")


class Drawing:
    """Draws LaTeX; the same seed draws the same."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def pair(self, kinds):
        """Two answers of these kinds, of which one is mostly the other, rewritten or changed."""
        kind = self._random.choice(kinds)
        one = getattr(self, kind)()
        way = self._random.randrange(10)
        if way < 3:
            other = getattr(self, kind)()
        elif way < 5:
            other = getattr(self, self._random.choice(kinds))()
        else:
            other = self._rewritten(one)
        return (one, other) if self._random.random() < 0.5 else (other, one)

    def _one_of(self, *choices):
        chosen = self._random.choice(choices)
        return chosen() if callable(chosen) else chosen

    def _integer(self, most=12):
        return self._random.randint(0, most)

    def number(self):
        a, b, c = (self._integer() for _ in range(3))
        return self._one_of(
            *(f"{a}", f"-{a}", f"{a}", rf"\frac{{{a}}}{{{b + 1}}}", rf"-\frac{{{a}}}{{{b + 2}}}"),
            *(
                rf"\sqrt{{{a + 2}}}",
                rf"{a}\sqrt{{{b + 2}}}",
                rf"{a + 1}\pi",
                rf"\frac{{\pi}}{{{a + 2}}}",
            ),
            *(f"{a}.{b}", f"0.{self._random.choice(('5', '25', '333333', '3333333', '666667'))}"),
            *(
                rf"{a}\%",
                rf"{a} + \sqrt{{{b}}}",
                rf"e^{{{c}}}",
                rf"\frac{{{a}+\sqrt{{{b}}}}}{{{c + 1}}}",
            ),
            *(rf"2^{{{a}}}", rf"\log_{{{a + 2}}} {b + 1}", rf"\ln {a + 1}", f"{a}!", rf"{a}^\circ"),
            *(
                rf"\sin \frac{{\pi}}{{{b + 2}}}",
                rf"{a + 1}.{b} \times 10^{{-{c}}}",
                rf"\sqrt[3]{{{a}}}",
            ),
        )

    def expression(self, depth=2):
        if depth == 0 or self._random.random() < 0.2:
            return self._one_of(self.number, self._random.choice(LETTERS))
        one, two = (self.expression(depth - 1) for _ in range(2))
        letter = self._random.choice(LETTERS)
        return self._one_of(
            *(f"{one} + {two}", f"{one} - {two}", f"({one})({two})", rf"\frac{{{one}}}{{{two}}}"),
            *(f"({one})^2", rf"\sqrt{{{one}}}", rf"{letter}^{{{self._integer(4)}}} + {one}"),
            *(rf"\sin({one})", rf"\cos({one})", rf"e^{{{one}}}", rf"\ln({one})", rf"|{one}|"),
            *(rf"\lfloor {one} \rfloor", rf"{letter}!", rf"\binom{{n}}{{{self._integer(4)}}}"),
            *(rf"f({letter}) + {two}", f"{letter}_{{1}} {two}", rf"2^{{{one}}}", rf"\tan({one})"),
        )

    def complex_number(self):
        a, b = self.number(), self._integer()
        return self._one_of(f"{a} + {b}i", f"{a} - {b}i", f"{b}i", rf"e^{{{b}i}}", f"{a} + i")

    def interval(self):
        ends = sorted((self._integer(), self._integer()))
        low, high = (self._one_of(f"{end}", f"{end}", self.number) for end in ends)
        low = self._one_of(low, low, r"-\infty")
        high = self._one_of(high, high, r"\infty", "n")
        return f"{self._one_of('(', '[')}{low}, {high}{self._one_of(')', ']')}"

    def inequality_and_set(self):
        """A gold and an answer, often with the same ends."""
        low, high = sorted((self._integer(), self._integer()))
        below, above = (self._one_of("<", r"\le") for _ in range(2))
        opening, closing = self._one_of("(", "["), self._one_of(")", "]")
        relation = self._one_of(
            *(f"{low} {below} x {above} {high}", f"x {above} {high}", f"{low} {below} x"),
            *(f"{high} > x", f"2x - {low} {below} {high}", f"|x - {low}| {below} {high}"),
            *(f"x^2 {below} {high}", rf"x > \sqrt{{{high}}}", self.inequality),
        )
        numbers = self._one_of(
            *(f"{opening}{low}, {high}{closing}", rf"(-\infty, {high}{closing}"),
            *(rf"{opening}{low}, \infty)", rf"\{{{low}, {high}\}}", rf"(\sqrt{{{high}}}, \infty)"),
            *(rf"(-\infty, {low}) \cup ({high}, \infty)", self.interval, self.union, self.braces),
        )
        return relation, numbers

    def union(self):
        parts = [self._one_of(self.interval, self.interval, self.braces) for _ in range(2)]
        line = rf"\mathbb{{R}} \setminus \{{{self._integer()}\}}"
        return self._one_of(r" \cup ".join(parts), r" \cup ".join(parts), line, r"\mathbb{R}")

    def membership(self):
        return rf"{self._random.choice('xxt')} \in {self._one_of(self.interval, self.union)}"

    def _members(self):
        member = self._one_of(*["number"] * 3, "expression", "complex_number", "assignment")
        return [str(getattr(self, member)()) for _ in range(self._random.randint(1, 4))]

    def braces(self):
        return rf"\{{{', '.join(self._members())}\}}"

    def listed(self):
        return self._one_of(", ".join(self._members()), rf"{self.number()} \pm {self.number()}")

    def entries(self):
        return f"({', '.join(self._members())})"

    def points(self):
        points = (f"({self.number()}, {self.number()})" for _ in range(self._random.randint(1, 3)))
        return ", ".join(points)

    def inequality(self):
        sign = self._one_of("<", ">", r"\le", r"\ge")
        below = self._one_of("<", r"\le")
        a, b = self.number(), self._integer()
        letter = self._random.choice("xxy")
        return self._one_of(
            *(f"{letter} {sign} {a}", f"{a} {sign} {letter}", f"{b + 1}{letter} + {b} {sign} {a}"),
            *(f"{letter}^2 {sign} {b}", f"|{letter} - {b}| {sign} {self._integer()}"),
            *(f"{b} < {letter} {below} {b + self._integer()}", f"x + y {sign} {b}"),
            rf"{letter} \neq {a}",
        )

    def assignment(self):
        return f"{self._random.choice('xyzab')} = {self.number()}"

    def equation(self):
        a, b, c = (self._integer() for _ in range(3))
        return self._one_of(
            *(f"y = {a}x + {b}", f"{a}x + {b + 1}y = {c}", f"x^2 + y^2 = {a}", f"y^2 = {a + 1}x"),
            *(
                rf"\frac{{x^2}}{{{a + 1}}} + \frac{{y^2}}{{{b + 1}}} = 1",
                f"xy = {a}",
                f"{a}x = {b}",
            ),
            *(f"(x-{a})^2 + (y-{b})^2 = {c}", f"x^2 + {a} = {b}", f"a = {b}b + {c}", f"ab = {c}"),
            *(
                f"y = {self.expression(1)}",
                f"x + y + z = {a}",
                f"y - {a} = {b}(x - {c})",
                self.assignment,
            ),
        )

    def function(self):
        letter = self._random.choice("xxnz")
        a, b = self._integer(), self._integer()
        return f"{self._one_of('f', 'f', 'g', 'P')}({letter}) = " + self._one_of(
            *(
                f"{a}{letter} + {b}",
                f"{letter}^2 + {a}",
                f"{letter}",
                f"{a}",
                rf"\frac{{1}}{{{letter}}}",
            ),
            *(rf"\sin {letter}", f"e^{{{letter}}}", f"c{letter}", f"-{letter} + {b}"),
        )

    def matrix(self):
        rows, columns = self._random.randint(1, 3), self._random.randint(1, 2)
        entry = self._one_of("number", "_integer", "expression")
        lines = (
            " & ".join(str(getattr(self, entry)()) for _ in range(columns)) for _ in range(rows)
        )
        kind = self._one_of("pmatrix", "bmatrix")
        inner = r" \\ ".join(lines)
        return rf"\begin{{{kind}}} {inner} \end{{{kind}}}"

    def word(self):
        word = self._random.choice(WORDS)
        return self._one_of(rf"\text{{{word}}}", rf"\mbox{{{word}}}", word.replace(" ", ""))

    def base(self):
        return f"{self._random.randint(10, 77)}_{self._one_of('7', '{10}', '8')}"

    def series(self):
        a = self._integer(5)
        return self._one_of(
            *(
                rf"\sum_{{k=1}}^{{n}} k^{a % 3}",
                rf"\prod_{{k=1}}^{{n}} (k + {a})",
                rf"\sum_{{k=1}}^{{{a}}} k",
            ),
            *(r"\frac{n(n+1)}{2}", rf"\int_0^{{{a}}} x dx", "n!"),
        )

    def _rewritten(self, text):
        """Mostly another text: not every way of rewriting changes every text."""
        for _ in range(5):
            other = self._random.choice(REWRITINGS)(text, str(self._integer()))
            if other != text:
                break
        return other


def _changed_digit(text, digit):
    for place, character in enumerate(text):
        if character.isdigit() and character != digit:
            return text[:place] + digit + text[place + 1 :]
    return text


def _swapped(text, _):
    for sign, mirrored in ((r"\le", r"\ge"), (r"\ge", r"\le"), ("<", ">"), (">", "<"), ("=", "=")):
        if text.count(sign) == 1 and r"\left" not in text:
            left, right = text.split(sign)
            return f"{right} {mirrored} {left}"
    return "+".join(reversed(text.split("+")))


def _reordered(text, _):
    for start, end in ((r"\{", r"\}"), ("(", ")"), ("", "")):
        inner = text[len(start) : len(text) - len(end)]
        if text.startswith(start) and text.endswith(end) and ", " in inner and r"\cup" not in text:
            return start + ", ".join(reversed(inner.split(", "))) + end
    return r" \cup ".join(reversed(text.split(r" \cup ")))


def _all_on_the_left(text, _):
    left, _, right = text.partition("=")
    return f"{left} - ({right}) = 0" if right else f"{text} + 0"


def _twice(text, _):
    return " = ".join(f"2({side})" for side in text.split("=")) if "=" in text else f"({text})(1)"


def _other_letters(text, _):
    return text if "\\" in text else text.replace("x", "w")


REWRITINGS = (
    _changed_digit,
    _changed_digit,
    _swapped,
    _reordered,
    _all_on_the_left,
    _twice,
    _other_letters,
    lambda text, digit: f"x = {text}",
    lambda text, digit: rf"x \in {text}",
    lambda text, digit: text.partition("=")[2] or text,
    lambda text, digit: text.partition(r"\in ")[2] or text,
    lambda text, digit: text.replace("(", "[", 1).replace(")", "]", 1),
    lambda text, digit: text.replace("[", "(").replace("]", ")"),
    lambda text, digit: text.replace("(", r"\{").replace(")", r"\}"),
    lambda text, digit: text.replace(r"\{", "").replace(r"\}", ""),
    lambda text, digit: text.replace("2", r"\frac{4}{2}", 1),
    lambda text, digit: text.replace("+", "-", 1),
    lambda text, digit: text.replace("-", "+", 1),
    lambda text, digit: text.replace("<", r"\le"),
    lambda text, digit: f"{text}, {digit}",
    lambda text, digit: text.rpartition(",")[0] or text,
    lambda text, digit: text.replace("x", "(x+1-1)"),
    lambda text, digit: rf"{text} + \sin^2 x + \cos^2 x - 1",
    lambda text, digit: text.replace(r"\frac{1}{2}", "0.5").replace(r"\%", ""),
    lambda text, digit: text.replace(r"\text", r"\mbox").upper() if "frac" not in text else text,
    lambda text, digit: text,
)
KINDS = (
    *("number", "expression", "expression", "expression", "complex_number", "interval", "interval"),
    *("union", "union", "membership", "braces", "listed", "listed", "entries", "points", "matrix"),
    *("inequality", "inequality", "assignment", "equation", "equation", "function", "word", "base"),
    "series",
)


def pairs(seed, count, kinds=KINDS):
    """So many pairs of a gold and an answer, each drawn with a seed of its own."""
    return [Drawing(f"{seed}/{number}").pair(kinds) for number in range(count)]
