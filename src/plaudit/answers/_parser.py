r"""Tokens to the tree of one expression, by recursive descent.

`2\frac{1}{3}x` is a product of 7/3 and x. The commands that are not functions are in `_commands`,
and everything above an expression, such as lists, relations and units, is in `_grammar`.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import ClassVar

from plaudit.answers._tokens import CANONICAL, FUNCTION_COMMANDS, Token
from plaudit.answers._tree import (
    EMPTY,
    INFINITY,
    PI,
    CannotReadError,
    Digits,
    E,
    I,
    Node,
    TooLargeError,
    number,
    symbol,
)

DEEPEST = 80  # each bracket is two steps deeper
_END = Token("end", "")


class TokenStream:
    """Tokens, and the index up to which they are read."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.bars = 0

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or one further ahead; it is not taken."""
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else _END

    def next(self) -> Token:
        """The next token."""
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *texts: str) -> bool:
        """Whether the next token is one of these; then it is taken."""
        if self.peek().text in texts and self.peek().kind != "word":
            self.at += 1
            return True
        return False

    def expect(self, *texts: str) -> None:
        """Take one of these, or raise."""
        if not self.accept(*texts):
            raise CannotReadError(f"expected {texts[0]}, found {self.peek().text!r}")

    def done(self) -> bool:
        """Whether all tokens are taken."""
        return self.at >= len(self.tokens)

    def deeper(self) -> None:
        """Count one step of nesting; too many are refused."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooLargeError(f"nested more than {DEEPEST} deep")

    def index(self) -> str:
        """An index as it stands, without braces and spaces."""
        self.expect("_")
        if not self.accept("{"):
            return self.next().text.lstrip("\\")
        parts: list[str] = []
        depth = 1
        while True:
            token = self.next()
            depth += (token.text == "{") - (token.text == "}")
            if token.kind == "end":
                raise CannotReadError("an index is not closed")
            if not depth:
                return "".join(parts)
            parts.append(token.text)


# -- Small trees


def bracketed(opening: str, inside: list[Node], closing: str) -> Node:
    """What stands in round or square brackets: a group, a tuple, an interval."""
    if len(inside) == 1 and (opening, closing) in (("(", ")"), ("[", "]")):
        return inside[0] if inside[0].op != "add" else Node("group", (inside[0],))
    if not inside or (len(inside) != 2 and opening + closing not in ("()", "[]")):
        raise CannotReadError("brackets that do not match")
    return Node("tuple", tuple(inside), opening + closing)


def leaf(token: Token) -> Node:
    """The number that a token is."""
    if isinstance(token.value, Digits):
        return Node("dec", (), token.value)
    assert token.value is not None
    return number(token.value)


def negative(node: Node) -> Node:
    """Minus something."""
    if node.op == "num":
        return number(-node.val)
    return Node("neg", (node,))


def joined(total: Node, sign: str, term: Node) -> Node:
    """A sum with one term more."""
    if sign in (r"\pm", r"\mp"):
        return Node("pm", (total, term), sign == r"\mp")
    term = Node("neg", (term,)) if sign == "-" else term
    if total.op == "add":
        return Node("add", (*total.args, term))
    return Node("add", (total, term))


def times(left: Node, right: Node) -> Node:
    """A product with one factor more."""
    if left.op == "mul":
        return Node("mul", (*left.args, right))
    return Node("mul", (left, right))


# -- The parser

_TIMES = frozenset(["*", r"\cdot", r"\times"])
_OVER = frozenset(["/", r"\div"])
# Commands that cannot begin an operand: relations, joiners, ends.
_NO_OPERAND = frozenset(
    r"\le \ge \ne \approx \in \notin \cup \cap \setminus \mid \equiv \cong \sim \to \implies \land"
    r" \lor \pm \mp \times \cdot \div \over \rangle \rfloor \rceil \mod \end \dots \pmod \propto"
    r" \cents \euro \pounds \yen \subset \subseteq \iff \perp \parallel \Rightarrow"
    r" \Leftrightarrow \quad".split()
)
_APPLIED = frozenset("fgh")
_CONSTANTS = {r"\pi": PI, r"\infty": INFINITY, r"\emptyset": EMPTY}


