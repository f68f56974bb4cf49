"""Tests of comic_pipeline."""
