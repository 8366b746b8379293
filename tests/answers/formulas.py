"""Formulas by chance, most of them absurd: huge numbers in every function, nested and in lists."""

import random

FUNCTIONS = (
    r"\sin \cos \tan \cot \sec \csc \sinh \cosh \tanh \coth \arcsin \arccos \arctan \arcsinh \ln"
    r" \log \lg \exp \erf \gcd \lcm \max \min \sup \Re \Im \deg \operatorname{sgn}"
    r" \operatorname{cis} f g"
).split()
GOLDS = [
    "4", "1.5", "0.333", r"\sqrt{2}", "2^{100}", r"\frac{22}{7}", r"25\%", r"45^\circ", "5 m",
    "3:4", "x^2+1", "x^2+C", "e^x", r"\sin(x)+y", "n!", r"\binom{n}{k}", r"k\pi",
    r"\frac{\pi}{4}+k\pi", "(1,2)", "1,2", r"\{1,2,3\}", r"\pm 3", "x<5", r"(-\infty,3)\cup(5,7]",
    "y=2x+1", "x^2+y^2=25", r"x \equiv 3 \pmod 7", r"\begin{pmatrix}1\\2\end{pmatrix}", "a word",
    "C", "May 5, 1999",
]  # fmt: skip


def formula(chance: random.Random) -> str:
    """A value, an equation, an inequality, a list, a set, an interval or a matrix."""
    depth = chance.randint(1, 5)

    def values(most: int) -> str:
        return ",".join(_value(chance, depth) for _ in range(chance.randint(2, most)))

    one, other = _value(chance, depth), _value(chance, depth)
    return chance.choice(
        [
            *[one] * 6,
            f"({values(4)})",
            values(8),
            rf"\{{{values(20)}\}}",
            f"{chance.choice('xyk')}={one}",
            f"{one}={other}",
            rf"[{one},{other})\cup({values(2)})",
            f"{one}{chance.choice(['<', '>', chr(92) + 'le ', chr(92) + 'equiv '])}{other}",
            rf"\begin{{pmatrix}}{one}&{other}\end{{pmatrix}}\pm {other}",
        ]
    )


def _value(chance: random.Random, depth: int) -> str:
    if depth <= 0 or chance.random() < 0.12:
        return _number(chance)
    one, other = _value(chance, depth - 1), _value(chance, depth - 1)
    letter = chance.choice("nkij")
    last = chance.choice([str(chance.randint(1, 3000)), _number(chance)])
    return chance.choice(
        [
            f"({one})", f"{one}+{other}", rf"{one}\cdot {other}", rf"\frac{{{one}}}{{{other}}}",
            f"({one})^{{{other}}}", f"({one})^{{{other}}}", rf"\sqrt{{{one}}}",
            rf"\sqrt[{other}]{{{one}}}", f"({one})!", f"({one})!!", rf"\binom{{{one}}}{{{other}}}",
            rf"{chance.choice(FUNCTIONS)}({one})", rf"{chance.choice(FUNCTIONS)}({one})",
            rf"\gcd({one},{other})", rf"\lcm({one},{other})", rf"\log_{{{other}}}({one})",
            rf"\sum_{{{letter}=1}}^{{{last}}}({one.replace('x', letter)})",
            rf"\prod_{{{letter}=0}}^{{{last}}}({one.replace('x', letter)})",
            f"|{one}|", rf"\lfloor {one}\rfloor", rf"{one} \bmod {other}", rf"{one}\%",
            rf"{one}^\circ", f"-{one}",
        ]
    )  # fmt: skip


def _number(chance: random.Random) -> str:
    power = rf"{chance.randint(1, 9)}.5\times10^{{{chance.choice(['', '-'])}"
    return chance.choice(
        [
            str(chance.randint(0, 12)),
            str(chance.randint(0, 12)),
            str(chance.randint(0, 10 ** chance.randint(1, 9))),
            f"{chance.randint(0, 99)}.{chance.randint(0, 10 ** chance.randint(1, 8))}",
            f"{power}{chance.randint(1, 10 ** chance.randint(1, 7))}}}",
            "00" + str(chance.randint(0, 9)),
            str(chance.randint(0, 10 ** chance.randint(20, 400))),
            chance.choice([r"\pi", "e", "i", r"\infty"]),
            chance.choice("xyzntkabC"),
            chance.choice("xyzntkabC"),
        ]
    )