class TreeParser(TokenStream):
    """Reads one expression out of a list of tokens, from `at` on.

    commands: maps the name of a command that is not a function to its reader
    """

    commands: ClassVar[Mapping[str, Callable[["TreeParser"], Node]]] = {}

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        # Maps the start of each fraction that `_mixed` has read to its tree and its end. Reading
        # them again would take time exponential in the depth of nesting.
        self.fractions: dict[int, tuple[Node, int]] = {}

    # -- sums and products

    def expression(self) -> Node:
        """A sum."""
        self.deeper()
        total = self._signed_term()
        while (sign := self.peek().text) in (
            "+",
            "-",
            r"\pm",
            r"\mp",
        ) and self.peek().kind != "word":
            self.at += 1
            if self.peek().text == r"\dots":
                self.at += 1
                total = Node("dots", (total,))
                continue
            term = self._signed_term() if self.peek().text in ("+", "-") else self.term()
            total = joined(total, sign, term)
        self.depth -= 1
        return total

    def _minus(self) -> bool:
        """Whether the signs that come next make a minus."""
        minus = False
        while self.peek().text in ("-", "+") and self.peek().kind == "op":
            minus ^= self.next().text == "-"
        return minus

    def _signed_term(self) -> Node:
        if self.peek().text in ("-", "+"):
            return negative(self.term()) if self._minus() else self._signed_term()
        if self.accept(r"\pm", r"\mp"):
            return Node("pm", (self.term(),))
        return self.term()

    def term(self) -> Node:
        """A product, written with signs or without."""
        product = self._mixed(self.factor())
        while True:
            token = self.peek()
            if token.kind == "word":
                return product
            if token.text in _TIMES:
                self.at += 1
                if self.peek().text == r"\dots":
                    self.at += 1
                    product = Node("dots", (product,))
                    continue
                product = times(product, self.factor())
            elif token.text in _OVER or (token.text == ":" and self.depth > 1):
                self.at += 1
                product = Node("div", (product, self.factor()))
            elif token.text in (r"\mod", r"\pmod"):
                self.at += 1
                product = Node("mod", (product, self.factor()))
            elif self.begins_operand(token):
                product = times(product, self._mixed(self.factor()))
            else:
                return product

    def begins_operand(self, token: Token) -> bool:
        if token.kind == "txt":
            return token.text in "ei"
        if token.kind == "op":
            if token.text == "(" and self.peek(1).kind == "word":
                return False  # a remark
            return token.text in ("(", "[", "{", r"\{") or (token.text == "|" and self.bars == 0)
        if token.kind == "num":
            return self.peek(-1).kind != "num" if self.at else True
        return token.kind == "let" or (token.kind == "cmd" and token.text not in _NO_OPERAND)

    def _mixed(self, whole: Node) -> Node:
        r"""A whole number with the fraction behind it: 2\frac{1}{3}, or 2 1/3."""
        if whole.op != "num" or whole.val.denominator != 1 or self.peek(-1).kind != "num":
            return whole
        start = self.at
        part: Node | None = None
        if self.accept(r"\frac"):
            part = Node("div", (self.argument(), self.argument()))
            self.fractions[start] = part, self.at
        elif self.peek().kind == "num" and self.peek().spaced and self.peek(1).text == "/":
            top, bottom = self.next(), self.peek(1)
            self.at += 2
            if bottom.kind == "num":
                part = Node("div", (leaf(top), leaf(bottom)))
        if part and all(a.op == "num" and a.val > 0 for a in part.args):
            value = part.args[0].val / part.args[1].val
            if value < 1:
                return number(whole.val + value)
        self.at = start
        return whole

    def factor(self) -> Node:
        if self.peek().text in ("-", "+"):
            return negative(self.factor()) if self._minus() else self.factor()
        return self.power(self.primary())

    def power(self, base: Node) -> Node:
        """What follows an operand: powers, indices, factorials, degrees, percent, primes."""
        while True:
            token = self.peek()
            if token.kind == "word":
                return base
            if token.text == "^":
                base = self._raised(base)
            elif token.text == "_" and base.op == "pow" and base.args[0].op == "sym":
                letter = symbol(f"{base.args[0].val}_{self.index()}")  # v^2_0
                base = Node("pow", (letter, base.args[1]))
            elif token.text == "!":
                self.at += 1
                base = Node("fact2", (base,)) if self.accept("!") else Node("fact", (base,))
            elif token.text == "%":
                self.at += 1
                base = Node("pct", (base,))
            elif token.text.startswith("'") and base.op in ("num", "dec"):
                self.at += 1
                value = base.val if base.op == "num" else base.val.value
                base = Node("deg", (number(value / 60 ** len(token.text)),))
            else:
                return base

    def _raised(self, base: Node) -> Node:
        self.expect("^")
        exponent = self.exponent()
        if exponent.op == "degree":
            return self._minutes(Node("deg", (base,)))
        if exponent.op == "prime":
            return symbol(f"{base.val}'") if base.op == "sym" else base
        return Node("pow", (base, exponent))

    def _minutes(self, degrees: Node) -> Node:
        """Degrees with the minutes and seconds behind them."""
        while self.peek().kind == "num" and self.peek(1).text in ("'", "''"):
            part = leaf(self.next())
            parts = 60 ** len(self.next().text)
            whole = degrees.args[0]
            if whole.op != "num" or part.op not in ("num", "dec"):
                raise CannotReadError("minutes of something else")
            more = part.val if part.op == "num" else part.val.value
            degrees = Node("deg", (number(whole.val + more / parts),))
        return degrees

    def exponent(self) -> Node:
        if self.accept(r"\circ"):
            return Node("degree")
        if self.peek().text.startswith("'"):
            self.at += 1
            return Node("prime")
        if self.peek().text == "{" and self.peek(2).text == "}":
            inner = self.peek(1).text
            if inner == r"\circ" or inner.startswith("'"):
                self.at += 3
                return Node("degree") if inner == r"\circ" else Node("prime")
        if self.peek().text in ("-", "+"):
            return negative(self.exponent()) if self._minus() else self.exponent()
        if self.peek().kind == "num":
            exponent = leaf(self.next())
        elif self.peek().text in ("{", "("):
            exponent = self.primary()
        else:
            exponent = self.argument()
        # A tower without braces, 2^3^4, is read from the right.
        if not self.accept("^"):
            return exponent
        self.deeper()
        return Node("pow", (exponent, self.exponent()))

    # -- operands

    def argument(self) -> Node:
        """What a command takes: a group in braces, or one sign: one digit of a number."""
        token = self.peek()
        if token.text == "{":
            return self.braces()
        if token.kind == "num":
            digits = token.text
            if len(digits) > 1 and digits.isdigit():
                rest = Fraction(int(digits[1:]))
                self.tokens[self.at] = token._replace(text=digits[1:], value=rest, spaced=False)
                return number(int(digits[0]))
            return leaf(self.next())
        if token.kind in ("let", "txt"):
            return self._letter(self.next(), plain=True)
        if token.kind == "cmd":
            return self.primary()
        raise CannotReadError(f"an argument is missing before {token.text!r}")

    def braces(self) -> Node:
        r"""A group in braces; {a \over b} is a fraction."""
        self.expect("{")
        bars, self.bars = self.bars, 0
        inner = self.expression()
        if self.accept(r"\over"):
            inner = Node("div", (inner, self.expression()))
        elif self.accept(","):
            self.bars = bars
            return Node("set", (inner, *self.items("}")))  # {1,2}, written without its backslashes
        self.expect("}")
        self.bars = bars
        return inner

    def primary(self) -> Node:
        if self.at in self.fractions:
            known, self.at = self.fractions[self.at]
            return known
        self.deeper()
        found = self._primary(self.next())
        self.depth -= 1
        return found

    def _primary(self, token: Token) -> Node:
        if token.kind == "num":
            return read_number(self, token)
        if token.kind in ("let", "txt"):
            return self._letter(token)
        if token.kind == "cmd":
            return self._command(token.text)
        if token.kind == "op":
            return self._bracket(token.text)
        raise CannotReadError(f"no operand: {token.text!r}")

    def _letter(self, token: Token, plain: bool = False) -> Node:
        name = token.text
        if not plain and self.peek().text == "_":
            name = f"{name}_{self.index()}"
            if token.text in ("C", "P", "A") and self.peek().text == "^":
                return self._choose(token.text, name)
        primes = 0
        while not plain and self.peek().text.startswith("'"):
            primes += len(self.next().text)
        name += "'" * primes
        if name in ("e", "i"):
            return E if name == "e" else I
        if not plain and token.text in _APPLIED and self.peek().text == "(":
            self.at += 1
            inside = self.items(")")
            return Node("app", tuple(inside), name)
        return symbol(name)

    def _choose(self, kind: str, name: str) -> Node:
        """C_n^k: n is the index and k the exponent."""
        self.expect("^")
        under = name.partition("_")[2]
        lower = self.argument() if self.peek().text == "{" else self.exponent()
        if not under.isdigit() and not under.isalpha():
            return Node("pow", (symbol(name), lower))
        upper = number(int(under)) if under.isdigit() else symbol(under)
        if under.isdigit() and lower.op == "num" and lower.val > upper.val:
            return Node("pow", (symbol(name), lower))
        if kind == "C":
            return Node("binom", (upper, lower))
        left = Node("add", (upper, negative(lower)))
        return Node("div", (Node("fact", (upper,)), Node("fact", (left,))))

    def _bracket(self, sign: str) -> Node:
        bars, self.bars = self.bars, 0
        if sign == "(" or sign == "[":
            inside = self.items(")", "]")
            node = bracketed(sign, inside, self.peek(-1).text)
        elif sign == "{":
            self.at -= 1
            node = self.braces()
        elif sign == r"\{":
            node = Node("set", tuple(self.items(r"\}")))
        elif sign == "|":
            self.bars = 1
            node = Node("abs", (self.expression(),))
            self.expect("|")
        else:
            raise CannotReadError(f"no operand: {sign!r}")
        self.bars = bars
        if node.op == "num" and self.peek().text == "_":
            raise CannotReadError("an index of a number")
        return node

    def items(self, *closing: str) -> list[Node]:
        """What stands between brackets, by commas or semicolons."""
        found: list[Node] = []
        if self.accept(*closing):
            return found
        while True:
            found.append(self.inner())
            if self.accept(*closing):
                return found
            self.expect(",", ";")

    def inner(self) -> Node:
        """An element between brackets; the grammar of whole answers allows more here."""
        return self.expression()

    def _command(self, name: str) -> Node:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in FUNCTION_COMMANDS:
            return read_call(self, name)
        if name in self.commands:
            return self.commands[name](self)
        if name in _NO_OPERAND or name in (r"\text", r"\begin"):
            raise CannotReadError(f"no operand: {name}")
        if self.peek().text == "_":
            name = f"{name}_{self.index()}"
        while self.peek().text.startswith("'"):
            name += self.next().text
        return symbol(name)


