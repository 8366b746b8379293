"""The tokens of an expression, taken one after another."""

from plaudit.answers._tokens import Token
from plaudit.answers._tree import CannotReadError, TooLargeError

DEEPEST = 80  # each bracket is two steps deeper
_END = Token("end", "")


class TokenStream:
    """Tokens, and the place up to which they are read."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.bars = 0

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or one further ahead; it is not taken."""
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else _END

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
