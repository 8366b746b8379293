"""How long `plaudit.score` takes for a pandas DataFrame, compared with `plaudit score`.

The command reads the same rows from a Parquet file and writes a folder; the function takes the
DataFrame and returns one. Both score with one worker per core, in turns; the best time of each
counts. Exits with 1 if the totals differ, or if the function takes more than --most times as long
as the command.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas
import pyarrow as pa
import pyarrow.parquet as pq

import plaudit
from report import Table, arguments, best_in_turns, seconds, show
from score_table import RECIPE, SCORE, rows

COLUMNS = ["rows", "plaudit score, Parquet", "plaudit.score, pandas", "ratio"]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--most", type=float, default=1.3, help="the largest ratio that is allowed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recipe, table = folder / "light.toml", folder / "rollouts.parquet"
        recipe.write_text(RECIPE)
        pq.write_table(pa.Table.from_pylist([json.loads(row) for row in rows(options.rows)]), table)
        frame = pandas.read_parquet(table)
        command = [*SCORE, str(table), "--recipe", str(recipe), "--out", str(folder / "scored")]
        scored: list[pandas.DataFrame] = []
        best = best_in_turns(
            {
                "command": lambda: subprocess.run([*command, "--quiet", "--overwrite"], check=True),
                "function": lambda: scored.append(plaudit.score(frame, recipe)),
            },
            options.repeat,
        )
        same = pandas.read_parquet(folder / "scored")["total"].equals(scored[-1]["total"])
    ratio = best["function"] / best["command"]
    line = [f"{options.rows:,}", seconds(best["command"]), seconds(best["function"])]
    note = "Seconds for the same rows, by the command from a Parquet file and by the function."
    show(Table("Scoring a DataFrame", COLUMNS, [[*line, f"{ratio:.2f}"]], note))
    if not same:
        sys.exit("the function and the command give different totals")
    if ratio > options.most:
        sys.exit(f"the function takes {ratio:.2f} times as long, more than {options.most}")


if __name__ == "__main__":
    main()
