"""Generated rollouts like those of GRPO on MATH: B prompts with G completions each.

A prompt has a gold and one to three plausible wrong answers; a completion reasons for a few hundred
words with mathematics in it, and ends in a box. Right answers are written in
different ways: `\\dfrac`, spaces, `\\left(`, units, an equation.
"""

import json
import random
from dataclasses import dataclass
from pathlib import Path

WORDS = """
we have that the sum of roots is then so by symmetry each term which gives us since both
sides must agree it follows first consider case where now let us note triangle number value
therefore using formula we get hence equation becomes simplify substitute check satisfies
""".split()
SNIPPETS = (
    "$x = {a}$",
    "\\( {a} + {b} = {c} \\)",
    "$$\\frac{{{a}}}{{{b}}} \\cdot {c}$$",
    "\\[ x^2 - {a}x + {b} = 0 \\]",
    "${a} \\le n < {c}$",
    "$f(x) = {a}x + {b}$",
    "\\(\\sqrt{{{c}}}\\)",
    "$({a}, {b})$",
)
ENDINGS = (
    "The answer is $\\boxed{{{}}}$.",
    "Thus, the final answer is \\boxed{{{}}}.",
    "\\[\n\\boxed{{{}}}\n\\]",
    "Therefore \\(\\boxed{{{}}}\\) is the answer.",
    "So we get $$\\boxed{{{}}}$$",
    "$x = \\boxed{{{}}}$",
)


@dataclass(frozen=True)
class Step:
    """One step's batch, as a trainer hands it over."""

    completions: list[list[dict[str, str]]]
    solution: list[str]

    @property
    def texts(self) -> list[str]:
        return [completion[0]["content"] for completion in self.completions]


def step(prompts: int = 128, group: int = 8, seed: int = 0, prose: int = 0) -> Step:
    """A batch of `prompts * group` completions; another `prose` reasons to the same answers."""
    rng, writer = random.Random(seed), random.Random(f"{seed} {prose}")
    completions, solution = [], []
    for _ in range(prompts):
        gold, right, wrong = _problem(rng)
        skill = rng.betavariate(1.2, 0.8)
        favourite = rng.choice(right)
        for _ in range(group):
            answer = rng.choice((favourite, favourite, rng.choice(right)))
            answer = answer if rng.random() < skill else rng.choice(wrong)
            completions.append([{"role": "assistant", "content": _completion(writer, answer)}])
            solution.append(gold)
    return Step(completions, solution)


