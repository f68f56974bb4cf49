"""Frozen values and pure rules: no IO, no clock, no environment. Everything else speaks in these words."""
