"""The one door for every request from outside: CLI, operator jobs, the backend's rows.

Belongs here: what a submission does to the tables, in one transaction. Does not: reading status (`status.py`), launching or
stopping runs (`workflow/`), asking providers.
"""

from comic_pipeline.service.door import answer_of, decide, submit
from comic_pipeline.service.house import House, house_of
from comic_pipeline.service.opening_gates import open_gate
from comic_pipeline.service.produce import keeps_waiting, project_of
from comic_pipeline.service.reviewing import approve_unattended
from comic_pipeline.service.stopping import stop

__all__ = [
    "House",
    "answer_of",
    "approve_unattended",
    "decide",
    "house_of",
    "keeps_waiting",
    "open_gate",
    "project_of",
    "stop",
    "submit",
]
