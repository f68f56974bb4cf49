"""The reconciler: from what tables and runs say to what must happen next. Level-triggered: any pass can be skipped or repeated.

Belongs here: collect, admit, advance, emit, each row in a short transaction of its own. Does not: Dagster (`defs/runs.py`
implements `Runs`), the decisions themselves (`model/workflow.py`, `model/stage.py`, `model/stage_end.py`).
"""

from comic_pipeline.workflow.reconciler import ADMIT_AT_MOST, EMIT_AT_MOST, LOOK_AT_MOST, Pass, Reconciler
from comic_pipeline.workflow.runs import Runs, SeenRun

__all__ = ["ADMIT_AT_MOST", "EMIT_AT_MOST", "LOOK_AT_MOST", "Pass", "Reconciler", "Runs", "SeenRun"]
