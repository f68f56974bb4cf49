"""What an asset asks before it works: is the gate of each document that it was given open, for this very version of the data?"""

from collections.abc import Mapping

from pydantic import BaseModel

from comic_pipeline.defs.metadata import data_version
from comic_pipeline.model.errors import ComicError, ErrorCode
from comic_pipeline.quality import GATES
from comic_pipeline.store import verdicts
from comic_pipeline.store.database import Database


def check_gates(database: Database, project_id: str, given: Mapping[str, BaseModel]) -> None:
    """Raise ComicError(QC_FAILED) unless the latest verdict about each of these documents, as it is now, let it pass.

    `given` maps names of assets to their documents. A run by hand that left a check out gets no further than this.
    """
    with database.read() as connection:
        for asset in sorted(GATES.keys() & given.keys()):
            check = GATES[asset]
            verdict = verdicts.of_version(connection, project_id, check=check, data_version=data_version(given[asset]).value)
            if verdict is None:
                raise ComicError(
                    ErrorCode.QC_FAILED, f"{asset} of project {project_id} was not checked in this version: run {check} first"
                )
            if not verdict.passed:
                wrong = "; ".join(f"{one.rule}: {one.measured}" for one in verdict.findings)
                raise ComicError(ErrorCode.QC_FAILED, f"{check} of project {project_id} is closed: {wrong}"[:1_000])
