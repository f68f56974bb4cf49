"""`produce`: admitted, reused, waiting, over quota, refused."""

import json
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from comic_pipeline import service
from comic_pipeline.model.errors import ErrorCode, ProviderFault, Refused
from comic_pipeline.model.project import Aspect, DurationBucket, Language, Project, ProjectKind, Resolution, Tier
from comic_pipeline.model.submission import Answer, Submission
from comic_pipeline.model.workflow import ProjectState, SubmissionKind, SubmissionStatus
from comic_pipeline.store import attempts, projects, submissions
from comic_pipeline.store.submissions import NewSubmission
from comic_pipeline_tests.builders import a_frame, a_project, begin_project
from comic_pipeline_tests.contracts.service.door import BUDGETS, CAT, Door, answer_of
from comic_pipeline_tests.contracts.store.acts import begin, claimed
from comic_pipeline_tests.contracts.store.racing import outcome, race, raced, start_blocked

PRODUCE = SubmissionKind.PRODUCE


def end(door: Door, project_id: str, state: ProjectState = ProjectState.PENDING_REVIEW) -> None:
    """The project leaves production."""
    with door.database.write() as connection:
        assert projects.move(connection, project_id, old=list(ProjectState), new=state, now=door.now)


def spend_today(door: Door, cost: str) -> None:
    """Another user's project has paid one picture."""
    with door.database.write() as connection:
        worker = begin_project(connection, a_project("other", user_id="user-9"))
        attempt = begin(connection, claimed(connection, a_frame("other"), worker, at=door.now), worker=worker, at=door.now)
        attempts.mark_succeeded(connection, attempt, cost=Decimal(cost), result="{}", now=door.now)


def test_a_good_request_becomes_a_project(door: Door) -> None:
    """All that was asked for is in the row, with the tier's budget; the answer names the project."""
    asked = {"script": "A dog.", "style": "水墨国风", "duration": "long_120", "aspect": "9:16", "resolution": "1080p"}
    submission = door.ask(PRODUCE, asked, tier=Tier.PREVIEW)
    answer = answer_of(submission)
    project = door.project(answer.project_id)
    assert (submission.status, submission.project_id, submission.decided_at) == ("accepted", project.id, door.now)
    assert (answer.status, answer.reused) == ("QUEUED", False)
    assert (project.user_id, project.tier, project.kind, project.script, project.idea) == (
        "user-1",
        Tier.PREVIEW,
        ProjectKind.SCRIPT,
        "A dog.",
        "",
    )
    assert (project.style, project.duration_bucket, project.aspect, project.resolution, project.language) == (
        "ink",
        DurationBucket.LONG_120,
        Aspect.TALL,
        Resolution.FULL_HD,
        Language.EN,
    )
    assert (project.status, project.budget, project.retry_count) == ("QUEUED", BUDGETS[Tier.PREVIEW], 0)


def test_the_same_film_while_it_is_made_is_reused(door: Door) -> None:
    """Same user, same content: the running project, whatever the spelling; afterwards a new one."""
    first = answer_of(door.produce("a café"))
    again = answer_of(door.produce("  a cafe\u0301 "))
    assert (again.project_id, again.reused) == (first.project_id, True)
    assert answer_of(door.produce("a café", user="user-2")).project_id != first.project_id
    end(door, first.project_id)
    fresh = answer_of(door.produce("a café"))
    assert (fresh.project_id == first.project_id, fresh.reused) == (False, False)


def test_a_project_that_is_being_cancelled_is_not_reused(door: Door) -> None:
    """Cancel, then ask again: the answer must not be a project that ends a moment later."""
    first = answer_of(door.produce())
    with door.database.write() as connection:
        projects.request_cancel(connection, first.project_id, reason="changed my mind", now=door.now)
    again = answer_of(door.produce())
    assert (again.reused, again.project_id == first.project_id) == (False, False)


