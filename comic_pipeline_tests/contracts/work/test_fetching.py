"""From the provider's link to our store: a download that fails is repeated for long, and never makes a create."""

from decimal import Decimal

import pytest

from comic_pipeline.model.errors import ErrorCode, MediaFault, ProviderFault, StorageFault
from comic_pipeline.model.task import TaskStatus, sha256_hex
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.providers.interface import Done, JobStatus, Phase, Remote
from comic_pipeline.store import attempts
from comic_pipeline.work.orders import PostponedError, Verified
from comic_pipeline_tests.contracts.work.bench import Bench, an_order
from comic_pipeline_tests.fakes import ScriptedProvider, delivery

# Nothing here depends on the kind of database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

BROKEN_OFF = ProviderFault(ErrorCode.PROVIDER_ERROR, "the download broke off")
GONE = ProviderFault(ErrorCode.REF_URL_UNREACHABLE, "the link has expired", http_status=403)
CUT = delivery("cat")[:-2]


class FailingStore(FolderStore):
    """A folder that refuses the next `away` writes, or every delete."""

    away = 0
    keeps_all = False
    full = False

    def check_room(self) -> None:
        """As the folder, unless it is full."""
        if self.full:
            raise StorageFault("the store is full")
        super().check_room()

    def put(self, key: str, data: bytes, *, mime: str) -> None:
        """As the folder, when it is there."""
        if self.away:
            self.away -= 1
            raise StorageFault("the store is away")
        super().put(key, data, mime=mime)

    def delete(self, key: str) -> None:
        """As the folder, when it may."""
        if self.keeps_all:
            raise StorageFault("deleting is not allowed here")
        super().delete(key)


@pytest.fixture
def failing(bench: Bench) -> FailingStore:
    """The bench's folder through a store that can fail."""
    return FailingStore(bench.folder, media_url="/media")


def test_the_file_is_stored_under_its_hash_with_its_numbers(bench: Bench, videos: ScriptedProvider) -> None:
    """What is stored is what was delivered; key, size and measures are the file's own."""
    media = bench.make(an_order(videos, seq=7)).media
    digest = sha256_hex(delivery("cat"))
    assert media.key == f"projects/p1/frames/007-{digest[:12]}.png"
    assert (media.sha256, media.size, media.width, media.height) == (digest, len(delivery("cat")), 4, 3)
    assert bench.objects.get(media.key) == delivery("cat")
    film = bench.make(an_order(videos, "film", seq=None)).media
    assert film.key == f"projects/p1/frames/{film.sha256[:12]}.png"


def test_downloads_that_fail_are_repeated(bench: Bench, videos: ScriptedProvider) -> None:
    """Five failures, one file, one create."""
    videos.plan("fetch", *[BROKEN_OFF] * 5)
    bench.make(an_order(videos))
    assert (len(videos.sent), len(videos.served)) == (1, 6)


def test_an_outage_of_the_download_is_left_to_the_next_round(bench: Bench, videos: ScriptedProvider) -> None:
    """After two minutes the round gives up; the next one fetches and creates nothing."""
    videos.always("fetch", BROKEN_OFF)
    refused = bench.refused(an_order(videos))
    assert isinstance(refused, PostponedError)
    assert 110 <= bench.clock.elapsed <= 140
    videos.always("fetch", None)
    bench.make(an_order(videos))
    assert (len(videos.sent), bench.spent()) == (1, videos.price)


def test_a_cut_file_is_downloaded_again(bench: Bench, videos: ScriptedProvider) -> None:
    """A broken transfer looks like a broken file until it was fetched twice."""
    videos.plan("fetch", CUT)
    media = bench.make(an_order(videos)).media
    assert bench.objects.get(media.key) == delivery("cat")
    assert (len(videos.sent), len(videos.served)) == (1, 2)


