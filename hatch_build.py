"""The page of the package on an index: the README, with nothing that leads nowhere from there.

Pictures and links in the README are files next to it, which an index page does not have. Here a
paragraph with such a picture is left out, and such a link becomes words and the name of the file.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[[^\]]*\]\((?![a-z]+:)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:)([^)\s]+)\)")
NOTE = "Files that are named here come with the source distribution.\n"


def index_page(readme: str) -> str:
    """The README as an index can show it."""
    paragraphs = [part for part in readme.split("\n\n") if not PICTURE.search(part)]
    return LINK.sub(_words, "\n\n".join(paragraphs)).rstrip() + "\n\n" + NOTE


def _words(link: re.Match[str]) -> str:
    text, target = link[1], link[2].partition("#")[0]
    return f"`{target}`" if text == target else f"{text} [`{target}`]"


class IndexPage(MetadataHookInterface):
    """Hatchling calls this for the metadata of every build."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set the readme."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_page(readme)}