def test_the_same_key_gets_the_same_answer(door: Door) -> None:
    """A client that repeats a call after a lost answer gets that answer, even with another payload, even when decided."""
    first = door.produce(key="k1")
    again = door.produce("something else", key="k1")
    assert again == first
    assert answer_of(door.produce("something else", key="k2")).project_id != answer_of(first).project_id


def test_a_second_formal_project_waits_in_line(door: Door) -> None:
    """One paid or premium project a user at a time; the next in order is taken when the first ends."""
    first, second, third = (
        door.produce(idea, tier=tier) for idea, tier in (("a", Tier.PAID), ("b", Tier.PREMIUM), ("c", Tier.PAID))
    )
    assert [one.status for one in (first, second, third)] == ["accepted", "waiting", "waiting"]
    assert answer_of(first).project_id in (second.error_message or "")
    assert door.decide(second.id).status == "waiting"
    end(door, answer_of(first).project_id)
    assert door.decide(second.id).status == "accepted"
    assert door.decide(third.id).status == "waiting"
    taken = door.row(second.id)
    assert (taken.error_code, taken.error_message) == (None, None)


def test_free_films_and_other_users_do_not_wait(door: Door) -> None:
    """The rule is about formal projects of one user."""
    assert door.produce("a", tier=Tier.PAID).status == "accepted"
    assert door.produce("b", tier=Tier.FREE).status == "accepted"
    assert door.produce("c", tier=Tier.PAID, user="user-2").status == "accepted"


def test_one_that_waits_can_be_seen_to_wait_without_writing(door: Door) -> None:
    """A long line is looked at every quarter of a second: only what can be decided costs a transaction."""
    first = door.produce("a", tier=Tier.PAID)
    waiting, new = door.produce("b", tier=Tier.PAID), door.row(door.submit(PRODUCE, {"idea": "c"}, tier=Tier.PAID))
    same = door.row(door.submit(PRODUCE, {"idea": "a"}, tier=Tier.PAID))

    def keeps(submission: Submission) -> bool:
        with door.database.read() as connection:
            return service.keeps_waiting(connection, submission, door.house)

    assert keeps(waiting)
    assert not keeps(new)
    assert not keeps(same)
    # Another one of the line has become the same film meanwhile: this one is answered with it, not made once more.
    assert not keeps(same.model_copy(update={"status": SubmissionStatus.WAITING}))
    end(door, answer_of(first).project_id)
    assert not keeps(waiting)


@pytest.mark.parametrize(("tier", "quota"), [(Tier.FREE, 3), (Tier.PREVIEW, 10)])
def test_a_day_has_a_quota(door: Door, tier: Tier, quota: int) -> None:
    """The film after the last one is refused with the numbers; another user has their own quota."""
    outcomes = [door.produce(f"film {number}", tier=tier) for number in range(quota + 1)]
    assert [one.status for one in outcomes] == ["accepted"] * quota + ["rejected"]
    refused = outcomes[-1]
    assert refused.error_code is ErrorCode.QUOTA_NOT_ENOUGH
    assert f"{quota} of {quota} {tier} films of 2026-03-10" in (refused.error_message or "")
    assert door.produce("film", tier=tier, user="user-2").status == "accepted"


def test_each_tier_has_its_own_quota(door: Door) -> None:
    """Three free films do not use up the previews of the same user."""
    for number in range(3):
        assert door.produce(f"film {number}", tier=Tier.FREE).status == "accepted"
    assert door.produce("one more", tier=Tier.FREE).status == "rejected"
    assert door.produce("one more", tier=Tier.PREVIEW).status == "accepted"


