"""The README's code blocks, for the tests that run them."""

import re
from pathlib import Path

_README = Path(__file__).resolve().parents[1] / "README.md"


def blocks(section: str, language: str) -> list[str]:
    """The code blocks of one section, in order. Fails by name when the section is gone."""
    text = _README.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"README has no section {section!r}"
    return re.findall(rf"^```{language}\n(.*?)^```", found[1], re.MULTILINE | re.DOTALL)
