"""An audit of each reward that trainers ship.

    python bench/stock_rewards.py                 # all that are installed
    python bench/stock_rewards.py verl_gsm8k      # one of them, with its examples

It needs the trainers (tests/with_trainers/requirements.txt). The tables are small and generated
here.
"""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plaudit.reports.audit import Audit

HERE = Path(__file__).parent


def _each(score: Any, completions: list[str], golds: list[Any]) -> list[float]:
    found = [score(text, gold) for text, gold in zip(completions, golds, strict=True)]
    return [float(one["score"] if isinstance(one, dict) else one) for one in found]


def verl_gsm8k(completions: list[str], solution: list[Any], **kwargs: Any) -> list[float]:
    """verl, `reward_score.gsm8k`."""
    from verl.utils.reward_score.gsm8k import compute_score

    return _each(compute_score, completions, [str(gold) for gold in solution])


def verl_math(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    """verl, `reward_score.math_reward`."""
    from verl.utils.reward_score.math_reward import compute_score

    return _each(compute_score, completions, solution)


def verl_math_dapo(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    """verl, `reward_score.math_dapo`."""
    from verl.utils.reward_score.math_dapo import compute_score

    return _each(compute_score, completions, solution)


def verl_math_verify(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    """verl, `reward_score.math_verify`."""
    from verl.utils.reward_score.math_verify import compute_score

    return _each(compute_score, completions, solution)


def verl_qa_em(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    """verl, `reward_score.search_r1_like_qa_em`: exact match."""
    from verl.utils.reward_score.search_r1_like_qa_em import compute_score

    return _each(compute_score, completions, [{"target": [gold]} for gold in solution])


def verl_qa_subem(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    """verl, `reward_score.search_r1_like_qa_em`: the gold is part of the answer."""
    from verl.utils.reward_score.search_r1_like_qa_em import compute_score_subem

    return _each(compute_score_subem, completions, [{"target": [gold]} for gold in solution])


def swift_accuracy(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    """ms-swift, the ORM `accuracy`."""
    from swift.rewards.orm import MathAccuracy

    return list(MathAccuracy()(completions, solution))


def swift_format(completions: list[str], **kwargs: Any) -> list[float]:
    """ms-swift, the ORM `format`."""
    from swift.rewards.orm import Format

    return list(Format()(completions))


def verifiers_math(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    """verifiers, `MathRubric`, in the last version that has it."""
    return asyncio.run(_by_rubric(completions, solution))


async def _by_rubric(completions: list[str], solution: list[str]) -> list[float]:
    folder = str(Path(sys.prefix) / "rubric")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from verifiers.legacy.rubrics.math_rubric import MathRubric

    rubric = MathRubric()
    try:
        return [
            await rubric.correct_answer(rubric.parser, [_said(text)], gold)
            for text, gold in zip(completions, solution, strict=True)
        ]
    finally:
        await rubric.teardown()


def _said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def trl_reasoning(completions: list[Any], solution: list[str], **kwargs: Any) -> list[Any]:
    """TRL, `reasoning_accuracy_reward`."""
    from trl.rewards import reasoning_accuracy_reward

    return reasoning_accuracy_reward(completions, solution)


def trl_accuracy(completions: list[Any], solution: list[str], **kwargs: Any) -> list[Any]:
    """TRL, `accuracy_reward`."""
    from trl.rewards import accuracy_reward

    return accuracy_reward(completions, solution)


def trl_think_format(completions: list[Any], **kwargs: Any) -> list[float]:
    """TRL, `think_format_reward`."""
    from trl.rewards import think_format_reward

    return think_format_reward(completions)


STOCK = {
    "trl_accuracy": "boxed",
    "trl_reasoning": "boxed",
    "trl_think_format": "numbers",
    "verl_gsm8k": "hashes",
    "verl_math": "boxed",
    "verl_math_dapo": "boxed",
    "verl_math_verify": "boxed",
    "verl_qa_em": "contexts",
    "verl_qa_subem": "contexts",
    "swift_accuracy": "boxed",
    "swift_format": "numbers",
    "verifiers_math": "boxed",
}


def main() -> None:
    import plaudit
    from plaudit.recipes import Component, Recipe

    sys.path.insert(0, str(HERE.parent / "tests" / "audit"))
    from audited_tables import TABLES

    names = sys.argv[1:]
    for name in names or STOCK:
        recipe = Recipe(name, (Component("", f"stock_rewards:{name}", folder=str(HERE)),))
        try:
            found = plaudit.audit(TABLES[STOCK[name]](), recipe)
        except ImportError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if names:
            print(found)
            continue
        print(f"| `{name}` | {_holes(found)} | {_skipped(found) or '–'} |", flush=True)


def _holes(found: "Audit") -> str:
    """Each class with the attacks of a share of 0.5 or more, worst first."""
    attacks: dict[str, list[str]] = {}
    for finding in found.findings:
        if finding.share >= 0.5:
            attacks.setdefault(finding.kind, []).append(finding.attack)
    return ", ".join(f"{kind} ({', '.join(names)})" for kind, names in attacks.items()) or "none"


def _skipped(found: "Audit") -> str:
    """What was not tried, without the reasons."""
    return "; ".join(one.partition(": completions")[0].partition(",")[0] for one in found.skipped)


if __name__ == "__main__":
    main()
