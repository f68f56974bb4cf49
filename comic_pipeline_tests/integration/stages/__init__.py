"""Stages over real media, without Dagster."""
