"""What the client makes of every kind of answer: bytes as they came from Dagster 1.13.27, a proxy, or nobody."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from comic_pipeline.client import (
    Answer,
    Backend,
    GraphQLFault,
    LaunchLost,
    Refused,
    TimedOut,
    Unauthorised,
    Unreachable,
    backend,
    wire,
)

Handler = Callable[[dict[str, Any]], httpx.Response]
RUN_NODE = {
    "__typename": "Run",
    "runId": "r-1",
    "status": "SUCCESS",
    "jobName": "retry_project",
    "creationTime": 1.0,
    "startTime": 2.0,
    "endTime": 3.0,
    "tags": [
        {"key": "comic/answer", "value": '{"project_id": "p1", "status": "QUEUED"}'},
        {"key": "comic/submission", "value": "7"},
    ],
}
LAUNCHED = {"data": {"launchRun": {"__typename": "LaunchRunSuccess", "run": {"runId": "r-1"}}}}


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_FIRST_WAIT", 0.0)


class Server:
    """Answers by operation name, one answer after another, the last one for ever; counts what was asked."""

    def __init__(self, **answers: list[httpx.Response | Exception]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content)
        name = sent["query"].split()[1].split("(")[0]
        self.asked.append(name)
        waiting = self.answers[name]
        answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def call(self, act: Callable[[Backend], Any]) -> Any:
        """Do something as a backend that reaches only this server."""

        async def main() -> Any:
            async with Backend("http://comic.test", transport=httpx.MockTransport(self)) as client:
                return await act(client)

        return asyncio.run(main())


def said(data: object, status: int = 200) -> httpx.Response:
    """A JSON body."""
    return httpx.Response(status, json=data)


def retry(client: Backend) -> Any:
    """The shortest request there is."""
    return client.retry("p1", by="ann", key="k")


PYTHON_ERROR = said({"data": {"runOrError": {"__typename": "PythonError", "message": "OperationalError: locked"}}}, 500)
RESOLVER_ERROR = said({"data": None, "errors": [{"message": "boom", "path": ["runOrError"]}]}, 500)
GATEWAY = httpx.Response(502, text="<html>Bad gateway</html>")
NO_CONNECTION = httpx.ConnectError("refused")
CUT = httpx.ReadError("connection reset")


@pytest.mark.parametrize("fault", [PYTHON_ERROR, RESOLVER_ERROR, GATEWAY, NO_CONNECTION, CUT, httpx.ReadTimeout("slow")])
def test_a_read_goes_again_after_a_temporary_fault(fault: httpx.Response | Exception) -> None:
    """A webserver that restarts must not make every backend fail."""
    server = Server(Runs=[fault, said({"data": {"runsOrError": {"__typename": "Runs", "results": [RUN_NODE]}}})])
    page = server.call(lambda client: client.runs("p1"))
    assert [run.run_id for run in page.items] == ["r-1"]
    assert server.asked == ["Runs", "Runs"]


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [(PYTHON_ERROR, GraphQLFault, "locked"), (RESOLVER_ERROR, GraphQLFault, "boom"), (GATEWAY, Unreachable, "Bad gateway")],
)
def test_a_lasting_fault_is_raised_with_what_the_body_says(fault: httpx.Response, kind: type[Exception], words: str) -> None:
    """The body of an HTTP 500 is read: its reason, not only its number; and the tries have an end."""
    server = Server(Runs=[fault])
    with pytest.raises(kind, match=words):
        server.call(lambda client: client.runs("p1"))
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.Response(401, text="who are you"), Unauthorised),
        (httpx.Response(403, text="no"), Unauthorised),
        (said({"data": {"runsOrError": {"__typename": "UnauthorizedError", "message": "read only"}}}), Unauthorised),
        (said({"errors": [{"message": "Cannot query field 'x' on type 'Runs'"}]}, 400), GraphQLFault),
        (said({"data": {"runsOrError": {"__typename": "InvalidPipelineRunsFilterError", "message": "bad"}}}), GraphQLFault),
        (said({"data": {"runsOrError": None}}), GraphQLFault),
    ],
    ids=["401", "403", "read only", "invalid document", "error in data", "nothing"],
)
def test_what_will_not_change_is_not_asked_again(answer: httpx.Response, kind: type[Exception]) -> None:
    """One request, and its type says what to do."""
    server = Server(Runs=[answer])
    with pytest.raises(kind):
        server.call(lambda client: client.runs("p1"))
    assert server.asked == ["Runs"]


@pytest.mark.parametrize(
    "answer",
    [httpx.Response(302, headers={"Location": "/login"}), httpx.Response(200, text="<html>"), said([1]), said({"ok": 1})],
)
def test_an_answer_that_is_not_from_dagster_is_no_answer(answer: httpx.Response) -> None:
    """A login page, or the wrong server: never taken for data."""
    with pytest.raises(Unreachable, match="not from Dagster"):
        Server(Runs=[answer]).call(lambda client: client.runs("p1"))


@pytest.mark.parametrize("lost", [CUT, httpx.ReadTimeout("slow"), GATEWAY, httpx.RemoteProtocolError("closed")])
def test_a_launch_whose_answer_is_lost_is_found_again_by_its_tag(lost: httpx.Response | Exception) -> None:
    """The run may exist: it is looked for, never launched a second time."""
    found = said({"data": {"runsOrError": {"__typename": "Runs", "results": [RUN_NODE]}}})
    server = Server(Launch=[lost], Runs=[found], Run=[said({"data": {"runOrError": RUN_NODE}})])
    answer: Answer = server.call(retry)
    assert (answer.project_id, answer.run_id, answer.key, answer.submission_id) == ("p1", "r-1", "k", 7)
    assert server.asked == ["Launch", "Runs", "Run"]


def test_a_launch_that_failed_inside_dagster_is_looked_for_too() -> None:
    """HTTP 500 after the run was written down, as when the code server goes away: the run's own end counts."""
    fault = said({"data": {"launchRun": {"__typename": "PythonError", "message": "DagsterUserCodeUnreachableError"}}}, 500)
    found = said({"data": {"runsOrError": {"__typename": "Runs", "results": [RUN_NODE]}}})
    server = Server(
        Launch=[fault], Runs=[found], Run=[said({"data": {"runOrError": RUN_NODE | {"status": "FAILURE", "tags": []}}})]
    )
    with pytest.raises(GraphQLFault, match="FAILURE without an answer; repeat it with key k"):
        server.call(retry)
    assert server.asked.count("Launch") == 1


