"""What an attack is: a function that builds completions for one row, and how its pay counts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from plaudit.auditing._cases import Case

Completions = Iterator[tuple[str, str]]
Builder = Callable[[Case], Completions]

CLASSES = (
    *("empty", "structure", "key", "echo", "hedge", "neighbour"),
    *("retract", "stuffing", "length", "unstable", "cost", "missed"),
)
RAISES = "raises"  # the class of a reward that raises on an attack


@dataclass(frozen=True)
class Attack:
    """An attack, as it is played.

    name: what findings call it
    kind: its class, one of CLASSES
    build: gives completions for a case, each with the name of its variant; a variant that does not
        fit a row is not given for it
    blind: whether it counts for components that never look at the gold
    near: whether what it tries is nearly right, so that partial credit is no hole
    gain: whether only what it earns above a plain wrong answer counts
    about: one sentence that says what it does

    >>> from plaudit.auditing._attacks.empty import nothing
    >>> nothing.kind, nothing.about
    ('empty', 'No text at all.')
    """

    name: str
    kind: str
    build: Builder
    blind: bool = False
    near: bool = False
    gain: bool = False

    @property
    def about(self) -> str:
        """The first sentence of its docstring."""
        return first_sentence(self.build.__doc__ or self.name)


def first_sentence(doc: str) -> str:
    """The first paragraph of a docstring, on one line.

    >>> first_sentence("No text\\nat all.\\n\\nA source.")
    'No text at all.'
    """
    return " ".join(doc.partition("\n\n")[0].split())


def attack(
    kind: str, *, blind: bool = False, near: bool = False, gain: bool = False
) -> Callable[[Builder], Attack]:
    """Make an attack of a function that takes a `Case` and yields (variant, completion).

    kind: its class, such as "hedge"
    blind: whether it counts for components that never look at the gold, such as formats
    near: whether partial credit for it is no hole, since it is nearly right
    gain: whether only what it earns above a plain wrong answer counts

    >>> @attack("key")
    ... def shouting(case):
    ...     '''The question in capitals.'''
    ...     yield "capitals", case.question.upper()
    >>> shouting.name, shouting.kind
    ('shouting', 'key')
    """
    if kind not in CLASSES:
        raise ValueError(f"there is no class {kind!r}: the classes are {', '.join(CLASSES)}")

    def made(build: Builder) -> Attack:
        return Attack(build.__name__, kind, build, blind, near, gain)

    return made
