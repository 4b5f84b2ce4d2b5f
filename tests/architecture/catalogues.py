"""docs/errors.md and docs/diagnostics.md list exactly the codes that the code declares."""

import re

from source_tree import CODE_FOLDERS, Finding, line_of

ERROR_CODE = re.compile(r'\bErrorCode\s+(k\w+)\s*=?\s*(?:ErrorCode\s*)?\{\s*(?:\.name\s*=\s*)?"([^"]*)"')
DIAGNOSTIC_KIND = re.compile(
    r'\bDiagnosticKind\s+(k\w+)\s*=?\s*(?:DiagnosticKind\s*)?\{\s*(?:\.code\s*=\s*)?"([^"]*)"\s*,\s*'
    r"(?:\.severity\s*=\s*)?(?:\w+::)*Severity::(\w+)"
)
UNNAMED = re.compile(r'\b(ErrorCode|DiagnosticKind)\s*[({]\s*(?:\.\w+\s*=\s*)?"([^"]*)"')
CODE_FORM = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
SEVERITY_WORDS = {"kInfo": "info", "kWarning": "warning", "kDataLoss": "data loss"}


def check(tree):
    yield from _catalogue(tree, ERROR_CODE, "docs/errors.md", columns=3)
    yield from _catalogue(tree, DIAGNOSTIC_KIND, "docs/diagnostics.md", columns=4)
    for path in _code(tree):
        declared = {m.start(2) for rule in (ERROR_CODE, DIAGNOSTIC_KIND) for m in rule.finditer(tree.code(path))}
        for match in UNNAMED.finditer(tree.code(path)):
            if match.start(2) not in declared:
                what = f"{match.group(1)} \"{match.group(2)}\" is not a constant declared beside its user"
                yield Finding(path, line_of(tree.code(path), match.start()), what)


def _code(tree):
    return tree.matching(".hpp", ".cpp", ".cu", ".cuh", under=CODE_FOLDERS)


def _catalogue(tree, declaration, document, columns):
    declared = {}
    for path in _code(tree):
        for match in declaration.finditer(tree.code(path)):
            constant, code, line = match.group(1), match.group(2), line_of(tree.code(path), match.start())
            if not CODE_FORM.fullmatch(code):
                yield Finding(path, line, f'"{code}" is not of the form area.name')
            if code in declared:
                yield Finding(path, line, f'"{code}" is declared twice')
            declared[code] = (path, line, match)
            if not _used(tree, constant):
                yield Finding(path, line, f"{constant} is used nowhere")
    listed = dict(_rows(tree, document))
    for code, (path, line, match) in sorted(declared.items()):
        if code not in listed:
            yield Finding(path, line, f'"{code}" is missing in {document}')
        elif declaration is DIAGNOSTIC_KIND and listed[code][1][1:2] != [SEVERITY_WORDS[match.group(3)]]:
            severity = SEVERITY_WORDS[match.group(3)]
            yield Finding(document, listed[code][0], f'the severity of "{code}" is {severity} in {path}')
    previous = ""
    for code, (line, cells) in _rows(tree, document):
        if code not in declared:
            yield Finding(document, line, f'"{code}" is declared nowhere in the code')
        if code <= previous:
            yield Finding(document, line, f'"{code}" stands after "{previous}": rows are sorted, each code once')
        if len(cells) != columns or not all(cells):
            yield Finding(document, line, f"a row has {columns} filled cells")
        previous = code


def _used(tree, constant):
    uses = sum(len(re.findall(rf"\b{constant}\b", tree.code(path))) for path in _code(tree))
    return uses > 1


def _rows(tree, document):
    """(code, (line, cells)) of each row of the tables in a document."""
    if document not in tree.paths:
        return
    for number, text in tree.lines(document):
        if not text.startswith("|"):
            continue
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        code = cells[0].strip("`")
        if code != "code" and not set(code) <= set("-: "):
            yield code, (number, cells)
