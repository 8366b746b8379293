"""Completions and their golds, drawn by hypothesis."""

from drawn_algebra import answers as algebra
from drawn_numbers import values, written
from hypothesis import strategies as st

COMPLETIONS = (
    r"So we get \boxed{{{}}}.",
    r"The answer is $\boxed{{{}}}$",
    r"\[\boxed{{{}}}\]",
    r"First \boxed{{3571}}, but then \boxed{{{}}}.",
    r"$$x = \boxed{{{}}}$$ as was to be shown.",
    r"The final answer is ${}$. I hope it is correct.",
    r"Answer: \({}\)",
    r"It is \boxed{{{}\text{{ cm}}}}",
    r"\boxed{{{}}} percent",
    r"$\boxed{{{}}}$%",
    "The answer is {}.",
    "Answer: **{}**",
    "It is = {}",
    "{}",
)
GOLDS = ("{}", "{}", "${}$", "${}$", r"\boxed{{{}}}", "The answer is {}", "{}%", r"${}$ \%")
DRESSED = (
    ("{}", "{}", "{}", "{}", r"\left({}\right)", r"{}\text{{ cm}}", r"\text{{about }} {}", r"{}\,"),
    (
        r" {} ",
        r"\mathrm{{{}}}",
        r"\$ {}",
        "{} dollars",
        r"\approx {}",
        r"x = {}",
        "{} units",
        "{}.",
    ),
)
PLAIN = (
    *("7", "-7", "0", "007", "-007", "3/4", "6/8", "-3/4", "0.75", ".75", "75%", "75 percent"),
    *("1,234", "1234", "1 234", "1234.0", "2+2", "4", "2^3", "8", "(1+2)*3", "9", "1/0", "3 / 4"),
    *("yes", "No", "(A)", "B", "x=5", "x = 5", "5", "(1, 2)", "1, 2", "[1, 2]", "{1, 2}", "½", "٣"),
    *(r"\frac12", r"\frac{1}{2}", r"\dfrac{2}{4}", "0.5", "1/2", "50%", r"50\%", r"\sqrt2", "0.50"),
    *(r"1{,}234", r"1,\!234", "90^\\circ", "90", r"90^\circ", r"90\text{ degrees}", "1, 1", "1"),
    *(r"\text{(C)}", r"\text{C}", "C", r"3\pi", r"\pi", r"\text{pi}", "3.14159", "e", "i", "2i"),
    *(r"10^{-3}", "0.001", r"x^2+1", r"1+x^2", "x", "X", "y=2x+1", "2x+1", r"\infty", "(0, 1]"),
)


numbers = values.flatmap(written)


@st.composite
def answers(draw):
    """An answer in its LaTeX, or in plain characters, with units and other dress."""
    answer = draw(st.one_of(st.sampled_from(PLAIN), numbers, algebra))
    return draw(st.sampled_from(DRESSED[0] + DRESSED[1])).format(answer)


@st.composite
def pairs(draw):
    """A completion and its gold: mostly the same answer, or the same value written again."""
    value = draw(values)
    of_one_value = st.tuples(*[written(value)] * 2)
    any_two = st.tuples(answers(), answers())
    the_same = answers().map(lambda answer: (answer, answer))
    answer, gold = draw(st.one_of(of_one_value, of_one_value, any_two, any_two, the_same))
    completion = draw(st.sampled_from(COMPLETIONS)).format(answer)
    return completion, draw(st.sampled_from(GOLDS)).format(gold)
