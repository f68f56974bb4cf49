"""One project against the sandbox: what is made, what it costs, what a change costs, and how it is released.

All tests share one film, which is made once: each compares with what the sandbox's books said before it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg
import pytest

from comic_pipeline.media.aigc import read_aigc
from comic_pipeline.media.label import label_likeness
from comic_pipeline.media.probe import frame_at, measure_video
from comic_pipeline.media.subtitles import to_srt
from comic_pipeline.model.manifest import Manifest
from comic_pipeline.model.media import Clips, CoverImage, FrameImages, PublishedVideo, ReviewPage, TimelineExport, VoiceLines
from comic_pipeline.model.task import TaskStatus, sha256_hex
from comic_pipeline.model.workflow import ProjectState, SubmissionKind
from comic_pipeline.quality import GATES
from comic_pipeline.status import ProjectStatus
from comic_pipeline.store import verdicts
from comic_pipeline_tests.acceptance.house import House
from comic_pipeline_tests.deployed import PROFILES, deployed_variables
from comic_pipeline_tests.sandbox.books import Report
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment

IDEA = "一只小猫在月球上种花，遇到了会唱歌的星星"
_SHORT = {"COMIC_RETRY_DELAYS": "0.1,0.1,0.1", "COMIC_POLL_SECONDS": "0.2", "ARK_IMAGE_MODEL": "doubao-seedream-4-0-250828"}


@dataclass(frozen=True)
class Premiere:
    """The film: where it was made, and how things stood when it was finished."""

    house: House
    sandbox: Sandbox
    end: ProjectStatus
    books: Report

    @property
    def id(self) -> str:
        """The project."""
        return self.end.project_id

    def redo(self, **asked: object) -> ProjectStatus:
        """Have something made anew, and drive until it is."""
        self.house.ask(SubmissionKind.REDO, asked, project_id=self.id)
        again = self.house.go_on(self.id)
        assert again.status == ProjectState.PENDING_REVIEW, (again.error_code, again.error_message)
        return again


@pytest.fixture(scope="module", params=PROFILES)
def premiere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premiere]:
    """A film whose every provider is the sandbox."""
    with pytest.MonkeyPatch.context() as patch, start_sandbox(latency={"video": 0.2}) as sandbox:
        profile: dict[str, str] = {}
        if request.param == "deployed":
            server = request.getfixturevalue("s3_server")
            profile = deployed_variables(request.getfixturevalue("postgres"), server)
            for name, value in profile.items():
                patch.setenv(name, value)
        house = House(tmp_path_factory.mktemp("premiere") / "home", sandbox_environment(sandbox, **_SHORT, **profile))
        end = house.produce(IDEA)
        yield Premiere(house=house, sandbox=sandbox, end=end, books=sandbox.admin.books())
        house.close()


def test_an_idea_becomes_a_film_that_is_what_was_planned(premiere: Premiere) -> None:
    """Acceptance (c): streams, size, rate, length within 0.1 s of the plan, sound not silent, words beside the picture."""
    house, end, books = premiere.house, premiere.end, premiere.books

    assert end.status == ProjectState.PENDING_REVIEW, (end.error_code, end.error_message)
    assert (end.progress, end.frames_ready, end.total_frames, end.eta_seconds) == (100, 3, 3, 0)
    film = house.film(end.project_id)
    with house.workshop.objects.local(film.media.key) as path:
        facts = measure_video(path)
        frame = frame_at(path, house.subtitles(end.project_id).cues[0].start_ms + 200)
    assert (facts.codec, facts.pix_fmt, facts.width, facts.height, round(facts.fps)) == ("h264", "yuv420p", 1280, 720, 24)
    assert abs(facts.duration_ms - film.planned_ms) <= 100
    assert facts.audio is not None
    assert facts.audio.rms_dbfs > -40
    assert facts.subtitle_streams == 1
    assert facts.faststart
    assert frame.startswith(b"\x89PNG")
    words = house.subtitles(end.project_id)
    assert words.srt is not None
    assert words.ass is not None
    assert house.workshop.objects.get(words.srt.key).decode() == to_srt(words.cues)
    assert house.workshop.objects.get(words.ass.key).decode().count("Dialogue:") == len(words.cues)
    _assert_labelled(house, end.project_id)
    _assert_documented(house, end)
    voices = {line.speaker: line.voice for line in house.document(end.project_id, "voice_lines", VoiceLines).lines}
    assert len(set(voices.values())) == len(voices) > 1, "every speaker has a voice of their own"
    assert (books.chats, books.images, books.voices, books.video_jobs) == (1, 3, 3, 3)
    assert end.cost == books.spend > 15


def _assert_documented(house: House, end: ProjectStatus) -> None:
    """Beside the film lie its timelines, the page to decide by and the manifest with every gate's verdict and the whole cost."""
    get, film = house.workshop.objects.get, house.film(end.project_id)
    export = house.document(end.project_id, "timeline_export", TimelineExport)
    page = house.document(end.project_id, "review_page", ReviewPage)
    manifest = Manifest.model_validate_json(get(page.manifest.key))
    assert (manifest.film, manifest.costs.spent) == (film.media, end.cost)
    assert {verdict.check for verdict in manifest.verdicts} == set(GATES.values())
    assert manifest.software.assets["review_page"]
    assert export.bundle in [file.media for file in manifest.files]
    assert export.frames == round(film.planned_ms * 24 / 1000)
    assert sha256_hex(get(export.bundle.key)) == export.bundle.sha256
    assert end.project_id in get(page.page.key).decode()
    with dg.DagsterInstance.from_config(str(house.settings.dagster_home)) as instance:
        (seen,) = instance.fetch_observations(dg.AssetKey("final_video"), limit=5).records
        made = instance.fetch_materializations(dg.AssetKey("final_video"), limit=1).records[0].asset_materialization
    assert seen.partition_key == end.project_id
    assert seen.asset_observation is not None
    assert set(seen.asset_observation.metadata) == {"review_page", "manifest"}
    assert made is not None
    assert "manifest" in made.metadata


