"""Hostile rows, answers, media and words, one module a way in. Each test is named after its attack."""
