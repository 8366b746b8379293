"""Pairs that only a CAS can judge, and which texts are too much for one in a test."""

import re

LARGE = re.compile(r"\^\{?\d\d|\d{5}.*\^|\^.*\^")  # what a CAS may think about for long

HARD = (
    (r"\boxed{\sin^2 x + \cos^2 x}", "1"),
    (r"\boxed{\frac{x^2-1}{x-1}}", "$x+1$"),
    (r"\boxed{1 < x < 2}", "$(1, 2)$"),
    (r"\boxed{(1, 2) \cup [3, \infty)}", r"$[3, \infty) \cup (1, 2)$"),
    (
        r"\boxed{\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}}",
        r"$\begin{pmatrix}1&2\\3&4\end{pmatrix}$",
    ),
    (r"\boxed{x = 1, y = 2}", "$(1, 2)$"),
    (r"\boxed{\int_0^1 x dx}", r"$\frac{1}{2}$"),
    (r"\boxed{\frac{0}{0}}", r"$\frac{0}{0}x$"),
    (r"\boxed{e^{i\pi}}", "$-1$"),
    (r"\boxed{\log_2 8}", "3"),
    (r"\boxed{f(x) = x + 1}", "$x + 1$"),
    (r"\boxed{\text{A}}", r"$\text{(A)}$"),
    (r"\boxed{((((}", "$1$"),
    (r"\boxed{12 \text{ and } 13}", "$12, 13$"),
    (r"The answer is $3$, $4$ or $x$.", r"$\{x, 4, 3\}$"),
    (r"The answer is $50$%.", "0.5"),
)
