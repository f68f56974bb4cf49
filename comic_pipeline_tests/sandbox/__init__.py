"""The provider sandbox: a real HTTP server that speaks the vendors' wire formats.

It is an independent witness: nothing here imports comic_pipeline, and its limits, formulas and prices are its own. Start
reading at `server.py`; tests use `process.start_sandbox`.
"""
