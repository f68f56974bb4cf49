"""Telling the outside: one webhook, and the alerts that go through it.

Belongs here: bodies and signatures by receiver (`target.py`), sending (`courier.py`), measuring and judging for alerts
(`watch.py`, `space.py`). Does not: what is news (`model/notice.py`), thresholds (`model/alerting.py`), rows (`store/`).
"""