def _assert_labelled(house: House, project_id: str) -> None:
    """Film, pictures and cover say that AI made them, in the picture and in the file; what providers got says nothing."""
    get = house.workshop.objects.get
    film = get(house.film(project_id).media.key)
    cover = get(house.document(project_id, "cover_image", CoverImage).media.key)
    pictures = house.document(project_id, "frame_images", FrameImages).frames
    assert [round(label_likeness(frame_at(film, ms), "AI生成")) for ms in (0, 1_999, 3_000)] == [1, 1, 0]
    for file in [film, cover, *(get(one.shown.key) for one in pictures)]:
        mark = read_aigc(file)
        assert mark is not None
        assert (mark.label, mark.content_producer, mark.produce_id.startswith(project_id)) == ("1", "comic_pipeline", True)
    for one, clip in zip(pictures, house.document(project_id, "clips", Clips).clips, strict=True):
        assert label_likeness(get(one.shown.key), "AI生成") > 0.9
        assert sha256_hex(get(one.media.key)) == one.media.sha256
        assert label_likeness(get(one.media.key), "AI生成") < 0.5
        assert label_likeness(frame_at(get(clip.media.key), 0), "AI生成") < 0.5


def test_running_again_with_nothing_changed_costs_nothing(premiere: Premiere) -> None:
    """A redo of the film alone renders; a second pass over finished stages makes no provider call at all."""
    before, cost = premiere.sandbox.admin.books(), premiere.house.status(premiere.id).cost

    again = premiere.redo(stage="film")

    assert premiere.house.stages_run == ["film"]
    assert premiere.sandbox.admin.books().requests == before.requests
    assert again.cost == cost


