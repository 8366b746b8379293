"""Files as Excel saves them: workbooks -> JSON lines, which all readers understand; UTF-16."""

import atexit
import json
import shutil
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp

from plaudit.scoring._errors import InputError

EXCEL = (".xlsx", ".xls")


def rows_of_excel(path: Path) -> Path:
    """The rows of the first sheet as a file of JSON lines, which is removed when Python ends.

    >>> rows_of_excel(Path("none.xlsx"))
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: cannot read none.xlsx: there is no such file
    """
    if not path.exists():
        raise InputError(f"cannot read {path}: there is no such file")
    try:
        table = import_module("pandas").read_excel(path, dtype=object)
    except ImportError as error:
        raise InputError(
            f"{path} is an Excel file, which pandas reads: pip install pandas openpyxl, or save it "
            "as CSV"
        ) from error
    except Exception as error:  # whatever the reader of a damaged file raises
        raise InputError(f"cannot read {path} as an Excel file: {error}") from error
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    written = Path(_folder(), f"{len(list(Path(_folder()).iterdir()))}.jsonl")
    written.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), "utf-8")
    return written


@cache
def _folder() -> str:
    folder = mkdtemp(prefix="plaudit-excel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def check_encoding(path: Path) -> None:
    """Raise InputError if a file of text is UTF-16, as Excel saves "Unicode text"."""
    with path.open("rb") as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            utf_8 = path.with_stem(f"{path.stem}-utf-8")
            raise InputError(
                f"{path} is UTF-16, and text must be UTF-8: save it as UTF-8, such as with "
                f"`iconv -f UTF-16 -t UTF-8 {path} > {utf_8}`"
            )
