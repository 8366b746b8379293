"""Tables to score, and what came of them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def jsonl(path: Path, rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scored(folder: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(part) for part in sorted(folder.glob("part-*.parquet")))


def rejected(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "_rejected.jsonl").read_text().splitlines()]


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(files)}
