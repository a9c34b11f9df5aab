"""The command line in a plain environment: ASCII where nothing else is known, one sentence each."""

import io
import json
import re
import sys
import warnings

import pytest
import small

from mtcool import cli, memory
from mtcool.audit.suite import Verdict
from mtcool.cli import commands, privacy
from mtcool.cli.terminal import plain


class Said(io.TextIOWrapper):
    """A stream as a terminal has it."""

    def __init__(self, encoding):
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    @property
    def text(self):
        return self.buffer.getvalue().decode()


@pytest.fixture(autouse=True)
def _no_width_is_asked_for(monkeypatch):
    """Workers of pytest-xdist say that there are 80 columns."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def call(monkeypatch, undrawn):
    """Run a command with streams of the given encoding; status, output and errors."""

    def run(*words, encoding="utf-8"):
        out, err = Said(encoding), Said(encoding)
        monkeypatch.setattr(sys, "argv", ["mtcool", *map(str, words)])
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        with warnings.catch_warnings(action="error"), pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code or 0, out.text, err.text

    return run


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """An experiment with a name that is not ASCII, in a folder that keeps its cells."""
    folder = tmp_path_factory.mktemp("ascii")
    text = small.TEXT.replace('"MT-CO2OL"', '"Zürich"').replace("[[sweep]]", FIGURE + "[[sweep]]")
    return small.write(folder, text), folder / "out"


FIGURE = '[[figure]]\nx = "sigma"\ntitle = "α ≤ 1 – how"\n\n'


@pytest.mark.parametrize("said", ["encoding", "locale"])
@pytest.mark.parametrize("command", ["run", "theory"])
def test_terminals_that_know_only_ascii_get_ascii(command, said, call, experiment, monkeypatch):
    path, folder = experiment
    for name in ("PYTHONIOENCODING", "PYTHONUTF8"):
        monkeypatch.delenv(name, raising=False)
    if said == "locale":
        monkeypatch.setenv("LC_ALL", "C")
    encoding = "ascii" if said == "encoding" else "utf-8"
    status, out, err = call(command, path, "--output", folder, "--workers", 1, encoding=encoding)
    assert status == 0
    assert out.isascii()
    assert err.isascii()
    assert "?" not in out
    if command == "run":
        assert "alpha <= 1 - how" in out
        assert "sigma-bar" in out
        assert "+/-" in out
    else:
        assert "| alpha | alpha2 | gamma |" in out
        tables = re.findall(r"^\+-.*?^\+-[^\n]*", out, re.MULTILINE | re.DOTALL)
        assert len(tables) == 2
        for table in tables:  # columns still stand below each other
            assert len({len(line) for line in table.splitlines()}) == 1


def test_words_of_tables_stay_whole_on_a_terminal_of_80_columns(call, experiment, monkeypatch):
    path, folder = experiment
    _, wide, _ = call("theory", path, "--output", folder, "--workers", 1)
    monkeypatch.setenv("COLUMNS", "80")
    _, narrow, _ = call("theory", path, "--output", folder, "--workers", 1)
    assert max(map(len, narrow.splitlines())) <= 80
    assert max(map(len, wide.splitlines())) > 80
    letters = re.compile(r"[\w.,=-]+")
    assert sorted(letters.findall(narrow)) == sorted(letters.findall(wide))


@pytest.mark.parametrize("command", ["run", "theory"])
def test_lines_are_not_broken_where_no_terminal_shows_them(command, call, experiment):
    path, folder = experiment
    _, out, _ = call(command, path, "--output", folder, "--workers", 1)
    told = [line for line in out.splitlines() if "the bound holds in all" in line]
    assert len(told) == 1
    assert told[0].endswith("of the bound.")
    assert len(told[0]) > 80


def test_many_experiments_are_told_by_their_claims_and_the_report_has_the_rest(capsys, tmp_path):
    claim = {"text": "Sharing pays.", "verdict": "holds", "note": "by 3", "source": ""}
    part = {
        "replicates": 2,
        "quick": {"replicates": 2, "of_replicates": 9, "rounds": 10, "of_rounds": 90},
        "findings": ["a long story"] * 9,
        "gradients": ["L is too small."],
        "theory": ["the bound holds.", "and more."],
        "claims": [claim],
    }
    told = "All 12 claims hold. All 3 bounds of the theory hold."
    commands._tell_many({f"part-{k}": part for k in range(12)}, tmp_path, told)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "part-0 (2 replicates)",
        "  Holds: Sharing pays.",
        "  theory: the bound holds.",
    ]
    assert len(lines) == 12 * 3 + 3
    assert lines[-3] == told
    assert lines[-2].startswith("This was a QUICK LOOK")


@pytest.mark.parametrize("words", [("paper",), ("run",), ("privacy", "audit")])
def test_flags_take_no_value_in_the_help_and_defaults_are_told(words, call):
    _, out, _ = call(*words, "--help")
    assert "bool" not in out.lower()
    assert re.search(r"--json  +Print", out)
    assert "default:" in out


def test_a_run_that_is_interrupted_at_once_says_that_nothing_was_finished(
    call, tmp_path, monkeypatch
):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    folder = tmp_path / "out"
    (folder / "small").mkdir(parents=True)  # of a report, say
    monkeypatch.setattr("mtcool.experiments.running.runner.compile_kernels", interrupt)
    status, _, err = call("run", small.write(tmp_path), "--output", folder, "--workers", 1)
    assert status == 130
    told = "mtcool: interrupted; no run was finished, run again to start anew"
    assert err.splitlines()[-1] == told


def verdicts(*rows):
    return [Verdict("worst case", name, bug, 0.5, 1.0, passed) for name, bug, passed in rows]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [("tree", False, True), ("blt", False, True), ("half noise", True, False)],
            "keep their promises in all 2 audits",
        ),
        ([("tree", False, False)], "1 of 1 audits of the mechanisms exceed their limit"),
        ([("tree", False, True), ("half noise", True, True)], "1 of 1 planted bugs went unnoticed"),
    ],
)
def test_audits_end_with_what_follows_from_them(rows, told, capsys):
    privacy._tell_audits(verdicts(*rows))
    lines = capsys.readouterr().out.splitlines()
    assert told in lines[-1]
    assert "Planted bugs, which must be caught" in "".join(lines)


def test_json_stays_exact_in_ascii(call, experiment):
    path, folder = experiment
    words = ("run", path, "--output", folder, "--workers", 1, "--json")
    _, out, _ = call(*words, encoding="ascii")
    assert out.isascii()
    _, other, _ = call(*words)
    assert not other.isascii()
    assert json.loads(out) == json.loads(other)


@pytest.mark.parametrize(
    "words", [("--help",), ("run", "--help"), ("privacy", "compare", "--horizon", "100"), ("no",)]
)
def test_help_tables_and_complaints_are_ascii_too(words, call):
    _, out, err = call(*words, encoding="ascii")
    assert out + err
    assert (out + err).isascii()


def test_signs_become_words_and_letters_lose_their_accents():
    assert plain("σ̄ ± γ₂ ≤ ∞ é 東") == "sigma-bar +/- gamma2 <= inf e ?"


CALIBRATED = {
    ("--epsilon", 1, "--agents", 0): "agents must be a whole number of at least 1, got 0",
    ("--epsilon", 1, "--agents", 3_000_000_000): "agents must fit into memory, got 3000000000, whi",
    ("--epsilon", 1, "--agents", 10**400): "agents must fit into memory, got 1000000000000000",
    ("--epsilon", 5e-324): "epsilon must give noise scales from 1e-100 to 1e+100, got inf to inf",
    ("--epsilon", 5e-324, "--calibration", "paper"): "epsilon must give noise scales from",
    ("--rho", 1e-310): "rho must give noise scales from 1e-100 to 1e+100, got ",
    ("--rho", 0.5, "--delta", 1e-6): "delta has no meaning with rho, got 1e-06\n",
    ("--noise", 1e-300): "noise must be from 1e-50 to 1e+50, got 1e-300",
    ("--noise", 1e-300, "--delta", 1e-6): "noise must be from 1e-50 to 1e+50, got 1e-300",
    ("--epsilon", 1, "--horizon", 10**20): "horizon must be at most 1099511627776, got 1000000000",
}


@pytest.mark.parametrize("words", CALIBRATED)
def test_calibrate_refuses_by_the_right_name_and_without_warnings(words, call, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 16 * 10**9)
    status, out, err = call("privacy", "calibrate", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"mtcool: {CALIBRATED[words]}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [("--epsilon", 1e-300, "--delta", 1e-6), ("--noise", 1e-50)])
def test_calibrate_answers_for_extreme_levels(words, call):
    status, out, err = call("privacy", "calibrate", *words)
    assert (status, err) == (0, "")
    assert "epsilon" in out


NUMBERS = {
    "rounds = 1e20": "rounds must fit into memory, got 100000000000000000000, which needs about",
    "rounds = 100000000000000000000": "rounds must fit into memory, got 100000000000000000000, whi",
    "rounds = 1e12": "rounds must fit into memory, got 1000000000000, which needs about 32 TB; 16",
    "replicates = 1e12": "replicates must fit into memory, got 1000000000000, which needs about 24",
    "agents = 3e9": "tasks.smoothness = 1: graph: n must fit into memory, got 3000000000, which",
}


@pytest.mark.parametrize("line", NUMBERS)
def test_numbers_in_a_file_that_do_not_fit_are_one_sentence(line, call, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 16 * 10**9)
    key = line.partition(" ")[0]
    lines = [line if old.startswith(f"{key} =") else old for old in small.TEXT.splitlines()]
    path = small.write(tmp_path, "\n".join(lines))
    status, _, err = call("run", path, "--output", tmp_path / "out", "--workers", 1)
    assert status == 2
    assert err.splitlines()[-1].startswith(f"mtcool: {NUMBERS[line]}")
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_a_run_through_a_pipe_says_what_it_does(call, tmp_path):
    path = small.write(tmp_path)
    status, _, err = call("run", path, "--output", tmp_path / "out", "--workers", 1)
    assert status == 0
    # The last line of each stage; on a machine that compiles there are others before it.
    ends = re.findall(r"^(\w+): (\d+)/\2 in ", err, re.MULTILINE)
    assert ends == [("check", "2"), ("prepare", "3"), ("cells", "6"), ("report", "1")]