@pytest.mark.parametrize(("tier", "cap"), [(Tier.FREE, 2), (Tier.PREVIEW, 10), (Tier.PAID, 100), (Tier.PREMIUM, 500)])
def test_a_film_that_its_tier_cannot_pay_is_refused_before_anything_is_paid(door: Door, tier: Tier, cap: int) -> None:
    """The answer names estimate, cap and way out; a film that costs just that much is made."""
    door.price = Decimal(cap) + Decimal("0.01")
    refused = door.produce("a", tier=tier)
    assert (refused.status, refused.error_code) == ("rejected", ErrorCode.BUDGET_EXCEEDED)
    for said in (f"{cap}.01", f"¥{cap}.00", "COMIC_BUDGETS", "shorter film", "更换档位"):
        assert said in (refused.error_message or "")
    door.price = Decimal(cap)
    assert door.produce("a", tier=tier).status == "accepted"


def test_a_film_that_the_day_cannot_pay_is_refused(door: Door) -> None:
    """What is spent or reserved today counts, of all users; tomorrow it is made."""
    spend_today(door, "7.5")
    door.day_budget, door.price = Decimal(10), Decimal("2.51")
    refused = door.produce("a", tier=Tier.PAID)
    assert (refused.status, refused.error_code) == ("rejected", ErrorCode.BUDGET_EXCEEDED)
    for said in ("¥2.51", "¥7.50", "¥10.00", "COMIC_DAY_BUDGET", "after midnight", "请明日再试"):
        assert said in (refused.error_message or "")
    door.price = Decimal("2.5")
    assert door.produce("a", tier=Tier.PAID).status == "accepted"
    door.wait(86_400)
    door.price = Decimal("9.99")
    assert door.produce("b", tier=Tier.PAID, user="user-2").status == "accepted"


def test_a_film_that_costs_nothing_is_made_on_any_day(door: Door) -> None:
    """Offline providers: the day's money may be gone."""
    spend_today(door, "7.5")
    door.day_budget = Decimal(5)
    assert door.produce("a").status == "accepted"


def test_a_film_that_the_chosen_model_cannot_make_is_refused(door: Door) -> None:
    """The estimate asks the model's own limits: what it cannot make is the user's to change, not a broken row."""

    def price(_: Project) -> Decimal:
        raise ProviderFault(ErrorCode.INPUT_INVALID, "1080p is not offered by this model")

    door.price_of = price
    refused = door.produce("a")
    assert (refused.error_code, refused.error_message) == (ErrorCode.INPUT_INVALID, "1080p is not offered by this model")


@pytest.mark.parametrize(("tier", "films"), [(Tier.PAID, 50), (Tier.PREMIUM, 51)])
def test_formal_tiers_have_the_larger_quota_or_none(door: Door, tier: Tier, films: int) -> None:
    """Fifty paid films a day; premium has no number."""
    for number in range(films):
        end(door, answer_of(door.produce(f"film {number}", tier=tier)).project_id)
    last = door.produce("one more", tier=tier)
    assert last.status == ("rejected" if tier is Tier.PAID else "accepted")


@pytest.mark.parametrize(
    ("first", "second", "allowed"),
    [
        ("2026-03-10T15:59:59Z", "2026-03-10T16:00:00Z", True),
        ("2026-03-09T16:00:00Z", "2026-03-10T15:59:59Z", False),
        ("2026-03-09T15:59:59Z", "2026-03-09T16:00:01Z", True),
        ("2026-03-10T00:00:00Z", "2026-03-10T15:00:00Z", False),
    ],
)
def test_the_day_is_that_of_shanghai(door: Door, first: str, second: str, *, allowed: bool) -> None:
    """Midnight in Shanghai is 16:00 UTC: the quota begins anew there, not at midnight UTC."""
    door.now = datetime.fromisoformat(first)
    for number in range(3):
        assert door.produce(f"film {number}").status == "accepted"
    door.now = datetime.fromisoformat(second)
    assert door.produce("the next").status == ("accepted" if allowed else "rejected")


