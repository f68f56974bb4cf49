"""Whole projects that meet faults, each fault named in a test."""
