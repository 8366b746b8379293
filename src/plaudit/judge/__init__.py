"""Two answers to a `Verdict`: the only room that knows math-verify and sympy."""

from plaudit.judge._verdict import Pair, Rule, Status, Verdict

__all__ = ["Pair", "Rule", "Status", "Verdict", "judge"]


def judge(pairs):
    from math_verify import parse, verify

    def one(p):
        g, a = parse(p.gold, parsing_timeout=None), parse(p.answer, parsing_timeout=None)
        if not g:
            return Verdict(Status.BAD_GOLD, None, None, "math-verify", 0.0)
        if not a:
            return Verdict(Status.NO_ANSWER, None, str(g[-1]), "math-verify", 0.0)
        same = verify(g, a, timeout_seconds=None)
        return Verdict(Status.EQUAL if same else Status.DIFFERENT, str(a[-1]), str(g[-1]), "math-verify", 0.0)

    return [one(p) for p in pairs]
