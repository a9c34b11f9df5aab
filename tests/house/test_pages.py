"""Blocks of pages are found, run and compared; `tests/site` runs those of the real pages."""

import time
from pathlib import Path

import pytest

from house.pages import Command, File, Looked, blocks, play


def test_blocks_are_files_commands_and_doctests(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n\n```toml\n# a.toml\nname = 1\n```\n\n```console\n$ cat a.toml\n# a.toml\n...\n"
        "$ echo \\\n    two\n```\n\n```python\n>>> 1 + 1\n2\n```\n\n```{toctree}\nx\n```\n"
    )
    assert list(blocks(page)) == [
        File("a.toml", "# a.toml\nname = 1\n"),
        Command("cat a.toml", "# a.toml\n...\n"),
        Command("echo  two", None),
        Looked(),
    ]
    assert play(page, tmp_path) == 2


@pytest.mark.parametrize(
    "block",
    ["```console\n$ echo one\ntwo\n```", "```console\n$ false\n```"],
    ids=["other output", "failure"],
)
def test_a_command_that_does_something_else_is_noticed(block, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(block)
    with pytest.raises(AssertionError):
        play(page, tmp_path)


def runs(number):
    """Whether a process runs; one that has ended may still have a number."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_command_that_hangs_is_ended_with_all_that_it_has_begun(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ sleep 600 & echo $! > beside; echo begun; wait\n```")
    with pytest.raises(AssertionError, match=r"took 3 s\nbegun"):
        play(page, tmp_path, seconds=3.0)
    end = time.monotonic() + 60.0
    while runs((tmp_path / "beside").read_text().strip()):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    "block",
    ["```python\nx = 1\n```", "text\n\n    x = 1\n", "```console\necho one\n```", "```sh\nls\n```"],
    ids=["code that nobody runs", "no language", "no prompt", "another language"],
)
def test_a_block_that_nobody_would_run_is_refused(block, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(block)
    with pytest.raises(ValueError, match=r"page.md: a block"):
        list(blocks(page))
