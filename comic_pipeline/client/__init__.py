"""A backend's way in: submit, watch, cancel, retry, redo and review films over Dagster's GraphQL, typed and asynchronous.

The folder stands alone: it imports httpx and pydantic and nothing else of this project, and may be copied into a backend.
`backend.py` has the calls, `values.py` what they return, `errors.py` what they raise, `wire.py` how one document is asked,
`documents.py` the documents, pinned and checked against the installed schema in the tests.
"""

from comic_pipeline.client.backend import Backend
from comic_pipeline.client.errors import BackendError, GraphQLFault, LaunchLost, Refused, TimedOut, Unauthorised, Unreachable
from comic_pipeline.client.values import Answer, Check, CostLine, Costs, Event, Film, Moment, Page, Progress, Run, Status

__all__ = [
    "Answer",
    "Backend",
    "BackendError",
    "Check",
    "CostLine",
    "Costs",
    "Event",
    "Film",
    "GraphQLFault",
    "LaunchLost",
    "Moment",
    "Page",
    "Progress",
    "Refused",
    "Run",
    "Status",
    "TimedOut",
    "Unauthorised",
    "Unreachable",
]
