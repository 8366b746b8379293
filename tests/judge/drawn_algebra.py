"""Small algebra, drawn by hypothesis, and the same rewritten or slightly changed."""

from hypothesis import strategies as st

numbers = st.one_of(
    st.sampled_from("0 1 1 2 2 3 4 5 6 8 9 10 12 18 25 50 100".split()),
    st.integers(0, 10**6).map(str),
)
letters = st.sampled_from("xxxxynabkfhiXNA")
powers = st.sampled_from(("", "", "", "", "^2", "^{2}", "^3", "^{3}", "^{1}", "^{8}"))
signs = st.sampled_from(("", "", "", "-"))
joins = st.sampled_from(("", "", "", " ", r"\cdot ", r" \times ", "*", "/"))
plus = st.sampled_from(("+", "-", " + ", " - "))


def over(tops, bottoms):
    return st.builds(r"\frac{{{}}}{{{}}}".format, tops, bottoms)


def roots(numbers):
    return st.builds(r"\sqrt{{{}}}".format, numbers)


def sums(atoms):
    """Sums of products of powers, as they are written."""
    factors = st.builds(str.__add__, atoms, powers)
    more = st.lists(st.builds(str.__add__, joins, factors), max_size=2).map("".join)
    products = st.builds(str.__add__, factors, more)
    rest = st.lists(st.builds(str.__add__, plus, products), max_size=2).map("".join)
    return st.builds("{}{}{}".format, signs, products, rest)


divisors = st.one_of(
    numbers, roots(numbers), st.just(r"\pi"), numbers.map(r"{}\pi".format), letters
)
simple = st.one_of(
    numbers,
    numbers,
    letters,
    letters,
    st.sampled_from((r"\pi", r"\pi", r"\theta ", r"\omega", r"\lambda", r"\alpha ")),
    roots(st.one_of(numbers, over(numbers, numbers))),
    over(numbers, divisors),
)
expressions = st.recursive(
    sums(simple),
    lambda inner: sums(st.one_of(simple, inner.map("({})".format), over(inner, divisors))),
    max_leaves=3,
)
parts = st.one_of(
    numbers, numbers.map("-{}".format), over(numbers, numbers), letters, sums(simple), expressions
)


@st.composite
def gathered(draw):
    """Several expressions in brackets, braces or none."""
    members = draw(st.lists(parts, min_size=1, max_size=4))
    opening = draw(st.sampled_from(("", "(", "(", "[", r"\{")))
    closing = {"": "", r"\{": r"\}"}.get(opening) or draw(st.sampled_from((")", ")", "]")))
    return opening + draw(st.sampled_from((",", ", "))).join(members) + (closing if opening else "")


ends = st.one_of(numbers, numbers.map("-{}".format), st.sampled_from((r"\infty", r"-\infty")))
intervals = st.builds("{}{}, {}{}".format, st.sampled_from("(["), ends, ends, st.sampled_from(")]"))
words = st.sampled_from(
    (r"\text{even}", r"\text{Even}", r"\text{ab}", r"\text{AB}", r"\text{pi}", "ab", "ba", "AB")
)
equal_signs = st.sampled_from(("=", " = "))
equations = st.builds(
    "{}{}{}".format, st.one_of(letters, letters, expressions), equal_signs, expressions
)
terms = st.builds(
    "{}{}".format, st.sampled_from(("", "2", "3", "-", "-2")), st.sampled_from("xyyz")
)
linear = st.builds("{}{}{}".format, terms, plus, st.one_of(terms, numbers))
linear_equations = st.builds(
    "{}{}{}".format, st.one_of(terms, linear), equal_signs, st.one_of(numbers, terms, linear)
)
answers = st.one_of(
    expressions,
    expressions,
    gathered(),
    gathered(),
    equations,
    linear_equations,
    letters,
    words,
    parts,
    intervals,
    st.builds(r"{} \in {}".format, letters, intervals),
)


def reversed_sum(text):
    return "+".join(reversed(text.split("+")))


def other_brackets(text):
    return text.replace("(", "[").replace(")", "]")


def doubled(text):
    return text.replace("2", r"\frac{4}{2}", 1)


def swapped_sides(text):
    return "=".join(reversed(text.split("=")))


def twice(text):
    return " = ".join(f"2({side})" for side in text.split("="))


def all_on_one_side(text):
    left, _, right = text.partition("=")
    return f"{left} - ({right}) = 0" if right else text


REWRITINGS = (
    lambda text: text.replace("+", " + ").replace(",", ", "),
    lambda text: text.replace(" ", ""),
    lambda text: text.replace("^2", "^{2}").replace(r"\cdot ", r" \times "),
    lambda text: text.replace("2", "3", 1),
    lambda text: text.replace("-", "+", 1),
    lambda text: f"x={text}",
    lambda text: f"{text}+0",
    lambda text: f"1 \\cdot ({text})",
    lambda text: f"({text})^2",
    lambda text: text.split(",")[0],
    lambda text: f"{text}, {text}",
    lambda text: text.swapcase() if "\\" not in text else text,
    reversed_sum,
    other_brackets,
    doubled,
    swapped_sides,
    twice,
    all_on_one_side,
)


@st.composite
def pairs(draw):
    """Two answers of which one is mostly the other, rewritten or slightly changed."""
    one = draw(answers)
    other = draw(st.one_of(*[st.sampled_from(REWRITINGS)] * 3, st.none()))
    two = draw(answers) if other is None else other(one)
    return (one, two) if draw(st.booleans()) else (two, one)
