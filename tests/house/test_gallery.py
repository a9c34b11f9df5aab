"""The gallery has every picture that it names, made on this version, and no others."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import mtcool

HERE = Path(__file__).parents[2] / "docs" / "gallery"


def load():
    found = importlib.util.spec_from_file_location("gallery_make", HERE / "make.py")
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


def test_the_page_is_that_of_its_table():
    assert (HERE / "index.md").read_text() == load().page()


def test_every_picture_is_there_and_was_made_on_this_version():
    gallery = load()
    made = tomllib.loads(gallery.MADE.read_text())
    for chapter in gallery.chapters():
        assert made.get(chapter.run) == mtcool.__version__, chapter.run
        for picture in gallery.pictures(chapter):
            assert (HERE / picture.file).is_file(), picture.file


def test_every_picture_of_the_documents_is_in_the_gallery():
    gallery, docs = load(), HERE.parent
    named = {
        (HERE / picture.file).resolve()
        for chapter in gallery.chapters()
        for picture in gallery.pictures(chapter)
    }
    pages = [page for page in docs.rglob("*.md") if "_site" not in page.parts]
    shown = {
        (page.parent / target).resolve()
        for page in pages
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())
    }
    assert len(shown) > 80
    assert shown - named == set()


def test_no_picture_is_left_from_before():
    gallery = load()
    named = {
        picture.file for chapter in gallery.chapters() for picture in gallery.pictures(chapter)
    }
    found = {path.relative_to(HERE).as_posix() for path in HERE.rglob("*") if path.is_file()}
    pages = {"gallery.toml", "index.md", "made.toml", "make.py"}
    left = {name for name in found - named - pages if "__pycache__" not in name}
    assert {name for name in left if not name.endswith("/printed.txt")} == set()


def test_a_picture_that_the_table_does_not_name_is_refused(tmp_path):
    gallery = load()
    chapter = gallery.Chapter("one", "One", "touch a.png b.png", {"a.png": "Nothing."})
    (tmp_path / "a.png").touch()
    (tmp_path / "b.png").touch()
    with pytest.raises(ValueError, match=r"b\.png"):
        gallery._keep(chapter, tmp_path)