def test_a_file_that_stays_broken_fails_with_its_cost_kept(bench: Bench, videos: ScriptedProvider) -> None:
    """It was paid and cannot be used: the books keep the cost, the next round makes a new one and pays for that too."""
    videos.plan("fetch", CUT, CUT)
    refused = bench.refused(an_order(videos))
    assert (isinstance(refused, PostponedError), refused.code) == (True, ErrorCode.PROVIDER_ERROR)
    (attempt,) = bench.attempts()
    assert (attempt.state, attempt.cost, attempt.provider_code) == ("failed", videos.price, "PROVIDER_ERROR")
    assert bench.make(an_order(videos)).made.cost == bench.spent() == videos.charged == 2 * videos.price


def test_a_free_file_that_stays_broken_stays_free(bench: Bench, local: ScriptedProvider) -> None:
    """The cost that was booked is kept, also when it is nothing."""

    def unusable(data: bytes) -> Verified:
        raise MediaFault(ErrorCode.PROVIDER_ERROR, f"{len(data)} bytes of nothing")

    bench.refused(an_order(local, verify=unusable))
    assert (bench.states(), bench.spent()) == (["failed"], Decimal(0))


def test_a_broken_file_at_the_very_last_look_is_no_crash(bench: Bench, videos: ScriptedProvider) -> None:
    """Seven failed downloads and then a cut file: an end with a code, and an attempt that is not looked at again."""
    videos.plan("fetch", *[BROKEN_OFF] * 7, CUT)
    refused = bench.refused(an_order(videos))
    assert (isinstance(refused, PostponedError), refused.code) == (True, ErrorCode.PROVIDER_ERROR)
    assert bench.states() == ["failed"]


def test_an_expired_link_of_a_job_is_asked_for_anew(bench: Bench, videos: ScriptedProvider) -> None:
    """As in huobao #53: the job's record has a fresh one; no create."""
    videos.plan("fetch", GONE)
    done = Done(Remote("https://results.example/fresh"), usage={}, cost=videos.price)
    videos.plan("poll", None, None, JobStatus(Phase.SUCCEEDED, word="succeeded", done=done))
    media = bench.make(an_order(videos)).media
    assert bench.objects.get(media.key) == delivery("fresh")
    assert (len(videos.sent), set(videos.looked), bench.spent()) == (1, {"job-1"}, videos.price)


def test_an_expired_link_that_stays_so_is_for_a_person(bench: Bench, videos: ScriptedProvider) -> None:
    """Not a create: an operator decides. The paid job stays known."""
    videos.always("fetch", GONE)
    refused = bench.refused(an_order(videos))
    assert (refused.code, len(videos.sent)) == (ErrorCode.REF_URL_UNREACHABLE, 1)
    assert (bench.task().status, bench.states()) == (TaskStatus.MANUAL_REQUIRED, ["succeeded"])


def test_an_unreachable_link_of_an_answer_is_for_a_person(bench: Bench) -> None:
    """As in huobao #70: REF_URL_UNREACHABLE at once, no retry. Within a day a retry still fetches the paid file."""
    images = ScriptedProvider(bench.clock, name="images", linked=True)
    images.plan("fetch", GONE)
    assert bench.refused(an_order(images)).code is ErrorCode.REF_URL_UNREACHABLE
    assert (bench.task().status, bench.states(), len(images.served)) == (TaskStatus.MANUAL_REQUIRED, ["succeeded"], 1)
    bench.retry()
    assert bench.make(an_order(images)).made.cost == images.price
    assert len(images.sent) == 1


def test_a_link_that_is_dead_for_good_does_not_block_a_retry(bench: Bench) -> None:
    """After a day the file is lost: it stays in the books, and a person's retry pays for a new one."""
    images = ScriptedProvider(bench.clock, name="images", linked=True)
    images.plan("fetch", GONE, GONE, GONE)
    bench.refused(an_order(images))
    bench.clock.advance(25 * 3_600)
    bench.retry()
    refused = bench.refused(an_order(images))
    assert (refused.code, bench.states()) == (ErrorCode.REF_URL_UNREACHABLE, ["failed"])
    bench.retry()
    assert bench.make(an_order(images)).made.cost == 2 * images.price


