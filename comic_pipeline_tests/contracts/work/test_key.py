"""The key: the same input is made once, whoever asks and however often; anything that changes the result is new work."""

import asyncio
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest

from comic_pipeline.work.clock import SystemClock
from comic_pipeline.work.orders import Delivered, Order
from comic_pipeline.work.runner import make, make_all
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.work.bench import Bench, an_order
from comic_pipeline_tests.fakes import ScriptedProvider, Wish, delivery


@pytest.mark.parametrize("craft", ["images", "videos"])
def test_the_same_input_is_made_once_and_then_free(
    bench: Bench, craft: str, images: ScriptedProvider, videos: ScriptedProvider
) -> None:
    """Toonflow #191: the second run of a stage finds its files; no call of any kind, the first cost is shown."""
    provider = {"images": images, "videos": videos}[craft]
    first = bench.make(an_order(provider))
    looked, served = len(provider.looked), len(provider.served)
    second = bench.make(an_order(provider))
    assert second.media == first.media
    assert bench.objects.get(second.media.key) == delivery("cat")
    assert (first.made.reused, second.made.reused) == (False, True)
    assert first.made.cost == second.made.cost == provider.price == bench.spent()
    assert (len(provider.sent), len(provider.looked), len(provider.served)) == (1, looked, served)


@pytest.mark.parametrize(
    "change",
    [
        {"request": Wish("cat", size="1080p")},
        {"request": Wish("dog")},
        {"template_hash": "template-2"},
        {"inputs": ("another picture",)},
        {"take": 1},
        {"shot_seq": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_anything_that_changes_the_result_is_new_work(bench: Bench, images: ScriptedProvider, change: dict[str, Any]) -> None:
    """A parameter, the prompt, its template, the picture that goes in, an operator's new take: each is made and paid."""
    bench.make(an_order(images))
    changed = bench.make(replace(an_order(images), **change))
    assert not changed.made.reused
    assert len(images.sent) == 2


def test_another_model_is_new_work(bench: Bench, images: ScriptedProvider) -> None:
    """Also at the same provider with the same words."""
    bench.make(an_order(images))
    other = ScriptedProvider(bench.clock, name="images", model="model-2")
    assert bench.make(an_order(other)).made.model == "model-2"
    assert (len(images.sent), len(other.sent)) == (1, 1)


def test_projects_do_not_share(bench: Bench, images: ScriptedProvider) -> None:
    """Another film pays for its own files, and only from a run of its own."""
    bench.make(an_order(images))
    bench.begin(a_project("p2", user_id="user-2"))
    other = an_order(images, project_id="p2")
    assert bench.refused(other).code == "CONFLICT"
    assert not bench.make(other, desk=bench.desk("w2", project_id="p2")).made.reused
    assert (len(bench.tasks()), len(images.sent)) == (1, 2)


@pytest.mark.parametrize("craft", ["images", "videos"])
def test_two_runs_that_want_the_same_make_it_once(
    bench: Bench, craft: str, images: ScriptedProvider, videos: ScriptedProvider
) -> None:
    """The second joins the first: it waits while the first one works, and gets the output."""
    provider = {"images": images, "videos": videos}[craft]
    provider.plan("submit", lambda: bench.clock.sleep(90))
    order = an_order(provider)

    async def both() -> tuple[Delivered, Delivered]:
        return await asyncio.gather(make(bench.desk("w1"), order), make(bench.desk("w2"), order))

    first, second = bench.clock.run(both())
    assert first.media == second.media
    assert (first.made.reused, second.made.reused) == (False, True)
    assert first.made.seconds == second.made.seconds >= 90
    assert (len(provider.sent), bench.spent()) == (1, provider.price)


def test_racing_processes_make_it_once(bench: Bench, database_url: str) -> None:
    """The same with real time, threads and connections of their own, four of them, all at once."""
    images = ScriptedProvider(SystemClock(), name="images")
    images.always("submit", lambda: asyncio.sleep(0.05))
    orders: list[Order[Wish]] = [an_order(images, words, seq=seq) for seq, words in enumerate(("cat", "dog"))]
    done: list[tuple[Delivered, ...]] = []

    def work(name: str) -> None:
        database = type(bench.database)(database_url)
        desk = bench.desk(name, database=database, clock=SystemClock())
        done.append(asyncio.run(make_all(desk, orders)).delivered)
        database.close()

    threads = [Thread(target=work, args=(name,)) for name in ("w1", "w2", "w3", "w4")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(done) == 4
    assert len({tuple(one.media for one in delivered) for delivered in done}) == 1
    assert sorted(sent.wish.words for sent in images.sent) == ["cat", "dog"]
    assert bench.spent() == 2 * images.price
