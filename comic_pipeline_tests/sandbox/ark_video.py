"""contents/generations/tasks: create, get, list, delete, in Ark's words.

Belongs here: HTTP and wire shapes of video tasks, and what task faults do to a new job. Does not: a job's life (`jobs.py`).
"""

import asyncio
import math
import random
from dataclasses import replace

from starlette.responses import JSONResponse, Response

from comic_pipeline_tests.sandbox.books import shortened
from comic_pipeline_tests.sandbox.catalog import VIDEO_MODELS, nearest_ratio
from comic_pipeline_tests.sandbox.clips import FPS, ClipPlan, picture_size, render_clip, render_last_frame
from comic_pipeline_tests.sandbox.faults import Fault, Kind
from comic_pipeline_tests.sandbox.jobs import Job, new_job_id
from comic_pipeline_tests.sandbox.validation import Fields, invalid
from comic_pipeline_tests.sandbox.video_rules import VideoOrder, read_video_order
from comic_pipeline_tests.sandbox.wire import ApiError, Call, JsonObject
from comic_pipeline_tests.sandbox.world import World

_CHOSEN_SECONDS = 5
_LIST_STATUSES = ("queued", "running", "cancelled", "succeeded", "failed")


async def create(world: World, call: Call) -> Response:
    """Take a job in. Raises ApiError."""
    model_id = Fields(call.body).text("model", required=True)
    model = VIDEO_MODELS.get(model_id)
    world.check_open(call, model_id, known=model is not None)
    assert model is not None
    known = await _own_urls(world, call)
    order = await asyncio.to_thread(read_video_order, call.body, model, known.get)
    job = _new_job(world, call, order)
    world.jobs.add(job)
    world.accept(call, model=model_id, units=1, reference=job.id)
    answer = {"id": job.id}
    return JSONResponse({**answer, "safety_identifier": order.safety_identifier} if order.safety_identifier else answer)


async def _own_urls(world: World, call: Call) -> dict[str, bytes | None]:
    """The bytes of those input URLs that the sandbox itself serves; a signed URL past its time is refused."""
    found: dict[str, bytes | None] = {}
    for item in call.body.get("content") or []:
        holder = item.get("image_url") if isinstance(item, dict) else None
        url = holder.get("url") if isinstance(holder, dict) else None
        if isinstance(url, str) and url.startswith("http"):
            found[url] = await world.media.resolve(url, call.base_url, world.clock.now())
    return found


def _new_job(world: World, call: Call, order: VideoOrder) -> Job:
    now, fault = world.clock.now(), call.fault
    ratio = order.ratio
    if ratio == "adaptive":
        ratio = nearest_ratio(*picture_size(order.inputs.first)) if order.inputs.first else "16:9"
    size = order.model.size(order.resolution, ratio)
    seconds = _CHOSEN_SECONDS if order.seconds == -1 else order.seconds
    plan = ClipPlan(
        prompt=order.inputs.text,
        first=order.inputs.first,
        width=size[0],
        height=size[1],
        frames=order.frames or seconds * FPS + 1,
        audio=order.audio,
        seed=order.seed,
    )
    plan = _spoiled(plan, fault)
    about = f"{order.inputs.text} {order.safety_identifier}"
    suffix = order.output_format
    job = Job(
        id=new_job_id(now),
        order=order,
        body=shortened(call.body),
        created_at=now,
        starts_at=now + world.latency.queued,
        ends_at=now + world.latency.video,
        seconds=seconds,
        ratio=ratio,
        size=size,
        seed=order.seed if order.seed >= 0 else random.Random(call.request_id).randrange(2**31),
        video=world.media.put(
            suffix=suffix, mime="video/mp4", content=plan.content, render=lambda: render_clip(plan), about=about
        ),
        last_frame=world.media.put(
            suffix="png", mime="image/png", content=f"last|{plan.content}", render=lambda: render_last_frame(plan), about=about
        ),
    )
    _apply(job, fault)
    return job


def _spoiled(plan: ClipPlan, fault: Fault | None) -> ClipPlan:
    if fault is None or fault.kind is not Kind.MEDIA:
        return plan
    return replace(
        plan,
        width=fault.width or plan.width,
        height=fault.height or plan.height,
        frames=round(fault.seconds * FPS) or plan.frames,
        look=fault.look,
        type=fault.type,
        audio=plan.audio and fault.look != "silent",
    )