def test_an_old_link_that_is_only_hard_to_reach_is_not_given_up(bench: Bench) -> None:
    """Only a link that is gone is lost after a day: a provider that is away for a moment costs no second purchase."""
    images = ScriptedProvider(bench.clock, name="images", linked=True)
    images.plan("fetch", GONE)
    bench.refused(an_order(images))
    bench.clock.advance(25 * 3_600)
    bench.retry()
    images.plan("fetch", *[BROKEN_OFF] * 3)
    assert bench.make(an_order(images)).made.cost == images.price
    assert (len(images.sent), len(images.served), bench.states()) == (1, 5, ["succeeded"])


def test_staged_bytes_that_are_gone_are_made_again(bench: Bench, images: ScriptedProvider) -> None:
    """Somebody cleaned the store between two rounds: the loss is booked, and the task does not hang on it for ever."""
    order = an_order(images)
    bench.abandon(order)
    with bench.database.write() as connection:
        (attempt,) = attempts.of_task(connection, bench.task().task_id)
        attempts.mark_succeeded(
            connection, attempt, cost=images.price, result='{"staged":"staging/nothing"}', now=bench.clock.now()
        )
    refused = bench.refused(order)
    assert (isinstance(refused, PostponedError), refused.code) == (True, ErrorCode.STORAGE_FAILED)
    assert bench.make(order).made.cost == 2 * images.price


def test_a_store_that_is_away_for_a_moment_is_tried_again(bench: Bench, images: ScriptedProvider, failing: FailingStore) -> None:
    """Neither the answer's bytes nor the file are lost."""
    images.plan("submit", lambda: setattr(failing, "away", 3))
    bench.make(an_order(images), desk=bench.desk(objects=failing))
    assert (len(images.sent), bench.states()) == (1, ["succeeded"])


def test_a_store_that_stays_away_postpones_and_nothing_is_made_again(
    bench: Bench, videos: ScriptedProvider, failing: FailingStore
) -> None:
    """STORAGE_FAILED; the next round fetches the same job's file."""
    failing.away = 100
    refused = bench.refused(an_order(videos), desk=bench.desk(objects=failing))
    assert (isinstance(refused, PostponedError), refused.code) == (True, ErrorCode.STORAGE_FAILED)
    bench.make(an_order(videos))
    assert (len(videos.sent), bench.spent()) == (1, videos.price)


def test_what_could_not_be_kept_is_not_bought(
    bench: Bench, images: ScriptedProvider, videos: ScriptedProvider, failing: FailingStore
) -> None:
    """An answer that comes once was bought beside a full disk, lost, and bought again. A job's result waits at the provider."""
    failing.full = True
    refused = bench.refused(an_order(images), desk=bench.desk(objects=failing))
    assert isinstance(refused, PostponedError)
    assert refused.postponed.code is ErrorCode.STORAGE_FAILED
    assert (images.sent, bench.states()) == ([], [])
    bench.make(an_order(videos), desk=bench.desk(objects=failing))
    failing.full = False
    bench.make(an_order(images), desk=bench.desk(objects=failing))
    assert (len(images.sent), len(videos.sent)) == (1, 1)


def test_bytes_that_are_paid_are_held_for_minutes(bench: Bench, images: ScriptedProvider, failing: FailingStore) -> None:
    """A store that is away for three minutes after the answer has come: kept in memory, stored, paid once."""
    images.plan("submit", lambda: setattr(failing, "away", 11))
    began = bench.clock.elapsed
    bench.make(an_order(images), desk=bench.desk(objects=failing))
    assert (len(images.sent), bench.states()) == (1, ["succeeded"])
    assert bench.clock.elapsed - began > 150


def test_left_over_staging_is_no_failure(bench: Bench, images: ScriptedProvider, failing: FailingStore) -> None:
    """The file is stored, booked and free from now on; only its staged copy could not be removed."""
    failing.keeps_all = True
    made = bench.make(an_order(images), desk=bench.desk(objects=failing))
    assert (bench.task().status, made.made.cost) == (TaskStatus.SUCCESS, images.price)


def test_nothing_is_left_in_staging(bench: Bench, images: ScriptedProvider) -> None:
    """Neither of a file that was made nor of one that was unusable."""
    bench.make(an_order(images, "cat", seq=0))
    bench.refused(an_order(images, "what?", seq=1))
    assert [found.key for found in bench.objects.list("staging/")] == []
