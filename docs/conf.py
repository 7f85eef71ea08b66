"""How Sphinx makes the site of README.md, docs and the reports of the studies; `make docs` builds it.

The root of the repository is the folder of the sources, so that links between pages work here as they do in a clone.
"""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from tieproof import __version__
from tieproof.measures import Measure

sys.path.insert(0, str(Path(__file__).parent))
from contents import contents_of

project = "tieproof"
author = "the authors of tieproof"
release = version = __version__
language = "en"
root_doc = "docs/index"

include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/**.md",
    "studies/**.md",
    "benchmarks/README.md",
    "src/tieproof/engine/README.md",
    "src/tieproof/distances/exact/README.md",
    "src/tieproof/data/NOTICE.md",
]
exclude_patterns = [".*", "build", "dist", "tests", "release"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_design"]

# Pages: Markdown. Those that begin with `file_format: mystnb` are run, each in an empty folder; others show code.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_output_stderr = "show"

# The reference: docstrings in the style of NumPy. Libraries that few readers of it have need not be there.
autodoc_mock_imports = ["mteb", "sentence_transformers", "sklearn", "torch", "torchmetrics", "tqdm"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
default_role = "py:obj"
copybutton_prompt_text = ">>> |\\.\\.\\. |\\$ |!"  # the last one is before commands in cells of notebooks
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div.highlight:not(.highlight-none):not(.highlight-myst-ansi) pre"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "tieproof"
html_extra_path = ["site/index.html"]
html_copy_source = False
html_show_copyright = False
html_static_path = ["site/static"]
html_js_files = ["accessible.js"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "site" / "scorer.js")
smartquotes = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

linkcheck_anchors = False


CODE = re.compile(r"(`[^`]*`)")
MEANING = re.compile(r"^([A-Za-z_][\w, ]*) : (.+)$")
"""A line such as `k : items that are nearer` outside of a section of parameters."""

ATTRIBUTES = ("attribute", "data", "property")
SHIELD = "untyped"
"""The first line of a docstring of `ATTRIBUTES` for napoleon, which takes text before a colon there for a type."""


def as_written(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Make plain text of what is markup to Sphinx and not in our docstrings, as |x| and P@10 are; examples stay."""
    if isinstance(found, Measure):
        lines[:] = [found.definition.meaning]
    example = False
    for place, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            parts = CODE.split(line)  # text and code take turns
            parts[::2] = [re.sub(r"([*|@])", r"\\\1", part) for part in parts[::2]]
            parts[2::2] = [re.sub(r"^(?=\w)", r"\\ ", part) for part in parts[2::2]]
            lines[place] = "".join(parts)
    if what in ATTRIBUTES:
        lines.insert(0, SHIELD)


def as_definitions(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Show `k : …` as a definition, with the name as it is written: the name of a field would be capitalized."""
    shown: list[str] = []
    for line in lines[lines[:1] == [SHIELD] :]:
        meaning = MEANING.match(line)
        if meaning and shown and shown[-1] and not shown[-1].startswith(" "):
            shown.append("")
        shown += [f"``{meaning[1]}``", f"    {meaning[2]}"] if meaning else [line]
    lines[:] = shown


def as_defined(app: Any, what: str, name: str, found: Any, options: Any, shown: str | None, returned: Any) -> Any:
    """Show the arguments of a class whose base class is mocked, which hides them."""
    if what == "class" and shown == "(*args, **kwargs)":
        _, *others = inspect.signature(found.__init__).parameters.values()
        bare = [each.replace(annotation=inspect.Parameter.empty) for each in others]
        return str(inspect.Signature(bare)), returned
    return None


def with_contents(app: Any, page: str, source: list[str]) -> None:
    """Add the list of the pages that stand under a page."""
    source[0] += contents_of(page)


def setup(app: Any) -> None:
    """Add contents; change docstrings before and after napoleon does, and signatures."""
    app.connect("source-read", with_contents)
    app.connect("autodoc-process-signature", as_defined)
    app.connect("autodoc-process-docstring", as_written, priority=400)
    app.connect("autodoc-process-docstring", as_definitions, priority=600)
