"""Saving where links, devices, other people's permissions and dead writers are in the way."""

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import mtcool
from mtcool import files

RING = mtcool.graphs.ring(5)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, modes and pipes of POSIX")


def network():
    return mtcool.i_ftrl(RING, 2)


def mode_of(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("exists", [True, False])
def test_saving_through_a_link_writes_to_its_target(depth, exists, tmp_path):
    (tmp_path / "store").mkdir()
    target = link = tmp_path / "store" / "net.npz"
    if exists:
        target.write_text("old")
    for k in range(depth):
        (tmp_path / f"link{k}").symlink_to(link)
        link = tmp_path / f"link{k}"
    network().save(link)
    assert link.is_symlink()
    assert not target.is_symlink()
    assert mtcool.load(target).graph.size == mtcool.load(link).graph.size == 5
    assert os.listdir(tmp_path / "store") == ["net.npz"]


def test_saving_to_a_pipe_or_a_device_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(os.devnull)
    for path in (tmp_path / "pipe", tmp_path / "link", os.devnull):
        with pytest.raises(ValueError, match="path must be a file or a new name, not a device"):
            network().save(path)
        with pytest.raises(ValueError, match="path must be a file"):
            mtcool.load(path)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


@pytest.mark.parametrize("act", [lambda path: network().save(path), mtcool.load])
def test_a_folder_is_not_a_file(act, tmp_path):
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        act(tmp_path)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_an_existing_file_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "net.npz"
    network().save(path)
    path.chmod(mode)
    network().save(path)
    assert mode_of(path) == mode


@pytest.mark.parametrize(("mode", "private"), [(0o644, 0o600), (0o400, 0o400), (0o700, 0o700)])
def test_a_secret_file_is_never_open_to_others(mode, private, tmp_path):
    path = tmp_path / "net.npz"
    path.write_text("old")
    path.chmod(mode)
    files.write_whole(path, lambda file: file.write(b"sums"), secret=True)
    assert mode_of(path) == private
    assert path.read_bytes() == b"sums"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, None])
@pytest.mark.parametrize("broken", ["numpy.savez", "os.fsync", "os.replace"])
def test_what_the_disk_refuses_names_the_file(number, broken, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError("full") if number is None else OSError(number, os.strerror(number))

    path = tmp_path / "net.npz"
    path.write_text("old")
    monkeypatch.setattr(broken, fail)
    with pytest.raises(OSError, match=r"net\.npz") as caught:
        network().save(path)
    assert caught.value.errno == number
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["net.npz"]


def test_a_folder_that_is_not_there_names_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"net\.npz"):
        network().save(tmp_path / "no" / "net.npz")


# By its path: the whole package would take seconds to import.
IMPORT = f"""
import runpy, signal, sys
write_whole = runpy.run_path({files.__file__!r})["write_whole"]
"""
KILLED = """
def write(file):
    file.write(b"raw sums")
    file.flush()
    print("writing", flush=True)
    signal.pause()

write_whole(sys.argv[1], write, secret=True)
"""


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_the_next_save_removes_what_a_killed_one_left_and_nothing_else(tmp_path):
    others = ["notes.tmp", "mtcool-1.tmp", "mtcool-" + "g" * 16 + ".tmp"]
    for name in others:
        (tmp_path / name).write_text("precious")
    (tmp_path / ("mtcool-" + "0" * 16 + ".tmp")).symlink_to("notes.tmp")
    command = [sys.executable, "-c", IMPORT + KILLED, str(tmp_path / "other.npz")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "writing\n"
        (being_written,) = set(leftovers(tmp_path)) - {*others, "mtcool-" + "0" * 16 + ".tmp"}
        network().save(tmp_path / "net.npz")
        assert being_written in leftovers(tmp_path)  # its writer lives
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert (tmp_path / being_written).read_bytes() == b"raw sums"
    network().save(tmp_path / "net.npz")
    assert being_written not in leftovers(tmp_path)
    assert all((tmp_path / name).read_text() == "precious" for name in others)
    assert not (tmp_path / "other.npz").exists()


def test_savers_in_one_folder_do_not_take_each_other_for_dead(tmp_path):
    """Each cleans up while the others write, again and again."""
    script = "for k in range(300): write_whole(sys.argv[1], lambda file: file.write(b'whole'))"
    savers = [
        subprocess.Popen([sys.executable, "-c", IMPORT + script, str(tmp_path / f"net{k % 2}")])
        for k in range(3)
    ]
    assert [saver.wait() for saver in savers] == [0, 0, 0]
    assert sorted(os.listdir(tmp_path)) == ["net0", "net1"]


def test_a_file_system_without_locks_loses_nothing(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    stranger = tmp_path / ("mtcool-" + "a" * 16 + ".tmp")
    stranger.write_text("perhaps being written")
    network().save(tmp_path / "net.npz")
    assert stranger.exists()
    np.testing.assert_array_equal(mtcool.load(tmp_path / "net.npz").predict(0), [0.0, 0.0])
