"""What each stage does: plain async functions over store, objects, media, prompts, providers and work. No Dagster here.

Each takes a `Studio` and the documents it needs, and returns its typed document. Failures leave as ComicError.
"""
