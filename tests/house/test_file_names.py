"""Files have the names that engineers have for what is in them."""

from pathlib import Path

import mtcool

RIDDLES = {"asked", "elsewhere", "heard", "impatient", "kept", "room", "said", "seen", "told"}
RIDDLES |= {"whole", "words"}


def test_no_file_is_called_by_a_riddle():
    package, tests = Path(mtcool.__file__).parent, Path(__file__).parents[1]
    found = {file for folder in (package, tests) for file in folder.rglob("*.py")}
    assert len(found) > 500
    assert not {file for file in found if set(file.stem.removeprefix("test_").split("_")) & RIDDLES}
