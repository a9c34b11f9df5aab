"""The compile cache holds pickles, which run code: only ours and root's are read."""

import contextlib
import errno
import hashlib
import os
import pickle
import re
import stat
import time
from pathlib import Path

import pytest

from mtcool.kernels import cache, compile_lock
from mtcool.kernels.ownership import UnsafePathError, read_safely, safe_folder

NOBODY = 65534
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)
PROGRAM = """
import sys
sys.stderr = sys.stdout
from mtcool.kernels import kernel
@kernel
def plus_one(x):
    return x + 1.0
@kernel
def plus_two(x):
    return x + 2.0
print(plus_one(1.0), plus_two(1.0))
print(*(sum(f.stats.cache_hits.values()) for f in (plus_one, plus_two)))
"""


def planted(marker: Path) -> bytes:
    class Evil:
        def __reduce__(self):
            return Path.touch, (marker,)

    payload = pickle.dumps(Evil())
    return hashlib.sha256(payload).digest() + payload


def give_away(path: Path) -> None:
    os.chown(path, NOBODY, -1, follow_symlinks=False)


ATTACKS = {
    "the folder is open to all": lambda folder, files: folder.chmod(0o777),
    "the folder is open to a group": lambda folder, files: folder.chmod(0o770),
    "the folder is sticky and open": lambda folder, files: folder.chmod(0o1777),
    "a folder above is open to all": lambda folder, files: folder.parent.parent.chmod(0o777),
    "files are open to all": lambda folder, files: [file.chmod(0o666) for file in files],
}
GIFTS = {
    "the folder is another's": lambda folder, files: give_away(folder),
    "a folder above is another's": lambda folder, files: give_away(folder.parent.parent),
    "files are another's": lambda folder, files: [give_away(file) for file in files],
}


@pytest.mark.parametrize(
    "attack",
    [*ATTACKS.values(), *(pytest.param(gift, marks=as_root) for gift in GIFTS.values())],
    ids=[*ATTACKS, *GIFTS],
)
def test_what_somebody_else_can_write_is_not_run_and_the_user_hears_of_it_once(
    tmp_path, run, attack
):
    where, marker = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}, tmp_path / "marker"
    assert run(PROGRAM, **where) == ["2.0", "3.0", "0", "0"]
    assert run(PROGRAM, **where) == ["2.0", "3.0", "1", "1"]
    (folder,) = (tmp_path / "cache" / "mtcool").iterdir()
    files = [file for file in folder.iterdir() if file.name.startswith("plus_")]
    assert len(files) == 2
    for file in files:
        file.write_bytes(planted(marker))
    attack(folder, files)
    before = {path: path.lstat() for path in folder.rglob("*")}
    words = run(PROGRAM, **where)
    assert words[-4:] == ["2.0", "3.0", "0", "0"]
    assert not marker.exists()
    said = " ".join(words)
    assert said.count("mtcool: the compile cache is not used, because") == 1
    assert str(tmp_path / "cache") in said
    assert "belongs to" in said or "can be written by other users (mode" in said
    assert "if nobody else has written there, chown it or chmod go-w it" in said
    if "a file in" in said:  # the folder is ours, and heals
        assert run(PROGRAM, **where) == ["2.0", "3.0", "1", "1"]
    else:
        assert {path: path.lstat() for path in folder.rglob("*")} == before


def test_a_planted_pickle_would_have_run(tmp_path):
    pickle.loads(planted(tmp_path / "marker")[cache.DIGEST :])
    assert (tmp_path / "marker").exists()


def test_new_folders_and_files_are_open_to_nobody_else_whatever_the_umask(tmp_path, run):
    program = "import os\nos.umask(0)\n" + PROGRAM
    run(program, NUMBA_CACHE_DIR=str(tmp_path / "some" / "cache"))
    made = list((tmp_path / "some").rglob("*"))
    assert len(made) >= 5  # cache, mtcool, a digest, two kernels
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in made} == {0}


def test_a_sticky_folder_above_may_be_open_to_all(tmp_path):
    tmp_path.chmod(0o1777)  # as /tmp is
    assert safe_folder(tmp_path / "ours" / "deep") == tmp_path / "ours" / "deep"
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == 0o700


