"""The storyboard: one text task, its answer parsed and checked, with one repair round for an answer of the wrong shape."""

from dataclasses import replace

from comic_pipeline.model.cast import settle_cast
from comic_pipeline.model.errors import InvalidAnswer
from comic_pipeline.model.project import Language, Project, ProjectKind
from comic_pipeline.model.storyboard import OverrideField, Storyboard, build_storyboard
from comic_pipeline.model.task import TaskType, canonical_json
from comic_pipeline.model.workflow import Stage
from comic_pipeline.prompts import load_prompt
from comic_pipeline.providers.interface import StorySubject, TextRequest
from comic_pipeline.providers.json_answer import parse_json_answer
from comic_pipeline.stages.studio import Commission, Studio, rule_of
from comic_pipeline.store import projects
from comic_pipeline.work.orders import Delivered, Order, Verified
from comic_pipeline.work.runner import make_all

_PROMPTS = _SYSTEM, _USER, _REPAIR = "storyboard_system", "storyboard_user", "storyboard_repair"
_SPEECH_HINT = {Language.ZH: "at most 4 Chinese characters a second", Language.EN: "at most 2.5 words a second"}
_LANGUAGE_NAME = {Language.ZH: "Chinese (简体中文)", Language.EN: "English"}
# About 350 tokens a shot were seen for Chinese storyboards; twelve shots stay well below this.
_TOKENS_A_SHOT = 900
# A repair prompt quotes the bad answer; a runaway one is cut.
_QUOTED_CHARS = 6_000


async def write_storyboard(studio: Studio) -> tuple[Storyboard, Delivered]:
    """The film in words. Raises ComicError: SCRIPT_INVALID when the answer is unusable even after its repair round."""
    order = order_of(studio, take=studio.overrides().take(0, OverrideField.TAKE_STORYBOARD))
    (done,) = (await make_all(studio.desk, [order])).settle(now=studio.now())
    stored = await studio.desk.read(done.media)
    storyboard = Storyboard.model_validate_json(stored)
    with studio.desk.write() as (connection, now):
        projects.set_title(connection, studio.project.id, storyboard.title, now=now)
    return storyboard, done


def order_of(studio: Commission, *, take: int) -> Order[TextRequest]:
    """The order of the storyboard, with its one repair."""
    project, rule, bucket = studio.project, rule_of(Stage.STORYBOARD), studio.project.bucket
    prompts = [load_prompt(name) for name in _PROMPTS]
    return Order(
        project_id=project.id,
        task_type=TaskType.STORYBOARD,
        queue=rule.queue,
        deadline=rule.deadline,
        shot_seq=None,
        take=take,
        provider=studio.providers.text,
        request=_request(studio),
        template_hash="+".join(prompt.hash for prompt in prompts),
        inputs=(),
        folder="storyboard",
        verify=lambda data: _verify(data, shots=bucket.shots, shot_ms=bucket.shot_ms),
        repair=_repair,
    )


def subject_of(project: Project) -> StorySubject:
    """What the story is to be about, how long and in which style."""
    bucket = project.bucket
    return StorySubject(
        idea=project.idea,
        script=project.script,
        style_key=project.style,
        language=project.language,
        shots=bucket.shots,
        shot_ms=bucket.shot_ms,
    )


def _request(studio: Commission) -> TextRequest:
    project, bucket = studio.project, studio.project.bucket
    is_script = project.kind is ProjectKind.SCRIPT
    return TextRequest(
        system=load_prompt(_SYSTEM).fill(
            language_name=_LANGUAGE_NAME[project.language],
            shots=bucket.shots,
            shot_ms=bucket.shot_ms,
            speech_hint=_SPEECH_HINT[project.language],
        ),
        user=load_prompt(_USER).fill(
            style_name=f"{project.look.zh} / {project.look.en}",
            style_words=project.look.picture_words,
            shots=bucket.shots,
            shot_ms=bucket.shot_ms,
            source_name="Script" if is_script else "Idea",
            source=project.script if is_script else project.idea,
        ),
        subject=subject_of(project),
        max_tokens=2_000 + _TOKENS_A_SHOT * bucket.shots,
        user_hash=studio.user_hash,
    )


def _verify(data: bytes, *, shots: int, shot_ms: int) -> Verified:
    storyboard = settle_cast(build_storyboard(parse_json_answer(data.decode("utf-8", errors="replace")), shot_ms=shot_ms))
    if len(storyboard.shots) != shots:
        raise InvalidAnswer(
            f"the storyboard has {len(storyboard.shots)} shots, {shots} were asked for",
            problems=f"there must be exactly {shots} shots, not {len(storyboard.shots)}",
        )
    return Verified(canonical_json(storyboard.model_dump(mode="json")).encode(), mime="application/json", ending="json")


def _repair(request: TextRequest, answer: bytes, invalid: InvalidAnswer) -> TextRequest:
    told = load_prompt(_REPAIR).fill(problems=invalid.problems, shots=request.subject.shots, shot_ms=request.subject.shot_ms)
    return replace(request, repair_of=answer.decode("utf-8", errors="replace")[:_QUOTED_CHARS], problems=told)