# -- Functions and their arguments: \sin^2 2x, \log_2 8, \gcd(12, 18)

_STARTS = frozenset(["(", "[", "{", r"\{", "|"])
_MULTI = frozenset([r"\gcd", r"\lcm", r"\max", r"\min"])
_LOGARITHMS = frozenset([r"\ln", r"\log", r"\lg"])
_INVERSES = {name: "arc" + name for name in "sin cos tan cot sec csc sinh cosh tanh".split()}


def read_call(parser: "TreeParser", name: str) -> Node:
    """The function of this name, applied to what follows."""
    function = CANONICAL.get(name, name[1:])
    base: Node | None = None
    exponent: Node | None = None
    for _ in range(2):
        if parser.peek().text == "_":
            parser.at += 1
            base = parser.argument()
        elif parser.peek().text == "^":
            parser.at += 1
            exponent = parser.exponent()
    args = _arguments(parser, name)
    if function == "log" and base is not None:
        call = Node("call", (*args, base), "log")
    elif base is not None:  # \sup_n a_n: a function that is known by its name alone, as f(x) is
        call = Node("app", (*args, base), f"{function}_")
    else:
        call = Node("call", tuple(args), function)
    return _raised_call(call, exponent)


def _arguments(parser: "TreeParser", name: str) -> list[Node]:
    if parser.peek().text == "(" or (parser.peek().text in ("[", r"\{") and name in _MULTI):
        opening = parser.next().text
        bars, parser.bars = parser.bars, 0
        inside = parser.items({"(": ")", "[": "]"}.get(opening, r"\}"))
        parser.bars = bars
        if name not in _MULTI and len(inside) != 1:
            raise CannotReadError(f"{name} takes one argument")
        if name in _LOGARITHMS and inside[0].op == "add" and parser.peek().text == "^":
            return [parser.power(Node("group", (inside[0],)))]  # \ln (x+1)^2
        return [parser.power(inside[0])] if parser.peek().text in ("!", "%") else inside
    if parser.accept("-"):
        return [negative(_bare_argument(parser))]
    return [_bare_argument(parser)]


