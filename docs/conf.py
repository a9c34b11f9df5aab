"""Sphinx: the pages of this folder and the docstrings of the package become a site, `make docs`."""

import sys
from pathlib import Path

from docutils.nodes import Text, TextElement, document, literal_block
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util.logging import getLogger

import mtcool

sys.path.insert(0, str(Path(__file__).parent))
from rooms import homes, write_pages

LOG = getLogger(__name__)

project = "mtcool"
author = copyright = "The mtcool developers"
version = release = mtcool.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
exclude_patterns = ["data", "_site"]

# A link that leads nowhere is a warning, and `make docs` takes warnings for errors. Types in
# signatures are words there: most are of other libraries, whose pages are not at hand offline. On
# pages that people write, names of ours must lead somewhere whatever they are: `check_name`.
nitpicky = True
IGNORED = "class|data|obj|exc|attr|typevar"
nitpick_ignore_regex = [(f"py:({IGNORED})", ".*")]
ROOMS = "reference/rooms"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

default_role = "code"
smartquotes = False  # "complete" in a text is a word to be typed
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
# scikit-learn adds these methods and their texts.
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_partial_fit_request, set_predict_request, "
    "set_predict_proba_request, set_score_request"
}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"mtcool {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False


def check_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: TextElement
) -> None:
    """On a page that is not made from signatures, a name of ours that leads nowhere is told."""
    written = not node.get("refdoc", "").startswith(f"{ROOMS}/")
    ours = node.get("reftarget", "").partition(".")[0] == "mtcool"
    if written and ours and node.get("reftype") in IGNORED.split("|"):
        LOG.warning("there is no %s", node["reftarget"], location=node)


def check_reference(app: Sphinx, error: Exception | None) -> None:
    """Every public name must have an entry in the reference."""
    if error is None and app.builder.name == "html":
        entries = {name for name, *_ in app.env.get_domain("py").get_objects()}
        named = {name for names in homes().values() for name in names}
        if missing := sorted(named - entries):
            raise ExtensionError(f"public names must have an entry, and these have none: {missing}")


def trim_blocks(app: Sphinx, page: document) -> None:
    """Doctests end with an empty line, which would be shown as one."""
    for block in page.findall(literal_block):
        block.rawsource = block.rawsource.rstrip()  # it is shown as code if both are the same
        block.children = [Text(block.astext().rstrip())]


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / ROOMS))
    app.connect("doctree-read", trim_blocks)
    app.connect("missing-reference", check_name)
    app.connect("build-finished", check_reference)
