"""What a film will probably cost, before anything is asked of anybody: the very requests that the stages would send, priced.

The storyboard does not exist yet, so the offline storyteller's stands in for it: numbers and lengths of shots are the bucket's,
and a line has about as many words.
"""

from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.storyboard import build_storyboard
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.providers.interface import Picture
from comic_pipeline.providers.offline.story import write_story
from comic_pipeline.stages import motion, pictures, sound, story
from comic_pipeline.stages.studio import Commission
from comic_pipeline.work.orders import Order

_STAND_IN = b"\x89PNG stand-in"


class Estimate(BaseModel):
    """CNY by stage and in all."""

    model_config = ConfigDict(frozen=True)

    storyboard: Decimal
    frames: Decimal
    voices: Decimal
    clips: Decimal
    total: Decimal


def estimate_film(commission: Commission) -> Estimate:
    """The estimate for a project with its chosen providers.

    Raises ProviderFault(INPUT_INVALID) when a chosen model cannot make such a film.
    """
    project, bucket = commission.project, commission.project.bucket
    board = build_storyboard(write_story(story.subject_of(project)), shot_ms=bucket.shot_ms)
    media = MediaRef(key="-", sha256=sha256_hex(_STAND_IN), size=len(_STAND_IN), mime="image/png", width=1280, height=720)
    frame = Picture(media=media, data=_STAND_IN)
    costs = {
        "storyboard": _price(story.order_of(commission, take=0)),
        "frames": sum((_price(pictures.order_of(commission, board, shot, take=0)) for shot in board.shots), ZERO),
        "voices": sum((_price(sound.order_of(commission, shot, take=0, voice="")) for shot in board.shots if shot.spoken), ZERO),
        "clips": sum((_price(motion.order_of(commission, shot, frame, take=0)) for shot in board.shots), ZERO),
    }
    return Estimate(**costs, total=sum(costs.values(), ZERO))


def _price(order: Order[Any]) -> Decimal:
    return order.provider.estimate(order.request)