def from_file(path: Path) -> Step:
    """Every row of a file of JSON objects with `completion` and `gold`, as one batch."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return Step(
        [[{"role": "assistant", "content": row["completion"]}] for row in rows],
        [row["gold"] for row in rows],
    )


def symbolic(count: int, seed: int = 0) -> tuple[Step, list[float]]:
    """Rows, no two alike, that only a CAS can decide, and the reward that each deserves."""
    rng = random.Random(seed)
    completions, solution, rewards = [], [], []
    for number in range(count):
        a, b, right = number // 90 + 2, number % 90 + 2, rng.random() < 0.5
        function, other = rng.sample(("\\sin", "\\cos", "\\tan"), 2)
        answer = f"{b}y + {function if right else other}({a}x)"
        completions.append([{"role": "assistant", "content": f"It is $\\boxed{{{answer}}}$."}])
        solution.append(f"${function}({a}x) + {b}y$")
        rewards.append(float(right))
    return Step(completions, solution), rewards


def shuffled(batch: Step, seed: int = 1) -> Step:
    """The same rows in another order."""
    order = list(range(len(batch.solution)))
    random.Random(seed).shuffle(order)
    return Step([batch.completions[i] for i in order], [batch.solution[i] for i in order])


def reasoning(rng: random.Random) -> str:
    """A few hundred words with mathematics in them, and no answer."""
    parts: list[str] = []
    for _ in range(rng.randint(8, 30)):
        parts += rng.choices(WORDS, k=rng.randint(4, 14))
        a, b = rng.randint(1, 20), rng.randint(2, 30)
        parts.append(rng.choice(SNIPPETS).format(a=a, b=b, c=a + b))
        if rng.random() < 0.2:
            parts.append("\n\n")
    return " ".join(parts)


def _completion(rng: random.Random, answer: str) -> str:
    text = reasoning(rng)
    return text if rng.random() < 0.03 else f"{text} {rng.choice(ENDINGS).format(answer)}"


def _problem(rng: random.Random) -> tuple[str, list[str], list[str]]:
    """A gold, ways to write it, and what models answer instead."""
    kind = rng.choices(KINDS, weights=WEIGHTS)[0]
    return kind(rng)


def _integer(rng: random.Random) -> tuple[str, list[str], list[str]]:
    n = rng.choice((rng.randint(-20, 100), rng.randint(2, 12) ** 2, rng.randint(100, 20000)))
    ways = [str(n), str(n), f"{n}\\text{{ cm}}", f"x = {n}", f"{n}.0"]
    return str(n), ways, [str(n + rng.randint(1, 9)), str(2 * n + 1), f"\\frac{{{n}}}{{7}}"]


def _fraction(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(1, 40), rng.choice((3, 7, 9, 11, 13, 17, 19, 23))
    ways = [
        f"\\frac{{{a}}}{{{b}}}",
        f"\\dfrac{{{a}}}{{{b}}}",
        f"{a}/{b}",
        f"\\frac{{{2 * a}}}{{{2 * b}}}",
    ]
    wrong = [f"\\frac{{{b}}}{{{a}}}", f"\\frac{{{a + 1}}}{{{b}}}", str(a), f"{a / b + 1:.2f}"]
    return f"\\frac{{{a}}}{{{b}}}", ways, wrong


def _decimal(rng: random.Random) -> tuple[str, list[str], list[str]]:
    n = round(rng.uniform(0.1, 60), 2)
    return str(n), [str(n), f"{n}0", f"{n}\\%", f"\\${n}"], [str(round(n + 1.5, 2)), str(int(n))]


def _root(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(2, 12), rng.choice((2, 3, 5, 6, 7, 10))
    ways = [f"{a}\\sqrt{{{b}}}", f"{a} \\sqrt{{{b}}}", f"\\sqrt{{{a * a * b}}}", f"{a}\\sqrt {b}"]
    return f"${a}\\sqrt{{{b}}}$", ways, [f"{b}\\sqrt{{{a}}}", f"{a}\\sqrt{{{b + 1}}}", str(a * b)]


def _pi(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(1, 30), rng.randint(2, 9)
    ways = [f"\\frac{{{a}\\pi}}{{{b}}}", f"\\dfrac{{{a} \\pi}}{{{b}}}", f"\\frac{{{a}}}{{{b}}}\\pi"]
    return f"$\\frac{{{a}\\pi}}{{{b}}}$", ways, [f"\\frac{{{b}\\pi}}{{{a}}}", f"{a}\\pi", "\\pi"]


def _polynomial(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(2, 9), rng.randint(1, 9)
    ways = [f"x^2+{a}x+{b}", f"x^2 + {a}x + {b}", f"x^{{2}}+{a}x+{b}", f"{b}+{a}x+x^2"]
    wrong = [f"x^2-{a}x+{b}", f"x^2+{b}x+{a}", f"(x+{a})(x+{b})"]
    return f"$x^2+{a}x+{b}$", ways, wrong


def _tuple(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(-9, 9), rng.randint(10, 20)
    ways = [f"({a},{b})", f"({a}, {b})", f"\\left({a}, {b}\\right)", f"\\left( {a}, {b} \\right)"]
    return f"$({a},{b})$", ways, [f"({b}, {a})", f"({a}, {b + 1})", f"[{a}, {b}]"]


def _set(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b, c = sorted(rng.sample(range(-9, 30), 3))
    ways = [f"{a}, {b}, {c}", f"{a},{b},{c}", f"\\{{{a}, {b}, {c}\\}}", f"{c}, {a}, {b}"]
    return f"${a}, {b}, {c}$", ways, [f"{a}, {b}", f"{a}, {b}, {c + 1}", str(a)]


def _word(rng: random.Random) -> tuple[str, list[str], list[str]]:
    words = rng.sample(("even", "odd", "Monday", "ellipse", "circle", "parabola", "Evelyn"), 3)
    gold, *wrong = (f"\\text{{{word}}}" for word in words)
    return f"${gold}$", [gold, gold.replace("\\text", "\\textbf")], list(wrong)


def _degrees(rng: random.Random) -> tuple[str, list[str], list[str]]:
    n = rng.randint(5, 175)
    ways = [f"{n}^\\circ", f"{n}^{{\\circ}}", str(n), f"{n}\\text{{ degrees}}"]
    return f"${n}^\\circ$", ways, [f"{180 - n}^\\circ", str(n + 10)]


def _interval(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(-9, 3), rng.randint(4, 12)
    ways = [f"[{a},{b})", f"[{a}, {b})", f"\\left[{a}, {b}\\right)", f"x \\in [{a}, {b})"]
    wrong = [f"({a}, {b})", f"[{a}, \\infty)", f"[{a}, {b}]"]
    return f"$[{a},{b})$", ways, wrong


def _line(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(2, 9), rng.randint(1, 9)
    ways = [f"y = {a}x + {b}", f"y={a}x+{b}", f"{a}x - y + {b} = 0", f"y = {b} + {a}x"]
    return f"$y = {a}x + {b}$", ways, [f"y = {b}x + {a}", f"y = {a}x - {b}", f"{a}x + {b}"]


def _inequality(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(-9, 3), rng.randint(4, 12)
    ways = [f"{a} < x < {b}", f"{a}<x<{b}", f"({a}, {b})", f"x \\in ({a}, {b})"]
    return f"${a} < x < {b}$", ways, [f"{a} \\le x \\le {b}", f"x > {a}", f"x < {b}"]


def _complex(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(1, 9), rng.randint(2, 9)
    ways = [f"{a}+{b}i", f"{a} + {b}i", f"{b}i + {a}", f"{a} + {b} i"]
    return f"${a}+{b}i$", ways, [f"{a}-{b}i", f"{b}+{a}i", str(a)]


def _trigonometry(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    ways = [f"{a}\\sin {b}x", f"{a} \\sin({b}x)", f"{a}\\sin\\left({b}x\\right)"]
    wrong = [f"{b}\\sin {a}x", f"{a}\\cos {b}x", f"-{a}\\sin {b}x"]
    return f"${a}\\sin {b}x$", ways, wrong


def _matrix(rng: random.Random) -> tuple[str, list[str], list[str]]:
    a, b, c, d = (rng.randint(-9, 9) for _ in range(4))
    matrix = "\\begin{{pmatrix}} {} & {} \\\\ {} & {} \\end{{pmatrix}}".format
    ways = [matrix(a, b, c, d), matrix(a, b, c, d).replace("pmatrix", "bmatrix")]
    return f"${matrix(a, b, c, d)}$", ways, [matrix(a, c, b, d), matrix(a, b, c, d + 1)]


KINDS = (
    *(_integer, _fraction, _decimal, _root, _pi, _polynomial, _tuple, _set, _word),
    *(_degrees, _interval, _line, _inequality, _complex, _trigonometry, _matrix),
)
WEIGHTS = (
    *(44, 14, 5, 8, 5, 6, 6, 4, 4),
    *(3, 2, 2, 1, 2, 1, 1),
)
