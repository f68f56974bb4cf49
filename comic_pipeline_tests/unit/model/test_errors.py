"""The table of error codes, and the exceptions that carry them."""

import re

import pytest

from comic_pipeline.model.errors import (
    ERROR_RULES,
    Actor,
    ComicError,
    ErrorCode,
    OutcomeUnknown,
    ProviderFault,
    Refused,
    ShotFailure,
    ShotsFailed,
    StorageFault,
)
from comic_pipeline.model.workflow import ProjectState

RETRYABLE = {
    ErrorCode.PROVIDER_TIMEOUT,
    ErrorCode.PROVIDER_RATE_LIMIT,
    ErrorCode.PROVIDER_ERROR,
    ErrorCode.EMPTY_RESPONSE,
    ErrorCode.FFMPEG_FAILED,
    ErrorCode.STORAGE_FAILED,
}


def test_every_code_has_a_rule() -> None:
    """A code without a rule would be a KeyError in the middle of handling another error."""
    assert set(ERROR_RULES) == set(ErrorCode)


@pytest.mark.parametrize("code", ErrorCode)
def test_every_rule_speaks_to_people_in_both_languages(code: ErrorCode) -> None:
    """A message is Chinese in one field and English in the other, and lands in a state that exists."""
    rule = ERROR_RULES[code]
    assert re.search(r"[\u4e00-\u9fff]", rule.zh)
    assert rule.en.isascii()
    assert len(rule.en) > 5
    assert rule.lands_in in {ProjectState.FAILED, ProjectState.MANUAL_REQUIRED, ProjectState.CANCELLED}


@pytest.mark.parametrize("code", ErrorCode)
def test_only_what_may_pass_by_itself_is_retried(code: ErrorCode) -> None:
    """Time-outs, network, rate limits, temporary faults; never input, moderation, balance, auth."""
    assert ERROR_RULES[code].retryable == (code in RETRYABLE)
    assert ComicError(code, "x").retryable == (code in RETRYABLE)


@pytest.mark.parametrize("code", ErrorCode)
def test_who_must_act_fits_the_state_it_lands_in(code: ErrorCode) -> None:
    """The user acts on FAILED, an operator on MANUAL_REQUIRED; used-up retries are an operator's too."""
    rule = ERROR_RULES[code]
    expected = {Actor.USER: "FAILED", Actor.OPERATOR: "MANUAL_REQUIRED", Actor.NOBODY: "MANUAL_REQUIRED"}[rule.actor]
    assert rule.lands_in == ("CANCELLED" if code is ErrorCode.CANCELLED else expected)


def test_an_unknown_outcome_is_a_provider_fault_with_all_it_knows() -> None:
    """Handlers of provider faults see it too, with the vendor's word, the status, the wait and the id."""
    fault = OutcomeUnknown(
        ErrorCode.OUTCOME_UNKNOWN, "read timed out", provider_code="x", http_status=504, retry_after=3.0, request_id="r1"
    )
    assert isinstance(fault, ProviderFault)
    assert not fault.retryable
    assert (fault.provider_code, fault.http_status, fault.retry_after, fault.request_id) == ("x", 504, 3.0, "r1")
    assert str(fault) == "OUTCOME_UNKNOWN: read timed out"


def test_a_storage_fault_is_never_a_refusal() -> None:
    """A refusal is answered in the submission's row; a database that is away must stop the pass instead."""
    assert not isinstance(StorageFault("away"), Refused)
    assert StorageFault("away").code is ErrorCode.STORAGE_FAILED


@pytest.mark.parametrize(
    ("codes", "worst"),
    [
        ([ErrorCode.PROVIDER_ERROR, ErrorCode.MODERATION_REJECTED], ErrorCode.MODERATION_REJECTED),
        ([ErrorCode.MODERATION_REJECTED, ErrorCode.PROVIDER_AUTH], ErrorCode.PROVIDER_AUTH),
        ([ErrorCode.PROVIDER_AUTH, ErrorCode.INPUT_INVALID, ErrorCode.PROVIDER_ERROR], ErrorCode.PROVIDER_AUTH),
        ([ErrorCode.PROVIDER_ERROR], ErrorCode.PROVIDER_ERROR),
    ],
)
def test_failed_shots_carry_the_most_serious_code(codes: list[ErrorCode], worst: ErrorCode) -> None:
    """An operator's matter over the user's over nobody's, whatever the order; every shot is named."""
    failed = ShotsFailed(tuple(ShotFailure(seq, code, f"because {seq}") for seq, code in enumerate(codes)))
    assert failed.code is worst
    assert all(f"shot {seq}: {code} because {seq}" in failed.detail for seq, code in enumerate(codes))


def test_failed_work_that_belongs_to_no_shot_is_named_so() -> None:
    """The storyboard has no shot number."""
    assert ShotsFailed((ShotFailure(None, ErrorCode.SCRIPT_INVALID, "prose"),)).detail == "work: SCRIPT_INVALID prose"
