"""The calls of a backend. Requests are runs of the operator jobs; what is known of a project comes from `project_status`."""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self
from uuid import uuid4

import httpx

from comic_pipeline.client import documents
from comic_pipeline.client.errors import BackendError, GraphQLFault, LaunchLost, Refused, TimedOut, Unreachable
from comic_pipeline.client.values import (
    ANSWER,
    PROJECT,
    REFUSAL,
    REQUEST,
    SUBMISSION,
    Answer,
    Check,
    Costs,
    Event,
    Film,
    Moment,
    Page,
    Progress,
    Run,
    Status,
)
from comic_pipeline.client.wire import NotSent, Wire

Tier = Literal["FREE", "PREVIEW", "PAID", "PREMIUM"]
Stage = Literal["FRAMES", "VOICES", "CLIPS", "FILM"]
Decision = Literal["APPROVE", "REJECT"]

# The operator jobs and the op of each.
OPS = {
    "submit_project": "submit_film",
    "retry_project": "retry_stopped",
    "redo_shots": "redo_stage",
    "cancel_project": "cancel_work",
    "review_project": "review_film",
}
_LOCATION = {"repositoryLocationName": "comic", "repositoryName": "__repository__"}
# Seconds: one HTTP request; an operator job from launch to answer (some 5, more in a full queue); looking for a lost run.
_REQUEST, _ANSWER_WITHIN, _SEARCH = 30.0, 120.0, 10.0
_INVALID = {"zh": "输入内容不符合要求", "en": "The input is not acceptable"}
_UNKNOWN = {"zh": "未找到", "en": "Not found"}