def test_only_new_films_count(door: Door) -> None:
    """Reused, refused and waiting ones are free; so are retry and redo."""
    for number in range(2):
        door.produce(f"film {number}")
    for _ in range(5):
        assert answer_of(door.produce("film 0")).reused
        assert door.produce("").status == "rejected"
    project_id = answer_of(door.produce("film 2")).project_id
    end(door, project_id, ProjectState.FAILED)
    assert door.ask(SubmissionKind.RETRY, project=project_id).status == "accepted"
    assert door.produce("film 3").error_code is ErrorCode.QUOTA_NOT_ENOUGH


def test_a_film_counts_when_it_is_accepted_not_when_it_was_asked(door: Door) -> None:
    """One that waited over midnight belongs to the new day."""
    number = door.submit(PRODUCE, CAT)
    for film in range(3):
        door.produce(f"film {film}")
    assert door.decide(door.submit(PRODUCE, {"idea": "late"})).status == "rejected"
    door.now += timedelta(days=1)
    assert door.decide(number).status == "accepted"


BAD = {
    "not JSON": "idea: a cat",
    "cut short": '{"idea": "a cat',
    "empty": "",
    "a list": "[]",
    "a string": '"a cat"',
    "a number": "7",
    "null": "null",
    "nothing": "{}",
    "no text": '{"idea": 7}',
    "null text": '{"idea": null}',
    "a list of text": '{"idea": ["a cat"]}',
    "unknown field": '{"idea": "a cat", "ideas": "b"}',
    "unknown style": '{"idea": "a cat", "style": "baroque"}',
    "unknown duration": '{"idea": "a cat", "duration": 15}',
    "empty idea": '{"idea": "  "}',
    "long idea": json.dumps({"idea": "x" * 2_001}),
    "control": '{"idea": "a\\u0000cat"}',
    "surrogate": '{"idea": "a\\ud800cat"}',
    "control in a key": '{"idea": "a cat", "a\\u0000b": 1}',
    "surrogate in a key": '{"idea": "a cat", "a\\ud800b": 1}',
    "huge key": json.dumps({"idea": "a cat", "k" * 100_000: 1}),
    "huge number": '{"idea": ' + "9" * 5_000 + "}",
    "nested lists": "[" * 10_000 + "]" * 10_000,
    "nested objects": '{"idea":' * 10_000 + "1" + "}" * 10_000,
    "open brackets": "[" * 100_000,
}


@pytest.mark.parametrize("payload", BAD.values(), ids=list(BAD))
def test_a_bad_payload_is_refused_in_its_row(door: Door, payload: str) -> None:
    """INPUT_INVALID with a short reason that any row can hold; nothing is made, and the transaction goes on."""
    refused = door.ask(PRODUCE, payload)
    assert (refused.status, refused.error_code, refused.answer) == ("rejected", ErrorCode.INPUT_INVALID, None)
    assert refused.decided_at == door.now
    assert refused.error_message
    assert len(refused.error_message) < 600
    with door.database.read() as connection:
        assert projects.find(connection) == []


def test_a_refusal_names_the_field_and_the_value(door: Door) -> None:
    """A backend shows it to its user."""
    message = door.ask(PRODUCE, {"idea": "a cat", "style": "baroque"}).error_message or ""
    assert "style 'baroque' is unknown; one of: healing (治愈系动漫)" in message
    message = door.ask(PRODUCE, {"idea": 7}).error_message or ""
    assert message.startswith("idea: ")
    assert "'7'" in message


def test_a_row_by_raw_sql_of_the_mandatory_columns_is_admitted(door: Door) -> None:
    """A backend in any language: kind, user, payload; free tier and an id of ours by default."""
    with door.database.write() as connection:
        connection.execute(text("INSERT INTO submissions (kind, user_id, payload) VALUES ('produce', 'u', '{\"idea\":\"猫\"}')"))
        (number,) = submissions.open_ids(connection, limit=9)
    answer = answer_of(door.decide(number))
    project = door.project(answer.project_id)
    assert (project.user_id, project.tier, project.idea, project.budget) == ("u", Tier.FREE, "猫", BUDGETS[Tier.FREE])
    assert project.id.startswith("p-20260310-")