def test_a_launch_that_cannot_be_found_says_with_which_key_it_may_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows: with the same key it acts once at most. The search has an end."""
    monkeypatch.setattr(backend, "_SEARCH", 0.05)
    server = Server(Launch=[CUT], Runs=[said({"data": {"runsOrError": {"__typename": "Runs", "results": []}}})])
    with pytest.raises(LaunchLost) as lost:
        server.call(retry)
    assert lost.value.key == "k"
    assert server.asked.count("Launch") == 1


def test_a_search_that_dagster_cannot_answer_leaves_the_launch_lost_with_its_key() -> None:
    """Its storage is away as well: the caller got Dagster's fault, and with a key of the client's own no way to repeat."""
    broken = said({"data": {"runsOrError": {"__typename": "PythonError", "message": "OperationalError"}}})
    with pytest.raises(LaunchLost, match="repeat it with key k") as lost:
        Server(Launch=[CUT], Runs=[broken]).call(retry)
    assert lost.value.key == "k"


def test_a_launch_that_was_never_sent_is_not_looked_for() -> None:
    """No connection came about: nothing was started."""
    server = Server(Launch=[NO_CONNECTION])
    with pytest.raises(Unreachable) as fault:
        server.call(retry)
    assert not isinstance(fault.value, LaunchLost)
    assert server.asked == ["Launch"]


def test_a_read_only_webserver_refuses_every_request() -> None:
    """The data team's webserver: the type says so, and nothing is searched."""
    answer = said({"data": {"launchRun": {"__typename": "UnauthorizedError", "message": "Authorization failed"}}})
    with pytest.raises(Unauthorised, match="only reads"):
        Server(Launch=[answer]).call(retry)


def test_a_refusal_carries_its_code_and_both_languages() -> None:
    """What a user is shown comes from the deployment, not from the client."""
    words = {"error_code": "CONFLICT", "detail": "p1 is QUEUED", "message_zh": "当前状态不允许该操作", "message_en": "Not now"}
    node = RUN_NODE | {"status": "FAILURE", "tags": [{"key": "comic/refusal", "value": json.dumps(words)}]}
    with pytest.raises(Refused) as refused:
        Server(Launch=[said(LAUNCHED)], Run=[said({"data": {"runOrError": node}})]).call(retry)
    assert (refused.value.code, refused.value.detail, refused.value.zh) == ("CONFLICT", "p1 is QUEUED", "当前状态不允许该操作")


def test_a_run_that_never_ends_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon that is down leaves runs queued: the caller gets the run's id and its own time back."""
    monkeypatch.setattr(backend, "_ANSWER_WITHIN", 0.05)
    node = RUN_NODE | {"status": "QUEUED", "startTime": None, "endTime": None}
    with pytest.raises(TimedOut) as late:
        Server(Launch=[said(LAUNCHED)], Run=[said({"data": {"runOrError": node}})]).call(retry)
    assert late.value.run_id == "r-1"
