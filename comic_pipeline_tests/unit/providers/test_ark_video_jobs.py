"""Seedance tasks that exist already: cancelling one, and finding the one whose answer was lost."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from comic_pipeline.model.errors import ProviderFault
from comic_pipeline.model.project import Aspect
from comic_pipeline.providers.interface import CancelOutcome, Phase
from comic_pipeline_tests.unit.providers.ark_task import AT, MODEL, SINCE, ark, task
from comic_pipeline_tests.unit.providers.vendor import (
    Vendor,
    ark_error,
    clip_request,
    html,
    run,
)


def test_queued_task_is_deleted() -> None:
    """DELETE of a queued task cancels it; success is `{}`."""
    vendor = Vendor(httpx.Response(200, json=task("queued")), httpx.Response(200, json={}))
    assert run(ark(vendor).cancel("cgt-1")) is CancelOutcome.CANCELLED
    assert vendor.methods == ["GET", "DELETE"]


@pytest.mark.parametrize("answer", [ark_error(409, "InvalidAction.RunningTaskDeletion"), ark_error(404, "NotFound.task")])
def test_task_that_began_meanwhile_is_too_late(answer: httpx.Response) -> None:
    """It finishes and is billed; its result is kept."""
    vendor = Vendor(httpx.Response(200, json=task("queued")), answer)
    assert run(ark(vendor).cancel("cgt-1")) is CancelOutcome.TOO_LATE


@pytest.mark.parametrize("word", ["running", "succeeded", "failed", "expired", "pausing"])
def test_finished_task_is_never_deleted(word: str) -> None:
    """DELETE of a finished task removes its record, and with it a result that was paid for."""
    vendor = Vendor(httpx.Response(200, json=task(word)))
    assert run(ark(vendor).cancel("cgt-1")) is CancelOutcome.TOO_LATE
    assert vendor.methods == ["GET"]


def test_cancelled_and_lost_tasks_are_told_apart() -> None:
    """Cancelling twice is fine; a task that is gone was not cancelled by us."""
    assert run(ark(Vendor(httpx.Response(200, json=task("cancelled")))).cancel("cgt-1")) is CancelOutcome.CANCELLED
    assert run(ark(Vendor(httpx.Response(404))).cancel("cgt-1")) is CancelOutcome.TOO_LATE


def test_failed_cancel_is_a_fault() -> None:
    """A cancel that did not arrive must not be shown as done."""
    vendor = Vendor(httpx.Response(200, json=task("queued")), html(502))
    with pytest.raises(ProviderFault) as caught:
        run(ark(vendor).cancel("cgt-1"))
    assert caught.value.retryable


def listed(*items: object, total: int | None = None) -> httpx.Response:
    return httpx.Response(200, json={"items": list(items), "total": len(items) if total is None else total})


def found(*answers: httpx.Response, model: str = MODEL, **changes: Any) -> tuple[list[str], Vendor]:
    vendor = Vendor(*answers)
    jobs = run(ark(vendor, model).find(clip_request(**changes), since=SINCE))
    return [job.job_id for job in jobs], vendor


def test_lost_task_is_found_in_the_list() -> None:
    """ArcReel PR#793: what answered the lost create is adopted instead of paid for twice."""
    vendor = Vendor(listed(task("running")))
    (job,) = run(ark(vendor).find(clip_request(), since=SINCE))
    assert (job.job_id, job.phase, job.created_at) == ("cgt-1", Phase.RUNNING, SINCE + timedelta(seconds=1))
    assert job.matches == "safety_identifier, duration, ratio, resolution, seed"
    assert dict(vendor.requests[0].url.params) == {"page_num": "1", "page_size": "100", "filter.model": MODEL}


@pytest.mark.parametrize(
    ("word", "phase"), [("queued", Phase.QUEUED), ("succeeded", Phase.SUCCEEDED), ("new", Phase.RUNNING), (None, Phase.RUNNING)]
)
def test_a_found_task_says_how_far_it_is(word: str | None, phase: Phase) -> None:
    """An operator who must choose between candidates sees which one is finished."""
    (job,) = run(ark(Vendor(listed(task() | {"status": word}))).find(clip_request(), since=SINCE))
    assert job.phase is phase