def test_the_backend_may_choose_the_project_id(door: Door) -> None:
    """Its own order number, for example."""
    answer = answer_of(door.produce(project="order-1_A"))
    assert answer.project_id == "order-1_A"
    assert door.project("order-1_A").idea == CAT["idea"]


@pytest.mark.parametrize("status", [ProjectState.IMAGE, ProjectState.APPROVED])
def test_a_taken_id_is_a_conflict(door: Door, status: ProjectState) -> None:
    """Somebody's else, or one's own of another film: never overwritten, never shared."""
    with door.database.write() as connection:
        projects.insert(connection, a_project("order-1", user_id="user-2", status=status))
    refused = door.produce(project="order-1")
    assert (refused.status, refused.error_code) == ("rejected", ErrorCode.CONFLICT)
    assert "order-1 is taken" in (refused.error_message or "")
    assert door.project("order-1").user_id == "user-2"


def test_ones_own_taken_id_does_not_wait_for_itself(door: Door) -> None:
    """A paid project's id asked again for another film is a conflict at once, not in an hour."""
    assert door.produce("a", project="order-1", tier=Tier.PAID).status == "accepted"
    assert door.produce("b", project="order-1", tier=Tier.PAID).error_code is ErrorCode.CONFLICT


@pytest.mark.parametrize("project_id", ["a b", "a/b", "../x", "猫", "a.b", "", "a\n"])
def test_an_illegal_id_is_refused_in_its_row(door: Door, project_id: str) -> None:
    """By raw SQL anything of 63 characters comes in: it must not become a partition key or a folder."""
    with door.database.write() as connection:
        connection.execute(
            text("INSERT INTO submissions (kind, user_id, project_id, payload) VALUES ('produce', 'u', :id, '{\"idea\":\"x\"}')"),
            {"id": project_id},
        )
        (number,) = submissions.open_ids(connection, limit=9)
    refused = door.decide(number)
    assert (refused.status, refused.error_code) == ("rejected", ErrorCode.INPUT_INVALID)
    assert "must match" in (refused.error_message or "")


@pytest.mark.parametrize(
    "facts",
    [
        {"user": ""},
        {"user": "x" * 129},
        {"user": "a\x00b"},
        {"user": "a\nb"},
        {"key": ""},
        {"key": "x" * 129},
        {"key": "a\x00b"},
        {"project": "a b"},
        {"project": "x" * 64},
        {"kind": SubmissionKind.RETRY},
        {"payload": "x" * 200_001},
        {"payload": '{"idea": "\x00"}'},
        {"payload": '{"idea": "\ud800"}'},
    ],
    ids=lambda facts: f"{next(iter(facts))}-{len(str(next(iter(facts.values()))))}",
)
def test_what_no_row_can_hold_is_refused_before(door: Door, facts: dict[str, Any]) -> None:
    """The same refusal on both databases, instead of a fault of the one or a silent cut of the other."""
    with pytest.raises(Refused) as refused:
        door.submit(**facts)
    assert refused.value.code is ErrorCode.INPUT_INVALID
    with door.database.read() as connection:
        assert submissions.open_ids(connection, limit=9) == []


def test_an_unknown_tier_never_gets_into_a_row(door: Door) -> None:
    """The constraint refuses it, so nobody has to guess a budget for it."""
    with pytest.raises(Exception, match="legal_tier"), door.database.write() as connection:
        connection.execute(text("INSERT INTO submissions (kind, user_id, tier, payload) VALUES ('produce', 'u', 'gold', '{}')"))


def test_a_submission_is_carried_out_once(door: Door) -> None:
    """Two reconcilers hold the same row: the later one finds it decided, and nothing of its work stays."""
    number = door.submit(PRODUCE, CAT)
    stale = door.row(number)
    assert door.decide(number).status == "accepted"
    with door.database.write() as connection:
        projects.move(
            connection, door.row(number).project_id or "", old=list(ProjectState), new=ProjectState.APPROVED, now=door.now
        )
        assert service.decide(connection, stale, door.house) is None
    with door.database.read() as connection:
        assert len(projects.find(connection)) == 1


