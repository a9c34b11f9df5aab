"""Files and classes have the names that engineers have for what they are, each once."""

import ast
from collections import Counter
from pathlib import Path

import mtcool

RIDDLES = {"asked", "elsewhere", "heard", "impatient", "kept", "room", "said", "seen", "told"}
RIDDLES |= {"whole", "words"}


def test_no_file_is_called_by_a_riddle():
    package, tests = Path(mtcool.__file__).parent, Path(__file__).parents[1]
    found = {file for folder in (package, tests) for file in folder.rglob("*.py")}
    assert len(found) > 500
    assert not {file for file in found if set(file.stem.removeprefix("test_").split("_")) & RIDDLES}


def test_the_name_of_a_class_means_one_thing():
    """But for those of river and scikit-learn, which are called alike on purpose."""
    package = Path(mtcool.__file__).parent
    names = Counter(
        node.name
        for file in package.rglob("*.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    twice = {name for name, count in names.items() if count > 1}
    assert twice == {"GraphClassifier", "GraphRegressor"}
