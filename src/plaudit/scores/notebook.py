"""HTML tables for notebooks.

It sets no colours, so that it is readable in light and in dark notebooks.
"""

from collections.abc import Iterable, Sequence

LONGEST = 300  # characters of a cell
STYLE = "text-align: left; padding: 2px 8px"


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], note: str = ""
) -> str:
    """Return a table; what stands in it is text, never HTML.

    caption: what stands above it
    note: what stands below it; default: nothing
    """
    from html import escape  # only notebooks need it

    lines = "".join(_line(row, "td") for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return (
        f"<div><p><strong>{escape(caption)}</strong></p><table><thead>{_line(head, 'th')}</thead>"
        f"<tbody>{lines}</tbody></table>{below}</div>"
    )


def _line(cells: Sequence[object], tag: str) -> str:
    from html import escape

    inside = (f'<{tag} style="{STYLE}">{escape(_shown(cell))}</{tag}>' for cell in cells)
    return f"<tr>{''.join(inside)}</tr>"


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    text = "" if cell is None else str(cell)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
