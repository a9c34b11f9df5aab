"""The size and the shape of the package in one table: lines, import chains, names.

`python -m tools.measure` prints the table of this checkout, `python -m tools.measure DIRECTORY`
that of another one.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Print the table for a checkout, this one unless another is named."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    package, tests = root / "src" / "mtcool", root / "tests"
    files = sorted(package.rglob("*.py"))
    sizes = [size_of(file.read_text()) for file in files]
    code, comments, lines = (sum(column) for column in zip(*sizes, strict=True))
    imports = {module_of(file, package): file for file in files}
    graph = {name: set(imported(file, name, set(imports))) for name, file in imports.items()}
    names = Counter(name for file in files for name in classes(file))
    several = sorted(name for name, count in names.items() if count > 1)
    rows = {
        "files of src": len(files),
        "lines of src": lines,
        "code lines of src, without blanks, comments and docstrings": code,
        "lines of comment per 100 of code": round(100 * comments / code, 1),
        "lines of tests": sum(file.read_text().count("\n") for file in tests.rglob("*.py")),
        "longest import chain": longest_chain(graph),
        "modules that import mtcool loads": loaded("import mtcool", root),
        "modules that a live node loads": loaded("import mtcool.live.node", root),
        "of experiments among them": loaded("import mtcool.live.node", root, "mtcool.experiments"),
        "class names with several meanings": len(several),
        "longest file": max(text.count("\n") for text in map(Path.read_text, files)),
    }
    for what, number in rows.items():
        print(f"{number:>8}  {what}")
    print("          " + ", ".join(several))


def size_of(text: str) -> tuple[int, int, int]:
    """Lines of code, lines that have nothing but a comment, and all lines."""
    prose = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for part in body if isinstance(body, list) else []:
            value = getattr(part, "value", None)
            is_text = isinstance(part, ast.Expr) and isinstance(value, ast.Constant)
            if is_text and isinstance(value.value, str):
                prose.update(range(part.lineno, part.end_lineno + 1))
    code, comments = set(), set()
    skipped = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        span = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            comments.update(span)
        elif token.type not in skipped:
            code.update(span)
    code -= prose
    return len(code), len(comments - code), text.count("\n")


def module_of(file: Path, package: Path) -> str:
    """The dotted name of a file."""
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path, name: str, modules: set[str]) -> Iterator[str]:
    """The modules of the package that a file imports when it is loaded."""
    for node in _top_level(ast.parse(file.read_text()).body):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        else:
            found = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [one if one in modules else str(node.module) for one in found]
        yield from (one for one in found if one in modules and one != name)


def _top_level(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from _top_level(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            yield from _top_level(node.body)


def longest_chain(graph: dict[str, set[str]]) -> int:
    """Modules in the longest chain of imports, without the packages' own `__init__` shortcuts."""
    sys.setrecursionlimit(10_000)
    active: set[str] = set()

    @cache
    def depth(name: str) -> int:
        active.add(name)
        below = [depth(other) for other in graph[name] - active]
        active.discard(name)
        return 1 + max(below, default=0)

    return max(map(depth, graph))


def classes(file: Path) -> Iterator[str]:
    """Names of the public classes of a file."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def loaded(statement: str, root: Path, prefix: str = "mtcool") -> int:
    """Modules of a package that a fresh process has loaded after a statement."""
    count = f"import sys; {statement}; print(sum(m.split('.')[:{prefix.count('.') + 1}] == "
    count += f"{prefix.split('.')} for m in sys.modules))"
    path = {"PYTHONPATH": str(root / "src"), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", count], env=path, check=True, capture_output=True, text=True
    )
    return int(done.stdout)


if __name__ == "__main__":
    main()