def _apply(job: Job, fault: Fault | None) -> None:
    """Let a task fault decide how the job goes."""
    if fault is None:
        return
    if fault.kind is Kind.TASK_ERROR:
        code = fault.code or "OutputVideoSensitiveContentDetected"
        text = "The request failed because the output video may contain sensitive information."
        job.end, job.error = "failed", (code, fault.message or text)
    elif fault.kind is Kind.STUCK:
        job.ends_at = math.inf
        job.starts_at = math.inf if fault.word == "queued" else job.starts_at
    elif fault.kind is Kind.PROVIDER_CANCEL:
        job.end = "cancelled"
    elif fault.kind is Kind.EXPIRE:
        job.end = "expired"
    elif fault.kind is Kind.LOSE:
        job.hidden_from = job.created_at + fault.seconds
    elif fault.kind is Kind.PACE:
        job.starts_at = job.created_at + min(2.0, fault.seconds * 0.2)
        job.ends_at = job.created_at + fault.seconds


def _not_found(job_id: str) -> ApiError:
    return ApiError(404, "ResourceNotFound", f"The specified resource {job_id} is not found.", param="id")


async def get(world: World, call: Call) -> Response:
    """One task. Raises ApiError 404 for ids that are unknown, purged or older than 7 days."""
    job = world.jobs.find(call.path["id"], world.clock.now())
    if job is None:
        raise _not_found(call.path["id"])
    word = call.fault.word if call.fault and call.fault.kind is Kind.WORD else ""
    return JSONResponse(_task(world, call, job, word=word))


async def listing(world: World, call: Call) -> Response:
    """Tasks of the last 7 days, newest first, filtered and paged. Raises ApiError."""
    now = world.clock.now()
    page, size = _number(call, "page_num", 1), _number(call, "page_size", 20)
    status, model, tier = call.first("filter.status"), call.first("filter.model"), call.first("filter.service_tier")
    if status is not None and status not in _LIST_STATUSES:
        raise invalid("filter.status", f"{status!r} is not one of {', '.join(_LIST_STATUSES)}")
    ids = call.every("filter.task_ids")
    found = [
        job
        for job in world.jobs.listed(now)
        if (status is None or job.status(now) == status)
        and (model is None or job.order.model.id == model)
        and (tier is None or job.order.service_tier == tier)
        and (not ids or job.id in ids)
    ]
    shown = found[(page - 1) * size : page * size]
    return JSONResponse({"items": [_task(world, call, job) for job in shown], "total": len(found)})


async def delete(world: World, call: Call) -> Response:
    """Cancel a queued task, forget an ended one, refuse a running one (409) and a cancelled one. Raises ApiError."""
    now = world.clock.now()
    job = world.jobs.find(call.path["id"], now)
    if job is None:
        raise _not_found(call.path["id"])
    status = job.status(now)
    if status == "running":
        text = f"The task {job.id} is currently running and cannot be deleted."
        raise ApiError(409, "InvalidAction.RunningTaskDeletion", text)
    if status == "cancelled":
        raise ApiError(409, "InvalidAction", f"The task {job.id} is cancelled and cannot be deleted.")
    if status == "queued":
        job.cancelled_at = now
    else:
        world.settle()
        job.deleted = True
    return JSONResponse({})


def _number(call: Call, name: str, default: int) -> int:
    text = call.first(name)
    if text is None:
        return default
    if not text.isdigit() or not 1 <= int(text) <= 500:
        raise invalid(name, f"a whole number from 1 to 500 is expected, not {text!r}")
    return int(text)


def _task(world: World, call: Call, job: Job, *, word: str = "") -> JsonObject:
    now = world.clock.now()
    status, order = word or job.status(now), job.order
    task: JsonObject = {
        "id": job.id,
        "model": order.model.id,
        "status": status,
        "error": None,
        "created_at": int(job.created_at),
        "updated_at": int(job.updated_at(now)),
        "seed": job.seed,
        "resolution": order.resolution,
        "ratio": job.ratio,
        "framespersecond": FPS,
        "service_tier": order.service_tier,
        "execution_expires_after": order.expires_after,
        "generate_audio": order.audio,
        "draft": order.draft,
        "priority": order.priority,
    }
    task |= {"frames": order.frames} if order.frames else {"duration": job.seconds}
    if order.safety_identifier:
        task["safety_identifier"] = order.safety_identifier
    if status == "succeeded":
        task |= _success(world, call, job)
    if status == "failed" and job.error:
        task["error"] = {"code": job.error[0], "message": job.error[1]}
    return task


def _success(world: World, call: Call, job: Job) -> JsonObject:
    # Signed when the job ended: asking again does not make the URL live longer.
    signed_at = job.ended_at(world.clock.now()) or world.clock.now()
    content = {"video_url": world.media.url(call.base_url, job.video, signed_at)}
    if job.order.return_last_frame:
        content["last_frame_url"] = world.media.url(call.base_url, job.last_frame, signed_at)
    return {"content": content, "usage": {"completion_tokens": job.tokens, "total_tokens": job.tokens}}
