"""The comic artist that needs no network: one shot in words in, one drawn panel as PNG out.

Belongs here: `OfflineImage` and how a panel is put together: stage, cast, things, print, lettering. Does not: reading the
words (`panel_reading.py`), placing figures (`panel_cast.py`), scenery (`panel_scenery*.py`), effects (`panel_finish.py`).
"""

import io
import json
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Frame, film_size
from comic_pipeline.model.style import STYLES
from comic_pipeline.providers.interface import Done, Go, ImageRequest, Inline, JsonObject, at_once
from comic_pipeline.providers.offline import AnswersAtOnce
from comic_pipeline.providers.offline.child import run_child
from comic_pipeline.providers.offline.panel_cast import Stage, draw_cast
from comic_pipeline.providers.offline.panel_finish import add_glow, add_weather, print_style
from comic_pipeline.providers.offline.panel_lettering import Caption, add_caption, add_frame
from comic_pipeline.providers.offline.panel_looks import Look, look_of
from comic_pipeline.providers.offline.panel_pen import Pen
from comic_pipeline.providers.offline.panel_reading import PanelPlan, plan_panel
from comic_pipeline.providers.offline.panel_scenery import SETTINGS, draw_foreground
from comic_pipeline.providers.offline.panel_world import FINE, World
from comic_pipeline.providers.offline.story_chance import Chance

if TYPE_CHECKING:
    from PIL.Image import Image

# Room for camera moves: the panel is half again as large as the film.
PANEL_SCALE = 1.5
# Seconds; a panel takes about one on a free core.
_TIMEOUT = 60.0


class OfflineImage(AnswersAtOnce):
    """Draws comic panels. Equal requests give equal bytes."""

    name = "offline_image"
    model = "offline-panels-2"
    base_url = "offline:"
    asynchronous = False
    offline = True

    def describe(self, request: ImageRequest) -> JsonObject:
        """Everything that decides the picture. Raises ProviderFault(INPUT_INVALID) for an unknown style."""
        _look_for(request)
        subject, size = request.subject, panel_size(request)
        return {
            "model": self.model,
            "prompt": request.prompt,
            "seed": request.seed,
            "width": size.width,
            "height": size.height,
            "identity": subject.identity,
            "style": subject.style_key,
            "title": subject.title,
            "seq": subject.seq,
            "scene": subject.scene,
            "caption": subject.caption,
        }

    def estimate(self, request: ImageRequest) -> Decimal:  # noqa: ARG002 - the provider protocol's signature
        """Nothing: no one is paid."""
        return Decimal(0)

    async def submit(self, request: ImageRequest, *, go: Go = at_once) -> Done:
        """The panel as PNG. Raises ProviderFault: INPUT_INVALID for an unknown style, else as `run_child` does."""
        await go()
        _look_for(request)
        child = ("-m", "comic_pipeline.providers.offline.panel_child")
        data = await run_child(child, json.dumps(asdict(request)).encode(), what="panel", limit=_TIMEOUT)
        return Done(output=Inline(data), usage={}, cost=Decimal(0))


def panel_size(request: ImageRequest) -> Frame:
    """The panel's size in pixels."""
    film = film_size(request.aspect, request.resolution)
    return Frame(width=round(film.width * PANEL_SCALE), height=round(film.height * PANEL_SCALE))


def draw_panel(request: ImageRequest) -> bytes:
    """PNG bytes of the panel. CPU work of about a second. Raises ProviderFault(INPUT_INVALID)."""
    from PIL import Image

    look, size, subject = _look_for(request), panel_size(request), request.subject
    plan = plan_panel(subject, prompt=request.prompt, usual_time=look.usual_time)
    chance = Chance("panel", subject.identity, subject.seq, request.seed, subject.scene)
    stage = Stage.of(plan, wide=size.width > size.height, tall=size.height > size.width, chance=chance)
    canvas = Image.new("RGB", (size.width * FINE, size.height * FINE))
    world = _world(canvas, look, plan, stage, key=f"{subject.identity} {plan.setting}")
    SETTINGS[plan.setting](world)
    draw_cast(world, plan, stage, identity=subject.identity, chance=chance)
    draw_foreground(world, plan.setting)
    picture = add_glow(canvas.reduce(FINE), world.glows, cast=world.cast, scale=1 / FINE)
    add_weather(picture, look, weather=plan.weather, chance=chance)
    picture = add_frame(print_style(picture, look, cast=world.cast, chance=chance), look)
    add_caption(picture, look, Caption(text=subject.caption, number=subject.seq + 1, left=stage.side > 0))
    target = io.BytesIO()
    picture.save(target, "PNG", compress_level=2)
    return target.getvalue()


def _look_for(request: ImageRequest) -> Look:
    style = STYLES.get(request.subject.style_key)
    if style is None:
        known = ", ".join(STYLES)
        raise ProviderFault(ErrorCode.INPUT_INVALID, f"offline_image has no style {request.subject.style_key!r}; one of: {known}")
    return look_of(style)


def _world(canvas: "Image", look: Look, plan: PanelPlan, stage: Stage, *, key: str) -> World:
    from PIL import Image, ImageDraw

    short = float(min(canvas.size))
    cast = Image.new("L", (canvas.width // FINE, canvas.height // FINE))
    pen = Pen(
        draw=ImageDraw.Draw(canvas, "RGBA"), x=0, y=0, size=short, ink=look.ink, line=look.line * short * 0.8, brush=look.brush
    )
    return World(image=canvas, pen=pen, look=look, time=plan.time, key=key, camera=stage.camera, short=short, cast=cast)