class Backend:
    """`async with Backend(url, auth=(name, password)) as backend:` — `url` is the webserver's, without `/graphql`.

    Every call raises Unreachable, Unauthorised and GraphQLFault; requests also Refused, LaunchLost and TimedOut.
    """

    def __init__(
        self, url: str, *, auth: tuple[str, str] | None = None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._http = httpx.AsyncClient(base_url=url, auth=auth, transport=transport, timeout=_REQUEST)
        self._wire = Wire(self._http)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        await self._http.aclose()

    # --- requests: each is one run; with the same key it acts once ------------------------------------------------------------

    async def submit(self, film: Film, *, user: str, tier: Tier = "FREE", key: str | None = None) -> Answer:
        """Ask for a film. The answer `waits` while a paid film of the same user is at work: ask again with the same key."""
        return await self._request("submit_project", {"user": user, "tier": tier, **film.model_dump()}, key)

    async def cancel(self, project: str, *, by: str, reason: str = "", force: bool = False, key: str | None = None) -> Answer:
        """Stop a project after its current step; `force` also stops the run that is at work."""
        return await self._request("cancel_project", {"project": project, "by": by, "reason": reason, "force": force}, key)

    async def retry(self, project: str, *, by: str, key: str | None = None) -> Answer:
        """Go on from where it failed."""
        return await self._request("retry_project", {"project": project, "by": by}, key)

    async def redo(
        self,
        project: str,
        *,
        by: str,
        stage: Stage,
        shots: Sequence[int] = (),
        prompt: str = "",
        seed: int | None = None,
        key: str | None = None,
    ) -> Answer:
        """Make shots (numbers from 0; all when empty) anew, and what depends on them."""
        wish = {"stage": stage, "shots": list(shots), "prompt": prompt} | ({} if seed is None else {"seed": seed})
        return await self._request("redo_shots", {"project": project, "by": by, **wish}, key)

    async def review(
        self,
        project: str,
        *,
        by: str,
        decision: Decision,
        note: str = "",
        stage: Stage | None = None,
        shots: Sequence[int] = (),
        key: str | None = None,
    ) -> Answer:
        """Approve a film for release, or reject it; a rejection with a stage has its shots made anew."""
        said = {"decision": decision, "note": note, "shots": list(shots)} | ({} if stage is None else {"stage": stage})
        return await self._request("review_project", {"project": project, "by": by, **said}, key)

    # --- reading ---------------------------------------------------------------------------------------------------------------

    async def status(self, project: str) -> Status:
        """Where the project stands. Raises Refused(NOT_FOUND) when nothing was ever told of it."""
        # Two tellers may pass each other for a moment: the newest report is not always the one that was stored last.
        told = (await self.history(project, limit=3)).items
        if not told:
            raise Refused("NOT_FOUND", f"project {project!r} does not exist, or was made a moment ago", **_UNKNOWN)
        return max((moment.status for moment in told), key=lambda status: (status.updated_at, status.at))

    async def progress(self, project: str) -> Progress:
        """How far it is. Raises Refused(NOT_FOUND)."""
        seen = await self.status(project)
        return Progress(percent=seen.progress, **seen.model_dump(include={"frames_ready", "total_frames", "eta_seconds"}))

    async def costs(self, project: str) -> Costs:
        """What it has cost. Raises Refused(NOT_FOUND)."""
        seen = await self.status(project)
        return Costs(total=seen.cost, reserved=sum((line.reserved for line in seen.costs), start=seen.cost * 0), lines=seen.costs)

    async def wait(
        self, project: str, *, until: Collection[str] | None = None, seconds: float = 3600, look_every: float = 2.0
    ) -> Status:
        """The status once it is one of `until`, or once the project no longer goes on by itself. Raises TimedOut."""
        last: Status | None = None
        try:
            async with asyncio.timeout(seconds):
                while True:
                    last = await self.status(project)
                    if last.status in until if until is not None else not last.at_work:
                        return last
                    # Patient films are looked at less often; nobody waits longer than ten seconds for news.
                    await asyncio.sleep(look_every)
                    look_every = min(look_every * 1.2, 10.0)
        except TimeoutError:
            stands = last.status if last else "not known"
            raise TimedOut(f"after {seconds:.0f} s project {project} is {stands}") from None

    async def history(self, project: str, *, after: str | None = None, limit: int = 50) -> Page[Moment]:
        """What was told of a project, newest first; `after` is the `next` of the page before."""
        asset = await self._wire.read(documents.REPORTS, {"project": project, "limit": limit, "cursor": after})
        found = asset["assetEventHistory"]
        items = tuple(Moment.of(event) for event in found["results"])
        return Page[Moment](items=items, next=found["cursor"] if len(items) == limit else None)

    async def runs(self, project: str, *, after: str | None = None, limit: int = 50) -> Page[Run]:
        """Runs that worked on a project or were asked to, newest first."""
        items = await self._find({PROJECT: project}, limit=limit, after=after)
        return Page[Run](items=items, next=items[-1].run_id if len(items) == limit else None)

    async def events(self, run_id: str, *, after: str | None = None, limit: int = 100) -> Page[Event]:
        """What happened in a run, oldest first. While it works, a last page grows: ask again with the same `after`."""
        found = await self._wire.read(documents.RUN_EVENTS, {"run": run_id, "after": after, "limit": limit})
        items = tuple(Event.of(node) for node in found["events"])
        return Page[Event](items=items, next=found["cursor"] if found["hasMore"] else None)

    async def checks(self, project: str) -> tuple[Check, ...]:
        """The newest verdict of every gate that looked at the project."""
        nodes = await self._wire.read(documents.GATES, {})
        gates = [
            (node["assetKey"]["path"], check["name"]) for node in nodes for check in node["assetChecksOrError"].get("checks", [])
        ]
        asked = (self._wire.read(documents.VERDICT, {"asset": path, "check": name, "project": project}) for path, name in gates)
        found = await asyncio.gather(*asked)
        return tuple(Check.of("/".join(path), name, given[0]) for (path, name), given in zip(gates, found, strict=True) if given)

    # --- a request and its answer ----------------------------------------------------------------------------------------------

    async def _request(self, job: str, config: Mapping[str, Any], key: str | None) -> Answer:
        key = key or uuid4().hex
        run_id = await self._launch(job, {**config, "key": key}, key=key)
        run = await self._ended(run_id)
        if refusal := run.tags.get(REFUSAL):
            said = json.loads(refusal)
            raise Refused(said["error_code"], said["detail"], zh=said["message_zh"], en=said["message_en"])
        if run.status != "SUCCESS" or ANSWER not in run.tags:
            raise GraphQLFault(
                "RunFailed", f"run {run_id} of {job} is {run.status} without an answer; repeat it with key {key}", http_status=200
            )
        return Answer(**{"submission_id": run.tags[SUBMISSION], **json.loads(run.tags[ANSWER]), "key": key, "run_id": run_id})

    async def _launch(self, job: str, config: Mapping[str, Any], *, key: str) -> str:
        request = uuid4().hex
        params = {
            "selector": {**_LOCATION, "jobName": job},
            "runConfigData": {"ops": {OPS[job]: {"config": dict(config)}}},
            "executionMetadata": {"tags": [{"key": REQUEST, "value": request}]},
        }
        try:
            launched = await self._wire.ask(documents.LAUNCH, {"params": params})
        except NotSent:
            raise
        except GraphQLFault as fault:
            if fault.kind == "RunConfigValidationInvalid":
                raise Refused("INPUT_INVALID", str(fault), **_INVALID) from fault
            if fault.http_status < 500:
                raise
            return await self._found(request, key=key, lost=fault)
        except Unreachable as fault:
            return await self._found(request, key=key, lost=fault)
        return str(launched["run"]["runId"])

    async def _found(self, request: str, *, key: str, lost: BackendError) -> str:
        """The run of a launch whose answer was lost, by the tag that only this request has: never a second launch."""
        try:
            async with asyncio.timeout(_SEARCH):
                while True:
                    if found := await self._find({REQUEST: request}, limit=1):
                        return found[0].run_id
                    await asyncio.sleep(1)
        except (TimeoutError, Unreachable, GraphQLFault):
            raise LaunchLost(f"{lost}; no run came of it within {_SEARCH:.0f} s; repeat it with key {key}", key=key) from lost

    async def _ended(self, run_id: str) -> Run:
        pause = 0.25
        try:
            async with asyncio.timeout(_ANSWER_WITHIN):
                while not (run := Run.of(await self._wire.read(documents.RUN, {"run": run_id}))).ended:
                    await asyncio.sleep(pause)
                    pause = min(pause * 1.3, 3.0)
        except TimeoutError:
            raise TimedOut(f"run {run_id} has not answered within {_ANSWER_WITHIN:.0f} s", run_id=run_id) from None
        return run

    async def _find(self, tags: Mapping[str, str], *, limit: int, after: str | None = None) -> tuple[Run, ...]:
        wanted = [{"key": name, "value": value} for name, value in tags.items()]
        found = await self._wire.read(documents.RUNS, {"tags": wanted, "limit": limit, "cursor": after})
        return tuple(Run.of(node) for node in found["results"])
