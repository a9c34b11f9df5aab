"""No block of code stands twice: what is written once is mended once."""

import ast
import io
import tokenize
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import mtcool

SOURCE = Path(mtcool.__file__).parent
LONGEST = 12


def code_lines(source: str) -> list[tuple[int, str]]:
    """Numbers and texts of the lines of code: no comments, no docstrings, white space folded."""
    silent = set[int]()
    for node in ast.walk(ast.parse(source)):
        text = node.value if isinstance(node, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            silent.update(range(node.lineno, node.end_lineno + 1))
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    folded = ((number, " ".join(line.split())) for number, line in enumerate(lines, 1))
    return [(number, line) for number, line in folded if line and number not in silent]


def blocks(sources: dict[str, str], longest: int = LONGEST) -> Iterator[str]:
    """Pairs of places that share more than `longest` lines of code, one after the other."""
    size = longest + 1
    places = dict[tuple[str, ...], list[str]]()
    for name, source in sources.items():
        lines = code_lines(source)
        texts = [text for _, text in lines]
        for start in range(len(lines) - size + 1):
            block = tuple(texts[start : start + size])
            places.setdefault(block, []).append(f"{name}:{lines[start][0]}")
    for found in places.values():
        yield from (f"{one} and {other}" for one, other in combinations(found, 2))


def test_no_block_of_more_than_twelve_lines_stands_twice_in_src():
    sources = {
        str(path.relative_to(SOURCE)): path.read_text() for path in sorted(SOURCE.rglob("*.py"))
    }
    assert len(sources) > 100
    assert list(blocks(sources)) == []


def test_a_copy_is_found_whatever_its_comments_and_indents():
    block = "\n".join(f"x_{number} = {number}" for number in range(LONGEST + 1))
    indented = "def f():\n    '''A copy.'''\n" + "\n".join(
        f"    {line}  # comment\n" for line in block.splitlines()
    )
    assert list(blocks({"a.py": block, "b.py": indented})) == ["a.py:1 and b.py:3"]
    assert list(blocks({"a.py": block, "b.py": block.replace("x_5 ", "y ")})) == []
