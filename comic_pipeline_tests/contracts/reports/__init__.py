"""Tests of the daily report."""