def test_two_reconcilers_at_once_make_one_film_of_one_submission(door: Door) -> None:
    """Both read the row as new; on Postgres neither sees the other's project."""
    stale = door.row(door.submit(PRODUCE, CAT))

    def decide() -> object:
        with door.database.write() as connection:
            return service.decide(connection, stale, door.house)

    outcomes = raced([decide, decide])
    assert sum(outcome is None for outcome in outcomes) == 1, outcomes
    with door.database.read() as connection:
        assert len(projects.find(connection)) == 1


def test_two_requests_for_one_film_at_once_make_one_project(door: Door) -> None:
    """Two rows, two reconcilers that overlap: the second waits for the first one's user, and finds the film on its way."""
    first, second = (door.submit(PRODUCE, CAT) for _ in range(2))

    def decide(number: int) -> Answer | None:
        with door.database.write() as connection:
            return service.decide(connection, door.row(number), door.house)

    with door.database.write() as connection:
        made = service.decide(connection, door.row(first), door.house)
        late = start_blocked(lambda: decide(second))
    again = outcome(late)
    assert isinstance(again, Answer)
    assert made is not None
    assert (again.project_id, again.reused) == (made.project_id, True)


def test_a_retry_that_comes_first_makes_a_formal_film_wait(door: Door) -> None:
    """The command line re-opens the user's other paid project while this one is admitted: it waits, its id is not taken."""
    with door.database.write() as connection:
        projects.insert(connection, a_project("old", tier=Tier.PAID, status=ProjectState.FAILED))
    retry = door.row(door.submit(SubmissionKind.RETRY, project="old"))
    new = door.row(door.submit(PRODUCE, {"idea": "new"}, tier=Tier.PAID))

    def decide(submission: Submission) -> None:
        with door.database.write() as connection:
            service.decide(connection, submission, door.house)

    assert race([lambda: decide(retry), lambda: decide(new)]) == [None, None]
    ended = {door.row(retry.id).status, door.row(new.id).status}
    assert ended in ({"accepted", "waiting"}, {"rejected", "accepted"})
    with door.database.read() as connection:
        assert len(projects.in_production(connection)) == 1


def test_the_answer_of_a_request(door: Door) -> None:
    """Accepted: the answer. Refused: its reason. Waiting, or unknown: says so."""
    accepted = door.produce("a", tier=Tier.PAID)
    waiting, refused = door.produce("b", tier=Tier.PAID), door.produce("")
    with door.database.read() as connection:
        assert service.answer_of(connection, accepted.id) == answer_of(accepted)
        for number, code in ((waiting.id, ErrorCode.CONFLICT), (refused.id, ErrorCode.INPUT_INVALID), (999, ErrorCode.NOT_FOUND)):
            with pytest.raises(Refused) as why:
                service.answer_of(connection, number)
            assert why.value.code is code


@pytest.mark.parametrize("kind", [SubmissionKind.RETRY, SubmissionKind.REDO, SubmissionKind.CANCEL])
def test_a_request_about_an_unknown_project_is_not_found(door: Door, kind: SubmissionKind) -> None:
    """In its row, like every other refusal."""
    refused = door.ask(kind, {"stage": "frames"} if kind is SubmissionKind.REDO else {}, project="nobody")
    assert (refused.status, refused.error_code) == ("rejected", ErrorCode.NOT_FOUND)


def test_the_key_belongs_to_its_user(door: Door) -> None:
    """Two users may use the same key for two films."""
    new = NewSubmission(kind=PRODUCE, user_id="user-2", tier=Tier.FREE, payload="{}", key="k")
    first = door.submit(PRODUCE, CAT, key="k")
    with door.database.write() as connection:
        assert service.submit(connection, new, now=door.now).id != first