def _bare_argument(parser: "TreeParser") -> Node:
    r"""The argument of a function without brackets: \sin 2x, \ln\frac{x}{2}."""
    argument = parser.power(parser.primary())
    while True:
        token = parser.peek()
        if not parser.begins_operand(token) or token.text in FUNCTION_COMMANDS:
            return argument
        if token.text in _STARTS or token.kind == "txt":
            return argument
        argument = times(argument, parser.power(parser.primary()))


def _raised_call(call: Node, exponent: Node | None) -> Node:
    if exponent is None:
        return call
    if exponent == number(-1) and call.val in _INVERSES:
        return call._replace(val=_INVERSES[call.val])
    return Node("pow", (call, exponent))


# -- Numbers with digits that repeat: 0.1\overline{6}


def read_number(parser: "TreeParser", token: Token) -> Node:
    r"""A number, also one whose last digits repeat: 0.1\overline{6}."""
    if parser.peek().text in (r"\overline", r"\bar", r"\dot") and (
        "." in token.text or parser.tokens[parser.at - 1].end < len(token.text)
    ):
        return _with_repeating(parser, token)
    if parser.peek().text == "." and parser.peek(1).text in (r"\overline", r"\bar", r"\dot"):
        parser.at += 1
        return _with_repeating(parser, token)
    return leaf(token)


def _with_repeating(parser: "TreeParser", token: Token) -> Node:
    digits = ""
    while parser.accept(r"\overline", r"\bar", r"\dot"):
        grouped = parser.accept("{")
        if parser.peek().kind != "num" or not parser.peek().text.isdigit():
            raise CannotReadError("no digits that repeat")
        digits += parser.next().text
        if grouped:
            parser.expect("}")
    _, _, fixed = token.text.partition(".")
    scale = Fraction(1, 10 ** len(fixed))
    value = token.value.value if isinstance(token.value, Digits) else token.value
    assert value is not None
    return number(value + scale * Fraction(int(digits), 10 ** len(digits) - 1))
