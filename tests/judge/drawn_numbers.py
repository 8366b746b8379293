"""Plain numbers, drawn by hypothesis, as people write them."""

from fractions import Fraction

from hypothesis import strategies as st

CIRCLES = ("", "", "", r"^\circ", r"^{\circ}")
PERCENTS = ("", "", r"\%", "%")
FACTORS = (1, 1, 1, 1, -1, 100, Fraction(1, 100), 10, Fraction(99, 100))
WAYS = ("integer", "fraction", "slash", "decimal", "percent", "mixed", "grouped")

integers = st.one_of(
    st.sampled_from((0, 1, 2, 3, 5, 9, 10, 12, 50, 99, 100, 1000)),
    st.integers(0, 2000),
    st.integers(0, 10**20),
)
denominators = st.one_of(st.sampled_from((1, 1, 2, 3, 4, 5, 7, 8, 9, 25, 100)), st.integers(1, 999))
values = st.builds(
    lambda sign, top, bottom: sign * Fraction(top, bottom),
    st.sampled_from((1, 1, -1)),
    integers,
    denominators,
)
tiny = st.builds(
    lambda sign, k: Fraction(sign, 10**k), st.sampled_from((1, -1)), st.integers(1, 12)
)
nudges = st.one_of(st.just(0), tiny)


@st.composite
def written(draw, value):
    """A number in one of the ways in which people write it, rounded where that way rounds."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    top, bottom = size.numerator, size.denominator
    padding = draw(st.sampled_from(("", "", "", "0", "00")))
    match draw(st.sampled_from(WAYS)):
        case "fraction":
            by = draw(st.sampled_from((1, 1, 2, 3, -1, 10)))
            return rf"{sign}\frac{{{padding if by > 0 else ''}{by * top}}}{{{by * bottom}}}"
        case "slash" if bottom > 1:
            return f"{sign}{top}/{padding}{bottom}"
        case "decimal":
            text = f"{float(size):.{draw(st.integers(1, 12))}f}"
            text = text.removeprefix("0") if draw(st.booleans()) else padding + text
            return sign + text + draw(st.sampled_from(PERCENTS + CIRCLES))
        case "percent":
            places, space = draw(st.integers(0, 8)), draw(st.sampled_from(("", " ")))
            return f"{sign}{float(size * 100):.{places}f}{space}" + draw(st.sampled_from(PERCENTS))
        case "mixed" if bottom > 1:
            return rf"{sign}{top // bottom}\frac{{{top % bottom}}}{{{bottom}}}"
        case "grouped":
            return f"{sign}{int(size):,}"
    return sign + padding + str(round(size)) + draw(st.sampled_from(PERCENTS + CIRCLES))


@st.composite
def pairs(draw):
    """Two numbers that are the same, or nearly, or a hundredth of one another; or any two."""
    value = draw(values)
    near = value * draw(st.sampled_from(FACTORS)) + draw(nudges)
    other = draw(st.one_of(st.just(near), st.just(near), st.just(near), values))
    return draw(written(value)), draw(written(other))
