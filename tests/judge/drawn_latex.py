"""LaTeX of every kind that answers have, drawn from a seed; and texts with faults put into them."""

ATOMS = (
    *("x", "y", "n", "a", "k", "i", "I", "e", "E", "d", "m", "C", "ab", "dx", "2x", "3xy"),
    *("x_1", "a_n", "a_{n+1}", "x^2", "x_1^2", "y^{3}", "n^k", r"\pi", r"\pi ", r"\theta"),
    *(r"\alpha ", r"\infty", "2", "3", "10", "0", "1", "12", "0.5", "3.14", ".5", "50\\%", "5 %"),
    *("2E3", "31_7", "4230_{7}", r"2\pi", r"\frac{1}{2}", r"\sqrt{2}", "-1", "-x", r"\text{cm}"),
    *(r"\vec{v}", r"\overline{AB}", r"\angle A", r"90^\circ", "f'", r"\mathrm{d}"),
)
BINARY = ("+", "-", " + ", " - ", r"\cdot ", r" \times ", "*", "/", ":", r"\div ", "", "")
AROUND = (
    *("-%s", "(%s)", "(%s)", "[%s]", "{%s}", "|%s|", r"\lfloor %s \rfloor", r"\lceil %s\rceil"),
    *(r"\{%s\}", r"\lvert %s \rvert", r"\sqrt{%s}", r"\sqrt[3]{%s}", r"\frac{%s}{2}"),
    *(r"\frac{1}{%s}", "%s^2", "%s^{-1}", "%s^x", "%s_1", "%s!", r"%s^\circ", "2^{%s}", "x^{%s}"),
    *("e^{%s}", "a_{%s}", "%s'", r"\binom{%s}{2}", r"%s \mod 5", r"\sum_{k=1}^n %s"),
    *(r"\prod_{i=1}^{3} %s", r"\frac{d%s}{dx}", r"\frac{%s}{dt}", r"\langle %s \rangle"),
    *("f(%s)", "f^2(%s)", "f_1(%s)", r"\theta(%s)", "f(%s,y)", "f[%s]", r"\text{a}(%s)"),
    *(r"\max(%s,2)", r"\gcd(12,%s)", r"\begin{pmatrix} %s \\ 2 \end{pmatrix}"),
)
FUNCTIONS = (
    *(r"\sin", r"\cos", r"\tan", r"\log", r"\ln", r"\exp", r"\arctan", r"\sinh", r"\log_2"),
    *(r"\log_{10}", r"\sin^2", r"\cos^{-1}", r"\log_a", r"\arcsin", r"\sec", r"\cot^3", r"\sin^n"),
)
ARGUMENTS = (" %s", "(%s)", "{%s}", "^2(%s)", "[%s]")
LEFT = ("x", "y", "f(x)", "a_1", "(x,y)", r"\theta", "x^2", "2x", "x+y")
RELATIONS = ("=", " = ", r"\in ", r" \approx ", "<", r"\leq ", ">", r"\geq ", r"\neq ", "≤")
INTERVALS = ("(%s,%s)", "[%s,%s]", "(%s,%s]", "[%s, %s)", r"\{%s,%s\}", "((%s,%s))")
WORDS = "even odd Monday cows dog normal trace no red Sunday all eggs diagonal".split()
FAULTS = (
    *("{", "}", "(", ")", "[", "]", "^", "_", "^2", "_1", "^{2}", "_{n}", "|", "!", "'", "^T"),
    *("+", "-", "/", "=", "<", ",", ";", ":", ".", "..", " ", "&", r"\\", "$", "%", r"\%", "√"),
    *("x", "e", "d", "E", "I", "2", "0.5", "1,234", "f(x)", "(1,2)", "|x|", "tr", "norm", "diag"),
    *(r"\frac{", r"\sqrt{", r"\cdot ", r"\in ", r"\cup ", r"\pm ", r"\infty", r"\pi ", r"\sin "),
    *(r"\log_2 ", r"\{", r"\}", r"\lfloor ", r"\text{or}", r"\mathbb{R}", r"\left", r"\dots"),
    *(r"\begin{pmatrix}", r"\end{pmatrix}", r"\langle ", r"\,", r"\gamma", r"\int ", r"\(", "°"),
)


def expression(draw, depth):
    """`draw` is a `random.Random`."""
    kind = draw.random()
    if depth == 0 or kind < 0.25:
        return draw.choice(ATOMS)
    inside = expression(draw, depth - 1)
    if kind < 0.45:
        return inside + draw.choice(BINARY) + expression(draw, depth - 1)
    if kind < 0.6:
        return draw.choice(FUNCTIONS) + draw.choice(ARGUMENTS).replace("%s", inside)
    return draw.choice(AROUND).replace("%s", inside)


def element(draw, depth):
    """What stands between two commas."""
    kind = draw.random()
    if kind < 0.45 or depth == 0:
        return expression(draw, draw.randrange(3))
    if kind < 0.6:
        return draw.choice(LEFT) + draw.choice(RELATIONS) + element(draw, depth - 1)
    if kind < 0.7:
        return draw.choice(("", "x", "2", "x = 2")) + r" \pm " + expression(draw, 1)
    inside = ",".join(element(draw, depth - 1) for _ in range(draw.randrange(1, 4)))
    if kind < 0.85:
        return draw.choice("([") + inside + draw.choice(")]")
    return draw.choice((r"\{%s\}", r"\mathbb{R}", r"\emptyset", "{}")).replace("%s", inside)


def answer(draw):
    """One text, as it comes to the parser."""
    kind = draw.random()
    if kind < 0.5:
        return element(draw, 2)
    if kind < 0.7:
        joined = draw.choice((", ", ",", ";", r" \text{or} ", " and "))
        return joined.join(element(draw, 1) for _ in range(draw.randrange(2, 4)))
    if kind < 0.9:
        intervals = [draw.choice(INTERVALS) for _ in range(draw.randrange(1, 4))]
        ends = [tuple(expression(draw, 0) for _ in range(2)) for _ in intervals]
        sets = [interval % two for interval, two in zip(intervals, ends, strict=True)]
        before = draw.choice(("", "", r"x \in ", "x = ", "A=B=", r"y \notin "))
        return before + draw.choice((r" \cup ", r" \cap ", r" \setminus ")).join(sets)
    return " ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, 4)))


def faulty(draw, text):
    """The text with one to three characters or pieces of LaTeX gone, doubled or put in."""
    for _ in range(draw.randrange(1, 4)):
        start = draw.randrange(len(text) + 1)
        end = min(len(text), start + draw.randrange(1, 4))
        text = draw.choice(
            (
                text[:start] + text[end:],
                text[:end] + text[start:],
                text[:start] + draw.choice(FAULTS) + text[start:],
                text[:start] + draw.choice(FAULTS) + text[end:],
            )
        )
    return text
