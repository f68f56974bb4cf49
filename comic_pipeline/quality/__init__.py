"""Verdicts: measurements and thresholds in, findings out. Pure; measuring is `media/`, showing is `defs/checks`."""

from comic_pipeline.quality.rules import GATE_RULES

# The gate of each asset: a stage passes only with a verdict of its own run for every one of these.
GATES: dict[str, str] = {gate.asset: check for check, gate in GATE_RULES.items()}
