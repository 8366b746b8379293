"""Which math-verify is installed, and how it differs from other versions.

math-verify pins one version of latex2sympy2_extended, so they come in pairs. What the judge knows
about a pair was compared with that pair, verdict by verdict. About another it knows nothing: then
nothing is decided without math-verify, and nothing in math-verify is replaced by something faster.
"""

import warnings
from functools import cache
from typing import NamedTuple


class Quirks(NamedTuple):
    """How the tested versions differ, as far as the judge follows them without asking them.

    percent_is_its_number: `9\\%` is equal to 9, and not only to 0.09
    boxes_of_one_text_are_one: of boxes side by side that hold the same, one counts
    separators_are_words: `and` and `or` join two boxes as words, and not within a word (`for`)
    """

    percent_is_its_number: bool
    boxes_of_one_text_are_one: bool
    separators_are_words: bool


# By the versions of math-verify and latex2sympy2_extended; the newest last.
TESTED: dict[tuple[str | None, str | None], Quirks] = {
    ("0.8.0", "1.10.2"): Quirks(False, False, False),
    ("0.9.0", "1.11.0"): Quirks(True, True, True),
}


class MathVerify(NamedTuple):
    """The math-verify that is installed."""

    version: str | None  # its version; None if it is not installed
    latex2sympy2: str | None  # that of latex2sympy2_extended, which reads LaTeX for it

    @property
    def tested(self) -> bool:
        """Whether plaudit was compared with these two versions, verdict by verdict.

        If math-verify is not found it is True as well: the workers will say what is missing.
        """
        return self in TESTED or None in self

    @property
    def quirks(self) -> Quirks:
        """The quirks of this version; of the newest if this one was not tested."""
        return TESTED.get(self, _NEWEST)

    def __str__(self) -> str:
        return f"math-verify {self.version} with latex2sympy2_extended {self.latex2sympy2}"


_NEWEST = list(TESTED.values())[-1]
TESTED_VERSIONS = " and ".join(str(version) for version, _ in TESTED)


def math_verify_installed() -> MathVerify:
    """Which math-verify this environment has; it is not imported for that."""
    if _found is None:
        return _look()
    return _found


_found: MathVerify | None = None


def _look() -> MathVerify:
    """Look at what is installed. A failure is not kept: descriptors may just have run out."""
    global _found
    found = MathVerify(_version("math-verify"), _version("latex2sympy2_extended"))
    if None not in found:
        _found = found
    return found


def _version(distribution: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # not before the first judgement

    try:
        return version(distribution)
    except (PackageNotFoundError, OSError):
        return None


@cache  # so that it is said once in a process
def warn_of_untested_version() -> None:
    """Say that the installed version is not one that plaudit was tested with, where that is so."""
    installed = math_verify_installed()
    if not installed.tested and installed.version:
        warnings.warn(
            f"{installed} was not tested with plaudit, so math-verify itself judges every answer "
            "in worker processes: the verdicts are its own, but most take longer. "
            f"Tested are math-verify {TESTED_VERSIONS}.",
            UserWarning,
            stacklevel=2,
        )
