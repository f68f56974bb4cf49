"""Paid work: `runner.py` is the only way to do it, and the only caller of `providers/`.

An `Order` (orders.py) says what is wanted; the runner finds it in the ledger, or makes it, exactly once. The steps of one order
are in `creating.py`, `polling.py`, `lost.py` and `fetching.py`; numbers come in through `Rules`.
"""
