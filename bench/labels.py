r"""How often each accuracy reward is wrong on labelled rows: false negatives and false positives.

    python bench/labels.py --data FOLDER --show

The folder has math.jsonl and qa.jsonl (`completion`, `gold`, `label`, `set`, perhaps `question`)
and pairs.jsonl (`gold`, `answer`, `equal`, `theme`); a file that is missing is skipped. With
--show, every row that plaudit's own reward gets wrong is listed, with its digest. --disputed names
a file of rows whose label is wrong, as JSON lines with `row` (such a digest) and `why`: they are
not counted. With --time, each reward scores math.jsonl in a fresh process.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from plaudit.answers._mention import normal_text
from plaudit.judge import Pair, Status, judge
from plaudit.rewards import canoe, trl, vlm_r1
from plaudit.rewards.answers import answer_reward, exact_match_reward, mention_reward
from plaudit.scores import Score
from report import Table, arguments, seconds, show, timed

Row = dict[str, Any]
OURS = "`answers`"
HERE = Path(__file__).parent
BESIDE = HERE.parents[1] / "shared"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=BESIDE / "data")
    parser.add_argument("--pairs", type=Path, default=BESIDE / "pairs" / "visible.jsonl")
    parser.add_argument("--disputed", type=Path, default=HERE / "disputed.jsonl")
    parser.add_argument("--show", action="store_true", help="list what plaudit's own gets wrong")
    parser.add_argument("--time", action="store_true", help="time each on math.jsonl, cold")
    parser.add_argument("--only", help="score math.jsonl with this one alone: what --time runs")
    options = parser.parse_args()
    if options.only:
        score_in_this_process(options.only, options.data)
        return
    disputed = {row["row"]: row["why"] for row in rows_of(options.disputed)}
    if math := rows_of(options.data / "math.jsonl"):
        tell("Mathematics", math, math_verdicts(math), "set", disputed, options.show)
    if pairs := [as_row(pair) for pair in rows_of(options.pairs)]:
        tell("Pairs", pairs, math_verdicts(pairs), "theme", disputed, options.show)
    if qa := rows_of(options.data / "qa.jsonl"):
        tell("Questions", qa, qa_verdicts(qa), "set", disputed, options.show)
    if options.time:
        show(times(options.data))


def rows_of(file: Path) -> list[Row]:
    if not file.is_file():
        return []
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def as_row(pair: Row) -> Row:
    """A pair as a completion with a label."""
    text = pair["answer"]
    if not pair.get("completion"):
        text = f"So the answer is $\\boxed{{{text}}}$."
    return {**pair, "completion": text, "label": pair["equal"]}


def digest(row: Row) -> str:
    """What tells a row from others, without repeating it."""
    text = json.dumps([row.get("set", ""), row["gold"], row["completion"]])
    return sha256(text.encode()).hexdigest()[:16]


def golds(row: Row) -> list[str]:
    gold = row["gold"]
    return list(gold) if isinstance(gold, list) else [gold]


# -- the rewards


def math_verdicts(rows: list[Row]) -> dict[str, list[Score | bool]]:
    """What each reward says of each row."""
    return {
        OURS: ours(rows),
        "`trl.accuracy_reward`": any_gold(rows, trl.accuracy_reward.scores),
        "`canoe.accuracy_reward`": any_gold(rows, canoe.accuracy_reward.scores),
        "`vlm_r1.default_accuracy_reward`": any_gold(rows, of_texts),
        "math-verify": any_gold(rows, math_verify),
    }


def qa_verdicts(rows: list[Row]) -> dict[str, list[Score | bool]]:
    texts, solution = [row["completion"] for row in rows], [row["gold"] for row in rows]
    question = [row.get("question") for row in rows]
    mentions = mention_reward.scores(texts, solution, question=question, separator="/")
    return {
        "`mention_reward`": list(mentions),
        "`exact_match_reward`": list(exact_match_reward.scores(texts, solution, separator="/")),
        "any alias contained": [contained(row) for row in rows],
    }


def contained(row: Row) -> bool:
    text = f" {normal_text(row['completion'])} "
    aliases = [part for gold in golds(row) for part in gold.split("/")]
    return any(f" {normal_text(alias)} " in text for alias in aliases if normal_text(alias))


def ours(rows: list[Row]) -> list[Score | bool]:
    return list(
        answer_reward.scores(
            [row["completion"] for row in rows],
            [row["gold"] for row in rows],
            kind=[row.get("kind") for row in rows],
            choices=[row.get("choices") for row in rows],
            question=[row.get("question") for row in rows],
        )
    )


def any_gold(
    rows: list[Row], score: Callable[[list[str], list[str]], Sequence[Score | bool]]
) -> list[Score | bool]:
    """The best score by any of a row's golds: the drop-ins take one gold."""
    flat = [
        (place, row["completion"], gold) for place, row in enumerate(rows) for gold in golds(row)
    ]
    found: list[Score | bool] = [False] * len(rows)
    scores = score([text for _, text, _ in flat], [gold for _, _, gold in flat])
    for (place, _, _), one in zip(flat, scores, strict=True):
        found[place] = found[place] or is_right(one)
    return found


