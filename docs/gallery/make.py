"""The gallery: every figure that the project makes, made again by its own command.

`python docs/gallery/make.py` runs the commands of `gallery.toml` one after the other, keeps their
pictures beside this file, and writes the page; with words it runs only the commands that contain
one of them, and with `--page` none: it only writes the page.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

import msgspec
import tomli_w
from PIL import Image

import mtcool

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MADE = HERE / "made.toml"
PAGE = HERE / "index.md"
WIDEST = 1000
"""Pixels; larger pictures are made smaller."""
INTRODUCTION = """# Gallery

The figures that the project makes, the commands that made them, and what they show. `make gallery`
makes all of them again, and this page."""


class Chapter(msgspec.Struct, forbid_unknown_fields=True):
    """A command and the pictures that it makes."""

    name: str
    """The folder of its pictures here."""
    title: str
    run: str
    pictures: dict[str, str]
    """What each shows, by its path in the folder `where`."""
    where: str = "."
    """Folder of the pictures, from the one that the command runs in."""
    in_place: bool = False
    """Whether the command writes pictures of other pages in `docs`, which stay there."""
    prints: bool = False
    """Whether what it prints is shown, too."""


class Picture(NamedTuple):
    """A picture, and what it shows."""

    file: str
    """Its path from this folder."""
    shows: str


def chapters() -> list[Chapter]:
    """What is in the gallery."""
    found = tomllib.loads((HERE / "gallery.toml").read_text())
    return msgspec.convert(found["chapter"], list[Chapter])


def pictures(chapter: Chapter) -> list[Picture]:
    """The pictures of a chapter, as the page shows them."""
    if chapter.in_place:
        folder = os.path.relpath(ROOT / chapter.where, HERE)
        return [Picture(f"{folder}/{name}", shows) for name, shows in chapter.pictures.items()]
    return [
        Picture(f"{chapter.name}/{name.replace('/', '-')}", shows)
        for name, shows in chapter.pictures.items()
    ]


def make(chapter: Chapter) -> None:
    """Run the command of a chapter, and keep its pictures."""
    print(f"$ {chapter.run}", flush=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        there = ROOT if chapter.in_place else Path(folder)
        if not chapter.in_place:  # commands name files of the repo as a reader would
            for name in ("examples", "docs"):
                (there / name).symlink_to(ROOT / name)
        done = subprocess.run(
            ["bash", "-c", chapter.run],
            cwd=there,
            env=os.environ | {"PATH": path},
            check=True,
            text=True,
            stdout=subprocess.PIPE if chapter.prints else None,
        )
        (HERE / chapter.name).mkdir(exist_ok=True)
        if chapter.prints:
            (HERE / chapter.name / "printed.txt").write_text(done.stdout)
        if not chapter.in_place:
            _keep(chapter, there / chapter.where)
    made = tomllib.loads(MADE.read_text()) if MADE.exists() else {}
    MADE.write_text(tomli_w.dumps(dict(sorted((made | {chapter.run: mtcool.__version__}).items()))))


def _keep(chapter: Chapter, folder: Path) -> None:
    kinds = {Path(name).suffix for name in chapter.pictures}
    found = {str(path.relative_to(folder)) for kind in kinds for path in folder.rglob(f"*{kind}")}
    if found != chapter.pictures.keys():
        raise ValueError(f"pictures must be {sorted(chapter.pictures)}, got {sorted(found)}")
    for name, picture in zip(chapter.pictures, pictures(chapter), strict=True):
        shutil.copyfile(folder / name, HERE / picture.file)
        if picture.file.endswith(".png"):
            _shrink(HERE / picture.file)


def _shrink(path: Path) -> None:
    with Image.open(path) as image:
        image.thumbnail((WIDEST, 4 * WIDEST))
        small = image.convert("RGB").quantize(128)  # charts have few colours
    small.save(path, optimize=True)


def page() -> str:
    """The page, in Markdown."""
    made = tomllib.loads(MADE.read_text()) if MADE.exists() else {}
    parts = [INTRODUCTION]
    for chapter in chapters():
        version = made.get(chapter.run)
        by = f"Made by mtcool {version} with" if version else "Not made yet:"
        parts.append(f"## {chapter.title}\n\n{by}\n\n```text\n{chapter.run}\n```")
        if chapter.prints and version:
            printed = (HERE / chapter.name / "printed.txt").read_text().strip()
            parts.append(f"It prints\n\n```text\n{printed}\n```")
        columns = "1 1 2 2" if len(chapter.pictures) > 1 else "1"
        cards = [_card(picture) for picture in pictures(chapter)]
        parts.append("\n\n".join([f"::::{{grid}} {columns}\n:gutter: 2", *cards, "::::"]))
    return "\n\n".join(parts) + "\n"


def _card(picture: Picture) -> str:
    image = f"![{picture.shows}]({picture.file})"
    return f":::{{grid-item-card}}\n{image}\n\n{picture.shows}\n:::"


def main(words: list[str]) -> None:
    """Make the pictures of the chapters whose commands have one of these words, or of all."""
    for chapter in chapters():
        if "--page" not in words and any(word in chapter.run for word in words or [""]):
            make(chapter)
    PAGE.write_text(page())


if __name__ == "__main__":
    main(sys.argv[1:])
