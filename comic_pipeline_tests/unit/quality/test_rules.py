"""The words of the rules: every gate tells an end user, in Chinese and English, what it asks."""

import pytest

from comic_pipeline.quality import GATES
from comic_pipeline.quality.findings import broken
from comic_pipeline.quality.rules import GATE_RULES


@pytest.mark.parametrize("check", sorted(GATE_RULES))
def test_every_rule_has_words_in_both_languages(check: str) -> None:
    """The description that the UI shows lists them all."""
    gate = GATE_RULES[check]
    assert GATES[gate.asset] == check
    for name, rule in gate.rules.items():
        assert any("\u4e00" <= char <= "\u9fff" for char in rule.zh), name
        assert rule.en.isascii() or "±" in rule.en, name
        assert f"`{name}`" in gate.description


def test_no_finding_without_words() -> None:
    """A new rule that nobody explained fails at its first finding in a test, not in front of a user."""
    with pytest.raises(LookupError, match=r"rules\.py"):
        broken("something_new", seq=0, measured=1, wanted=2)
