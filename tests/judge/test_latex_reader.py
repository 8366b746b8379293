"""The reader by hand gives the objects that latex2sympy2 gives, or leaves the text to it."""

import json
from random import Random

import pytest
import sympy
from antlr4 import InputStream
from drawn_latex import answer, faulty
from latex2sympy2_extended.antlr_parser import PSLexer, PSParser
from math_verify_reference import parse_latex

from examples import examples
from plaudit.judge._candidates import Latex, candidates
from plaudit.judge._latex_tokens import LatexError, UndecidedError, tokens_of
from plaudit.judge._reading import normalise
from plaudit.judge._verdict import Rule
from plaudit.judge.workers._sympy_objects import UNDECIDED, read_latex

pytestmark = pytest.mark.filterwarnings("ignore:(?s).*non-Expr arguments in Mul")


def structure(value):
    """Everything about an object: srepr sorts arguments, and leaves out what stood before that."""
    if isinstance(value, sympy.MatrixBase):
        return type(value), value.shape, [structure(entry) for entry in value]
    if not isinstance(value, sympy.Basic):
        return type(value), value
    unsorted = [structure(one) for one in getattr(value, "_unsorted_args", ())]
    arguments = [structure(one) for one in value.args] or sympy.srepr(value)
    kind = type(value).__module__, type(value).__name__  # a function's class is made anew each time
    return kind, sympy.srepr(value), unsorted, arguments


def read(text):
    """The structure of what is read, in a list; an empty list where the text does not parse."""
    try:
        found = read_latex(text)
    except Exception:
        return []
    return UNDECIDED if found is UNDECIDED else [structure(found)]


def expected(text):
    return [structure(found) for found in parse_latex(text)]


def decided_of(texts):
    """How many of the texts are decided; each as math-verify parses it."""
    decided = 0
    for text in texts:
        found = read(text)
        if found is not UNDECIDED:
            assert found == expected(text), text
            decided += 1
    return decided


