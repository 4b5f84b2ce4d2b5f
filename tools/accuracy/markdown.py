"""Tables and paragraphs that fit a page."""

import textwrap

WIDTH = 120


def paragraph(text, indent=""):
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )


def bullets(texts):
    return "\n".join(paragraph(text, "- ") for text in texts)


def table(header, rows):
    """Columns as wide as their longest cell; all but the leading text columns are numbers and stand at the right."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(header))]
    numeric = [all(_is_number(row[i]) for row in cells[1:]) for i in range(len(header))]

    def line(row):
        padded = (c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric))
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 1) + (":" if n else "-") for w, n in zip(widths, numeric)) + "|"
    lines = [line(cells[0]), rule, *(line(row) for row in cells[1:])]
    too_long = [text for text in lines if len(text) > WIDTH]
    if too_long:
        raise ValueError(f"a table is {len(too_long[0])} wide: {too_long[0]}")
    return "\n".join(lines)


def _is_number(cell):
    return cell == "" or cell[0] in "+-0123456789"


def signed(value):
    return "" if value is None else f"{value:+.2f}"


def pair(values):
    return "" if values[0] is None else f"{values[0]:.2f} / {values[1]:.2f}"
