"""The modules of other libraries are imported when they are asked for."""

import subprocess
import sys

import pytest

import mtcool


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_no_library_is_imported_before_it_is_needed():
    show = "print([name for name in ('river', 'sklearn') if name in sys.modules])"
    done = run(f"import sys, mtcool; mtcool.integrations; {show}")
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(("name", "title"), [("river", "River"), ("sklearn", "scikit-learn")])
def test_a_missing_library_is_named_with_its_extra(name, title):
    done = run(f"import sys, mtcool; sys.modules['{name}'] = None; mtcool.integrations.{name}")
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: mtcool.integrations.{name} needs {title}, which is not installed: "
        f'pip install "mtcool[{name}]"'
    )


def test_there_are_no_other_modules():
    with pytest.raises(AttributeError, match="no attribute 'torch'"):
        mtcool.integrations.torch  # noqa: B018 -- the access is what is tested
