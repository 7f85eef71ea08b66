"""Letters to other projects: what they show is what their code prints, and they are not part of the site."""

import runpy
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LETTERS = sorted((ROOT / "release" / "letters").glob("*.md"))
LIBRARIES = {"mteb": "mteb", "sentence_transformers": "sentence_transformers", "trec_eval": "pytrec_eval"}


@pytest.mark.parametrize("letter", LETTERS, ids=lambda letter: letter.stem)
def test_letters_are_polite_and_say_what_to_do(letter: Path) -> None:
    text = letter.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert text.index("Thank you") < text.index("```python") < text.index("**A suggestion.**")


@pytest.mark.heavy
@pytest.mark.parametrize("letter", LETTERS, ids=lambda letter: letter.stem)
def test_code_prints_what_the_letter_says(letter: Path) -> None:
    if letter.stem in LIBRARIES:
        pytest.importorskip(LIBRARIES[letter.stem])
    render = runpy.run_path(str(ROOT / "release" / "write_letters.py"))["render"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert render(letter) == letter.read_text(encoding="utf-8")