@as_root
def test_in_a_sticky_folder_another_may_have_been_first(tmp_path):
    tmp_path.chmod(0o1777)
    (tmp_path / "ours").mkdir(0o755)
    give_away(tmp_path / "ours")
    with pytest.raises(UnsafePathError, match=r"ours belongs to"):
        safe_folder(tmp_path / "ours")


@as_root
def test_the_owner_of_a_sticky_folder_can_rename_what_is_in_it(tmp_path):
    (tmp_path / "theirs").mkdir(0o755)
    (tmp_path / "theirs" / "ours").mkdir()
    give_away(tmp_path / "theirs")
    (tmp_path / "theirs").chmod(0o1777)
    with pytest.raises(UnsafePathError, match=r"theirs belongs to"):
        safe_folder(tmp_path / "theirs" / "ours")


def test_a_link_is_followed_to_a_folder_and_the_way_there_is_what_counts(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "ours").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "ours")
    assert safe_folder(tmp_path / "link") == tmp_path / "open" / "ours"
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(UnsafePathError, match=r"open can be written by other users \(mode 777\)"):
        safe_folder(tmp_path / "link")


def test_a_file_is_not_read_through_a_link_nor_from_a_pipe(tmp_path):
    (tmp_path / "file").write_bytes(b"ours")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    assert read_safely(tmp_path / "file") == b"ours"
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match=name):
            read_safely(tmp_path / name)


def test_a_file_is_judged_as_it_was_opened_and_not_by_its_path(tmp_path, monkeypatch):
    """Between a look at the path and the opening another file could take its place."""
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"ours")
    other.write_bytes(b"theirs")
    other.chmod(0o666)
    opening = os.open

    def swapped(path, *arguments):
        os.replace(other, file)
        return opening(path, *arguments)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(UnsafePathError, match=r"can be written by other users"):
        read_safely(file)


@as_root
def test_root_does_not_run_what_lies_in_the_home_of_another(tmp_path, monkeypatch, capsys):
    """As with `sudo`, where HOME is still that of the user."""
    monkeypatch.setattr(cache, "say_once", cache.say_once.__wrapped__)
    home = tmp_path / "alice"
    (home / ".cache" / "mtcool").mkdir(parents=True)
    give_away(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.open_cache() is None
    assert f"{home} belongs to" in capsys.readouterr().err


def test_who_may_only_read_the_cache_waits_for_no_turn(tmp_path, monkeypatch):
    """As with a cache of root's, in which the file for turns is refused as if it were locked."""

    def refused(path, *arguments):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(compile_lock, "PATIENCE", 5.0)
    began = time.monotonic()
    compile_lock.begin_turn(tmp_path / "kernel")
    assert time.monotonic() - began < 1.0


def test_a_command_that_needs_the_cache_ends_with_a_sentence_that_says_why(tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with pytest.raises(UnsafePathError, match=r"is not used.*mode 777.*NUMBA_CACHE_DIR"):
        cache.require_cache()


def test_without_a_home_folder_there_is_no_cache_and_a_command_that_needs_it_says_so(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "~nobody of this name/cache")
    assert cache.open_cache() is None
    with pytest.raises(FileNotFoundError, match=r"no home folder.*NUMBA_CACHE_DIR"):
        cache.require_cache()


def test_where_there_are_no_user_ids_nothing_is_refused(tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    with contextlib.suppress(AttributeError):
        monkeypatch.delattr(os, "geteuid")
    assert safe_folder(tmp_path / "cache") == tmp_path / "cache"


def test_the_examples_give_the_cache_a_place_of_its_own_that_nobody_else_opens():
    live = Path(__file__).parents[2] / "examples" / "live"
    assert "CacheDirectoryMode=0700" in (live / "mtcool@.service").read_text().splitlines()
    compose, image = (live / "compose.yaml").read_text(), (live / "Dockerfile").read_text()
    (place,) = re.findall(r"XDG_CACHE_HOME: (\S+)", compose)
    volumes = [line.strip("- ").split(":") for line in re.findall(r"- \S+:/network/\S+", compose)]
    caches = [name for name, target, *_ in volumes if target == place]
    assert len(set(caches)) == 2  # and each host has one of its own
    assert not set(caches) & {name for name, target, *_ in volumes if target != place}
    (made,) = re.findall(r"install -d -m 0700 -o mtcool.*", image)
    assert place in made.split()
