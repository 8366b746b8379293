"""Findings in; `findings.parquet`, and the counts and first examples of each kind, out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, fields
from heapq import heappush, heappushpop
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.checking._findings import KINDS, Finding

NAME = "findings.parquet"
KEPT = 200  # findings of each kind that the page shows
ROWS_AT_ONCE = 4096

SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("row", pa.int64()),
        ("column", pa.string()),
        ("value", pa.string()),
        ("why", pa.string()),
        ("component", pa.string()),
        ("related_row", pa.int64()),
        ("prompt", pa.string()),
    ]
)


class FindingsFile:
    """Writes findings as they come; the file is there as a whole or not at all.

    path: the file to write
    skip: kinds that are left out
    counts: how many findings of each kind there were
    rows: how many rows have a finding
    """

    def __init__(self, path: Path, skip: Sequence[str] = ()) -> None:
        self.path = path
        self._skip = frozenset(skip)
        self.counts: Counter[str] = Counter()
        self._unfinished = path.with_name(f".{path.name}.unfinished")
        self._writer = pq.ParquetWriter(self._unfinished, SCHEMA, compression="zstd")
        self._held: list[Finding] = []
        self._first: dict[str, list[tuple[int, int, Finding]]] = {kind: [] for kind in KINDS}
        self._failed = bytearray()  # a bit for each row

    def __enter__(self) -> "FindingsFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            try:
                if kind is None:
                    self._write()
            finally:
                self._writer.close()
            if kind is None:
                self._unfinished.replace(self.path)
        finally:
            self._unfinished.unlink(missing_ok=True)  # where the disk is full, for example

    def add(self, findings: Sequence[Finding]) -> None:
        """Write findings."""
        findings = [finding for finding in findings if finding.kind not in self._skip]
        for finding in findings:
            self.counts[finding.kind] += 1
            self._mark(finding.row)
            self._keep(finding)
        self._held += findings
        if len(self._held) >= ROWS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        if self._held:
            columns = zip(*map(astuple, self._held), strict=True)
            arrays = [
                pa.array([_valid(one) for one in values], field.type)
                for values, field in zip(columns, SCHEMA, strict=True)
            ]
            self._writer.write_table(pa.table(arrays, schema=SCHEMA))
            self._held = []

    def _keep(self, finding: Finding) -> None:
        """Keep the first of each kind, by their rows: those about prompts come in no order."""
        heap = self._first[finding.kind]
        item = (-finding.row, -self.counts[finding.kind], finding)
        if len(heap) < KEPT:
            heappush(heap, item)
        else:
            heappushpop(heap, item)

    def first(self) -> dict[str, list[Finding]]:
        """The first findings of each kind that there is, in the order of the table."""
        return {
            kind: [finding for _, _, finding in sorted(heap, reverse=True)]
            for kind, heap in self._first.items()
            if heap
        }

    def _mark(self, row: int) -> None:
        place = row >> 3
        if place >= len(self._failed):
            self._failed.extend(bytes(place + 1 - len(self._failed) + len(self._failed) // 4))
        self._failed[place] |= 1 << (row & 7)

    def failed(self, row: int) -> bool:
        """Whether a row has a finding."""
        place = row >> 3
        return place < len(self._failed) and bool(self._failed[place] >> (row & 7) & 1)

    @property
    def rows(self) -> int:
        return sum(byte.bit_count() for byte in self._failed)


def _valid(value: object) -> object:
    """Text that can be written: lone surrogates become question marks."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def read_findings(path: Path) -> list[Finding]:
    """The findings of a file, in the order of the table."""
    rows = pq.read_table(path).to_pylist()
    names = [field.name for field in fields(Finding)]
    found = [Finding(*(row[name] for name in names)) for row in rows]
    order = list(KINDS)
    return sorted(found, key=lambda finding: (finding.row, order.index(finding.kind)))