def test_a_new_prompt_for_one_shot_remakes_its_picture_its_clip_and_the_film(premiere: Premiere) -> None:
    """Field case Toonflow 191: unchanged shots are reused, the changed one is paid once, the old versions stay."""
    before = premiere.sandbox.admin.books()

    again = premiere.redo(stage="frames", shots=[1], prompt="the cat waters a blue rose")

    after = premiere.sandbox.admin.books()
    assert premiere.house.stages_run == ["frames", "clips", "film"]
    assert (after.images - before.images, after.video_jobs - before.video_jobs) == (1, 1)
    assert (after.chats - before.chats, after.voices - before.voices) == (0, 0)
    assert again.cost == after.spend
    remade = [task for task in again.tasks if task.shot_seq == 1 and task.task_type == "frame_image"]
    assert [task.status for task in remade] == [TaskStatus.SUCCESS, TaskStatus.SUCCESS]
    assert all(premiere.house.workshop.objects.exists(task.output_asset_id or "") for task in remade)


def test_a_new_line_never_pays_a_clip_again(premiere: Premiere) -> None:
    """A clip's length comes from duration_ms alone: other words re-make the voice and the film."""
    house, before = premiere.house, premiere.sandbox.admin.books()
    cast = {line.speaker: line.voice for line in house.document(premiere.id, "voice_lines", VoiceLines).lines}

    premiere.redo(stage="voices", shots=[0], prompt="你好，星星！")

    after = premiere.sandbox.admin.books()
    assert house.stages_run == ["voices", "film"]
    assert (after.voices - before.voices, after.video_jobs - before.video_jobs, after.images - before.images) == (1, 0, 0)
    again_cast = {line.speaker: line.voice for line in house.document(premiere.id, "voice_lines", VoiceLines).lines}
    assert again_cast == cast
    assert "你好，星星！" in "".join(cue.text for cue in house.subtitles(premiere.id).cues)


def test_a_new_seed_for_a_clip_pays_no_picture(premiere: Premiere) -> None:
    """Each craft has its own seed: a clip made anew, and a later round of pictures finds every picture made."""
    before = premiere.sandbox.admin.books()

    premiere.redo(stage="clips", shots=[2], seed=7)
    premiere.redo(stage="frames", shots=[0])

    after = premiere.sandbox.admin.books()
    # The redo of picture 0 re-makes picture 0 and its clip; clip 2 was made anew once, by its own redo.
    assert (after.images - before.images, after.video_jobs - before.video_jobs) == (1, 2)


def test_an_approved_film_is_published_and_stays_until_the_next_one_is(premiere: Premiere) -> None:
    """Every gate is open; film, cover, subtitles and manifest lie under final names; a new version replaces nothing."""
    house = premiere.house
    with house.workshop.database.read() as connection:
        given = {one.check: one.passed for one in verdicts.latest(connection, premiere.id)}
    assert given == dict.fromkeys(GATES.values(), True)

    first = _release(premiere)
    film = house.workshop.objects.get(first.film.key)
    assert film == house.workshop.objects.get(house.film(premiere.id).media.key)
    premiere.redo(stage="voices", shots=[0], prompt="再见，星星！")
    assert house.document(premiere.id, "published_video", PublishedVideo) == first
    second = _release(premiere)

    assert house.status(premiere.id).status == ProjectState.APPROVED
    for version, published in ((1, first), (2, second)):
        assert [one.key.rsplit("/", 1)[1] for one in (published.film, published.cover, published.manifest)] == [
            f"film-v{version}.mp4",
            f"cover-v{version}.png",
            f"manifest-v{version}.json",
        ]
        manifest = json.loads(house.workshop.objects.get(published.manifest.key))
        assert manifest["film"]["sha256"] == sha256_hex(house.workshop.objects.get(published.film.key))
        assert (manifest["approved_by"], manifest["version"]) == ("ann", version)
    assert house.workshop.objects.get(first.film.key) == film


def _release(premiere: Premiere) -> PublishedVideo:
    premiere.house.ask(SubmissionKind.REVIEW, {"decision": "approve", "by": "ann"}, project_id=premiere.id)
    premiere.house.go_on(premiere.id)
    assert premiere.house.stages_run == ["release"]
    return premiere.house.document(premiere.id, "published_video", PublishedVideo)