def texts_of(folder):
    """Every text in normal form that comes of the golds and answers of the shared files."""
    for name in ("math", "hard"):
        for line in (folder / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield from normalised(row["completion"], Rule.LATEX)
            for gold in row["gold"] if isinstance(row["gold"], list) else [row["gold"]]:
                yield from normalised(gold, Rule.ANYWHERE)
                yield from normalised(f"${gold}$", Rule.ANYWHERE)


def normalised(text, rule):
    for candidate in candidates(text, rule):
        if isinstance(candidate, Latex):
            yield from (normalise(piece, rule) for piece in candidate.pieces)


def test_real_answers_and_golds_are_read_as_math_verify_parses_them(shared):
    texts = sorted(set(texts_of(shared)))
    step = 1 if examples(1000) == 1000 else 25
    assert len(texts) > 1500
    assert decided_of(texts[::step]) >= 0.98 * len(texts[::step])


def short(texts):
    """antlr takes exponentially long for some of what is nested."""
    return [text for text in texts if len(text) < 50]


@pytest.mark.parametrize("seed", range(4))
def test_drawn_answers_are_read_as_math_verify_parses_them(seed):
    draw = Random(seed)
    texts = short(answer(draw) for _ in range(examples(300)))
    assert decided_of(texts) >= 0.9 * len(texts)


@pytest.mark.parametrize("seed", range(4))
def test_faulty_answers_are_read_as_math_verify_parses_them(seed):
    draw = Random(seed)
    texts = short(faulty(draw, answer(draw)) for _ in range(examples(300)))
    assert decided_of(texts) >= 0.8 * len(texts)


def test_real_answers_with_faults_are_read_as_math_verify_parses_them(shared):
    draw, texts = Random(0), sorted(set(texts_of(shared)))
    broken = short(faulty(draw, draw.choice(texts)) for _ in range(examples(1000)))
    assert decided_of(broken) >= 0.9 * len(broken)


DECIDED = (
    *("x^2^3", "x^y_1", "x_a^b", "x_1^2", "2^x_1", "31_7^2", "e^x_1", "I^2", "I_1", "2E-5", "5 %"),
    *("f_n(x)", "f^2(x)", "f(x,)", "f(x,y)", "f(g(x,y),z)", "x(2)", "x(-2)", "x(x^2)", "x{(y)}"),
    *(r"\pi (2)", r"\sin x \cdot y", r"\sin x \sqrt{2}", r"\sin x y(z)", r"\sin x f(a,b)"),
    *(r"\sin(x)y", r"\sin{x}y", r"\sin^{-1} x", r"\sin^0 x", r"\log_2^3 x", r"\sin \cos x e"),
    *("1,234", "1, 234", "-1,234.5", "2 3", r"2\frac{1}{2}", r"-2\frac{1}{2}", "13:00", "3."),
    *("x=1,2", "x=1,y=2", "x=y=2", "(x,y)=(1,2)", r"x \in \{1,2\}", "A=B=(1,2)", r"x \approx 3"),
    *("1<x<2", r"2 > x \geq 1 = y", r"x \pm 1", r"(\pm 1)", r"x = 3 \pm 2", r"\pm 1 \pm 2"),
    *("(1,2)", "(2,1)", "[2,1]", "[x,1)", "(1;2)", "(x)", "{x}", "((1,2),(3,4))", "{}", r"\{\}"),
    *(r"(1,2) \cup (3,4) \cap \{5\}", r"x \in \mathbb{R} \setminus \{1\}", r"y \notin (1,2)"),
    *("|x|-|y|", "|x|=2,3|y|", r"\{x | x > 0\}", "5!^2", "x'", "A^T", r"60^\circ", r"60^{\circ}"),
    *(r"\frac{dy}{dx}", r"\frac{d^2y}{dx^2}", r"\sum^n_{k=1} k x + 2", r"\langle 1, 2 \rangle"),
    *("dog", "normal", "the norm", r"\text{Jacob's}", r"\text{(A)}", r"x\text{ and }y", "?", "𝑥"),
    *(r"\begin{array}{cc}1&2\\3&4\\\end{array}", r"2\begin{pmatrix}1\\2\end{pmatrix}+x", r"\left"),
    *("a=b=c=2", "?=?=2", r"\sqrt 2", "x^-1", "x^e", "(1,2", "", r"\binom{5}{2}", r"\gcd(12,18)"),
)


@pytest.mark.parametrize("text", DECIDED)
def test_it_knows(text):
    assert read(text) == expected(text)


@pytest.mark.parametrize(
    "text",
    [
        *(r"\int_0^1 x dx", r"\lim_{x \to 0} x", r"\gamma x", r"\partial x", r"\|x\|", "x^y^z"),
        *(
            "|x|y|z|",
            r"\log_a^2 x",
            "f_n^2(x)",
            r"\frac{d}{dx} x^2",
            "2^{3}_4",
            "e^{a}_1",
            "-" * 20,
        ),
        *("(" * 9 + "x" + ")" * 9, r"\sin " * 11 + "x", "x" * 401, r"x+1 \in y^2", r"\text{a\}b}"),
    ],
    ids=lambda text: text[:15],
)
def test_it_leaves_to_antlr(text):
    assert read_latex(text) is UNDECIDED


def tokens_by_antlr(text):
    """The kinds and the texts of latex2sympy2's own tokens; None where there is an error."""
    errors = []
    lexer = PSLexer(InputStream(text))
    lexer.removeErrorListeners()
    lexer.notifyListeners = errors.append
    found = []
    while (token := lexer.nextToken()).type != -1:
        found.append((PSParser.symbolicNames[token.type], token.text))
    return None if errors else found


def test_tokens_are_those_of_the_library():
    draw, kinds = Random(0), {}
    compared = 0
    for _ in range(examples(5000)):
        text = faulty(draw, faulty(draw, answer(draw)))
        try:
            names, texts, starts = tokens_of(text)
        except UndecidedError:
            continue
        except LatexError:
            assert tokens_by_antlr(text) is None, text
            continue
        by_antlr = tokens_by_antlr(text)
        assert by_antlr is not None, text
        if "unknown" not in names:
            assert texts == [token for _, token in by_antlr], text
            assert all(text.startswith(token, at) for token, at in zip(texts, starts, strict=True))
            for (name, _), kind in zip(by_antlr, names, strict=True):
                kinds.setdefault(name, set()).add(kind)
            compared += 1
    assert compared > examples(5000) / 4
    literal = kinds.pop("<INVALID>", set())  # those that are written into the grammar's rules
    assert literal <= {"transpose", "degree"}
    assert all(len(kind) == 1 for kind in kinds.values()), kinds
