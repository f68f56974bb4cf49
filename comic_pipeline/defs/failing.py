"""How an error of ours leaves an op: as a Failure that says code, reason and who must act, and as a tag of the run."""

import dagster as dg

from comic_pipeline.model.errors import ERROR_RULES, ComicError

ERROR_TAG = "comic/error_code"


def failure_of(
    context: dg.OpExecutionContext | dg.AssetExecutionContext | dg.AssetCheckExecutionContext,
    error: ComicError,
    *,
    allow_retries: bool = False,
) -> dg.Failure:
    """The Failure to raise. Dagster tries it again only where that is allowed and the code is a retryable one."""
    rule = ERROR_RULES[error.code]
    context.instance.add_run_tags(context.run.run_id, {ERROR_TAG: error.code.value})
    return dg.Failure(
        description=f"{error.code}: {error.detail}\n{rule.zh} / {rule.en}",
        metadata={"error_code": error.code.value, "who_must_act": rule.actor.value, "retryable": rule.retryable},
        allow_retries=allow_retries and rule.retryable,
    )