@pytest.mark.parametrize(
    "changes",
    [
        {"safety_identifier": "other"},
        {"created_at": AT - 61},
        {"seed": 8},
        {"duration": 6},
        {"resolution": "1080p"},
        {"ratio": "9:16"},
        {"id": None},
        {"safety_identifier": None, "seed": None},
    ],
)
def test_task_that_differs_is_not_adopted(changes: dict[str, Any]) -> None:
    """Another user's clip, another shot, or yesterday's must not become this one."""
    assert found(listed(task(**changes)))[0] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"created_at": AT - 59},
        {"resolution": None, "ratio": None, "duration": None},
        {"safety_identifier": None},
        {"created_at": None},
    ],
)
def test_task_that_leaves_facts_out_is_still_a_candidate(changes: dict[str, Any]) -> None:
    """The Go side leaves fields out and clocks differ: a missing fact must not lead to a second create."""
    assert found(listed(task(**changes)))[0] == ["cgt-1"]


def test_candidates_come_newest_first_without_repeats() -> None:
    """A task created while the list is read pushes others onto the next page."""
    first = [task(id=f"n{number}", created_at=AT + 200 - number) for number in range(100)]
    second = [task(id="n99", created_at=AT + 101), task(id="old", created_at=AT + 5)]
    ids, vendor = found(listed(*first, total=102), listed(*second, total=102))
    assert ids == [*(f"n{number}" for number in range(100)), "old"]
    assert [request.url.params["page_num"] for request in vendor.requests] == ["1", "2"]


def test_search_ends_once_the_list_is_older_than_the_create() -> None:
    """Seven days of tasks need not be read when the list runs newest first."""
    page = [task(id=f"n{number}", created_at=AT + 10 - number * 10) for number in range(100)]
    ids, vendor = found(listed(*page, total=5_000))
    assert ids == [f"n{number}" for number in range(8)]
    assert len(vendor.requests) == 1


def test_list_that_runs_oldest_first_is_read_to_its_end() -> None:
    """The order is undocumented: stopping at old tasks would call an existing task absent and pay again."""
    old = [task(id=f"o{number}", created_at=AT - 5_000 + number) for number in range(100)]
    ids, _ = found(listed(*old, total=101), listed(task(id="new"), total=101))
    assert ids == ["new"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([AT - 5_000] * 100, AT + 1),
        ([AT + 40 - number for number in range(101)], AT - 60),
    ],
    ids=["a page of one second says nothing about the order", "the page ends in the very second of the create"],
)
def test_a_page_that_may_not_be_the_last_is_followed_by_the_next(first: list[int], second: int) -> None:
    """A search that ends one page too early calls an existing task absent, and pays again."""
    page = [task(id=f"o{number}", created_at=at, seed=8) for number, at in enumerate(first)]
    ids, _ = found(listed(*page, total=len(first) + 1), listed(task(id="new", created_at=second), total=len(first) + 1))
    assert ids == ["new"]


def test_server_with_smaller_pages_is_read_to_its_end() -> None:
    """The page size that was asked for need not be granted."""
    pages = [listed(task(id=f"p{number}", created_at=AT + 1), total=3) for number in range(3)]
    assert sorted(found(*pages)[0]) == ["p0", "p1", "p2"]


def test_list_without_a_total_ends_with_an_empty_page() -> None:
    """Nothing is assumed about a field that may be missing."""
    page = httpx.Response(200, json={"items": [task()]})
    assert found(page, httpx.Response(200, json={"items": []}))[0] == ["cgt-1"]


@pytest.mark.parametrize("answer", [listed(), httpx.Response(200, json={"items": None, "total": 0})])
def test_empty_list_finds_nothing(answer: httpx.Response) -> None:
    """Absent for now; whether that is final is the runner's grace time."""
    assert found(answer)[0] == []


@pytest.mark.parametrize(
    "answer", [httpx.Response(404), html(502), httpx.Response(200, json={}), httpx.Response(200, json={"items": "x", "total": 1})]
)
def test_list_that_cannot_be_read_is_not_an_empty_list(answer: httpx.Response) -> None:
    """A failed read taken for "no such task" is a second paid job."""
    with pytest.raises(ProviderFault):
        found(answer)


def test_endless_list_is_not_an_answer() -> None:
    """A server that always has one more page must not hold the worker, nor be taken for "absent"."""
    page = httpx.Response(200, json={"items": [task(safety_identifier="other", created_at=AT + 5)]})
    vendor = Vendor(lambda _: httpx.Response(200, content=page.content))
    with pytest.raises(ProviderFault):
        run(ark(vendor).find(clip_request(), since=SINCE))
    assert len(vendor.requests) == 500


def test_endpoint_id_searches_the_whole_list() -> None:
    """Tasks name their model, not the endpoint that was called."""
    ids, vendor = found(listed(task(ratio="9:16")), model="ep-20261130-abcde", aspect=Aspect.TALL)
    assert ids == ["cgt-1"]
    assert "filter.model" not in vendor.requests[0].url.params
