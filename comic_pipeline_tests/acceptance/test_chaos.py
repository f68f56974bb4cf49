"""A small chaos run. `make chaos` does the large one."""

from pathlib import Path

import pytest

from comic_pipeline_tests.acceptance.chaos import Plan, report, run


@pytest.mark.endurance
@pytest.mark.timeout(1_200)
def test_a_few_projects_under_faults_and_kills_end_as_they_should(tmp_path: Path) -> None:
    """Every project ends in a state that fits, nothing is left over, and the ledger equals the provider's books."""
    plan = Plan(projects=4, seed=7, wild=40, patience=200)
    outcome = run(plan, tmp_path / "home")
    print(report(plan, outcome, seconds=0))  # noqa: T201  # pytest shows it only when the test fails
    assert not outcome.problems
    assert outcome.kills