def of_texts(texts: list[str], solution: list[str]) -> list[Score]:
    return vlm_r1.default_accuracy_reward.scores(texts, solution=solution)


def math_verify(texts: list[str], solution: list[str]) -> list[bool]:
    """math-verify by its defaults, with what is bare LaTeX between dollars, as it wants it."""
    pairs = [
        Pair(anchored(text), anchored(gold)) for text, gold in zip(texts, solution, strict=True)
    ]
    return [verdict.status is Status.EQUAL for verdict in judge(pairs)]


def anchored(text: str) -> str:
    bare = "\n" not in text and len(text) < 400 and "$" not in text and "\\boxed" not in text
    return f"${text}$" if bare and not re.search(r"[a-z]{3,} [a-z]{2,} ", text) else text


def is_right(score: Score | bool) -> bool:
    return score if isinstance(score, bool) else score.value == 1.0


# -- the tables


def tell(
    title: str,
    rows: list[Row],
    verdicts: dict[str, list[Score | bool]],
    by: str,
    disputed: dict[str, str],
    listed: bool,
) -> None:
    counted = [place for place, row in enumerate(rows) if digest(row) not in disputed]
    show(totals(title, rows, verdicts, counted), parts(title, rows, verdicts, by, counted))
    if listed:
        first = next(iter(verdicts))
        for line in mistakes(rows, verdicts[first], disputed):
            print(line)
        print()


def totals(
    title: str, rows: list[Row], verdicts: dict[str, list[Score | bool]], counted: list[int]
) -> Table:
    lines = []
    for name, scores in verdicts.items():
        tally = Counter((bool(rows[p]["label"]), is_right(scores[p])) for p in counted)
        right, paid = tally[True, True], tally[True, True] + tally[False, True]
        owed = tally[True, True] + tally[True, False]
        lines.append(
            [
                name,
                f"{tally[True, False]} of {owed}",
                f"{tally[False, True]} of {len(counted) - owed}",
                f"{right / max(owed, 1):.1%}",
                f"{right / max(paid, 1):.1%}",
                f"{(len(counted) - tally[True, False] - tally[False, True]) / len(counted):.1%}",
            ]
        )
    note = f"{len(rows)} rows, {len(rows) - len(counted)} of them with a label that is disputed."
    columns = ["", "false negatives", "false positives", "recall", "precision", "right"]
    return Table(title, columns, lines, note)


def parts(
    title: str,
    rows: list[Row],
    verdicts: dict[str, list[Score | bool]],
    by: str,
    counted: list[int],
) -> Table:
    lines = []
    for part in dict.fromkeys(rows[place][by] for place in counted):
        own = [place for place in counted if rows[place][by] == part]
        wrong = [
            f"{sum(rows[p]['label'] and not is_right(s[p]) for p in own)} / "
            f"{sum(not rows[p]['label'] and is_right(s[p]) for p in own)}"
            for s in verdicts.values()
        ]
        lines.append([part, len(own), *wrong])
    note = "False negatives / false positives."
    return Table(f"{title}, by {by}", ["", "rows", *verdicts], lines, note)


def mistakes(
    rows: list[Row], scores: list[Score | bool], disputed: dict[str, str]
) -> Iterator[str]:
    for row, score in zip(rows, scores, strict=True):
        if is_right(score) == bool(row["label"]):
            continue
        what = "false negative" if row["label"] else "false positive"
        why = score.why if isinstance(score, Score) else ""
        reason = disputed.get(digest(row))
        label = f" (the label is disputed: {reason})" if reason else ""
        text = " ".join(row["completion"][-80:].split())
        yield f"{digest(row)} {what}{label}: gold {row['gold']!r}, …{text!r}: {why}"


# -- the time


def times(data: Path) -> Table:
    """Each reward in a process of its own: what it loads, its workers' start and all rows."""
    lines = []
    for name in ("answers", "trl"):
        command = [sys.executable, __file__, "--data", str(data), "--only", name]
        taken, ended = timed(
            lambda run=command: subprocess.run(run, capture_output=True, check=True)
        )
        lines.append([name, seconds(float(ended.stdout)), seconds(taken)])
    return Table("Time for math.jsonl, cold", ["", "scoring", "with the start of Python"], lines)


def score_in_this_process(name: str, data: Path) -> None:
    rows = rows_of(data / "math.jsonl")
    texts, solution = [row["completion"] for row in rows], [row["gold"] for row in rows]
    if name == "answers":
        taken, _ = timed(lambda: ours(rows))
    else:
        taken, _ = timed(lambda: trl.accuracy_reward(texts, solution))
    print(taken)


if __name__ == "__main__":
    main()
