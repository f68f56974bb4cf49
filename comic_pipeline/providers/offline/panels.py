"""The comic artist that needs no network: one shot in words in, one drawn panel as PNG out.

Belongs here: `OfflineImage` and how a panel is put together: stage, cast, things, print, lettering. Does not: reading the words
(`panel_reading.py`), drawing any single thing (`panel_scenery*.py`, `panel_animals.py`, …), effects (`panel_finish.py`).
"""

import asyncio
import io
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Frame, film_size
from comic_pipeline.model.style import STYLES
from comic_pipeline.providers.interface import Done, ImageRequest, Inline, JsonObject
from comic_pipeline.providers.offline import AnswersAtOnce
from comic_pipeline.providers.offline.panel_animals import SPECIES, draw_animal
from comic_pipeline.providers.offline.panel_creatures import CREATURES, draw_creature
from comic_pipeline.providers.offline.panel_figures import POSES, Coat, coat_of, draw_emotion
from comic_pipeline.providers.offline.panel_finish import add_glow, add_weather, print_style
from comic_pipeline.providers.offline.panel_lettering import Caption, add_caption, add_frame
from comic_pipeline.providers.offline.panel_looks import Look, look_of, mix, veil
from comic_pipeline.providers.offline.panel_pen import Pen
from comic_pipeline.providers.offline.panel_people import draw_person
from comic_pipeline.providers.offline.panel_props import AIRBORNE, GLOWING, HELD, PROPS, draw_living_prop, draw_prop
from comic_pipeline.providers.offline.panel_reading import PanelPlan, plan_panel
from comic_pipeline.providers.offline.panel_scenery import SETTINGS, draw_foreground
from comic_pipeline.providers.offline.panel_world import Camera, World
from comic_pipeline.providers.offline.story_chance import Chance

if TYPE_CHECKING:
    from PIL.Image import Image

# Room for camera moves: the panel is half again as large as the film.
PANEL_SCALE = 1.5
# Drawn at twice the size and reduced: that makes the edges smooth.
_FINE = 2


class OfflineImage(AnswersAtOnce):
    """Draws comic panels. Equal requests give equal bytes."""

    name = "offline_image"
    model = "offline-panels-1"
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

    async def submit(self, request: ImageRequest) -> Done:
        """The panel as PNG. Raises ProviderFault(INPUT_INVALID) for an unknown style."""
        data = await asyncio.to_thread(draw_panel, request)
        return Done(output=Inline(data), usage={}, cost=Decimal(0))


def panel_size(request: ImageRequest) -> Frame:
    """The panel's size in pixels."""
    film = film_size(request.aspect, request.resolution)
    return Frame(width=round(film.width * PANEL_SCALE), height=round(film.height * PANEL_SCALE))


def draw_panel(request: ImageRequest) -> bytes:
    """PNG bytes of the panel. CPU work of about a second: call it in a thread. Raises ProviderFault(INPUT_INVALID)."""
    from PIL import Image  # noqa: PLC0415 - Pillow is loaded only when something is drawn

    look, size, subject = _look_for(request), panel_size(request), request.subject
    plan = plan_panel(subject, prompt=request.prompt, usual_time=look.usual_time)
    chance = Chance("panel", subject.identity, subject.seq, request.seed, subject.scene)
    stage = _Stage.of(plan, wide=size.width > size.height, tall=size.height > size.width, chance=chance)
    canvas = Image.new("RGB", (size.width * _FINE, size.height * _FINE))
    world = _world(canvas, look, plan, stage, key=f"{subject.identity} {plan.setting}")
    SETTINGS[plan.setting](world)
    _draw_cast(world, plan, stage, identity=subject.identity, chance=chance)
    draw_foreground(world, plan.setting)
    picture = add_glow(canvas.reduce(_FINE), world.glows, cast=world.cast, scale=1 / _FINE)
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


@dataclass(frozen=True)
class _Stage:
    """Where the camera and the hero are. Lengths in world units; `side` is 1 when the hero stands right of the middle."""

    side: int
    hero_x: float
    friend_x: float
    foot: float
    tall: float
    camera: Camera

    @classmethod
    def of(cls, plan: PanelPlan, *, wide: bool, tall: bool, chance: Chance) -> "_Stage":
        height = {"wide": 0.4, "medium": 0.56, "close": 0.94}[plan.camera] * (1.12 if tall else 1.0)
        spread = 1.35 if wide else 0.82
        side = 1 if chance.likely(0.5) else -1
        apart = {"wide": 0.2, "medium": 0.25, "close": 0.28}[plan.camera] * spread
        horizon = {"wide": 0.62, "medium": 0.57, "close": 0.5}[plan.camera]
        zoom = {"wide": 1.0, "medium": 1.22, "close": 1.6}[plan.camera]
        # Feet in world units below the horizon; near the camera they are outside the picture.
        room = (1 - horizon) * (1.0 if not tall else 1.6)
        foot = {"wide": 0.66 * room, "medium": 0.8 * room, "close": room + 0.22}[plan.camera]
        return cls(
            side=side,
            hero_x=side * apart * chance.between(0.85, 1.1),
            friend_x=-side * apart * chance.between(0.95, 1.2),
            foot=foot,
            tall=height,
            camera=Camera(pan=chance.between(-0.22, 0.22), zoom=zoom, horizon=horizon),
        )


def _world(canvas: "Image", look: Look, plan: PanelPlan, stage: _Stage, *, key: str) -> World:
    from PIL import Image, ImageDraw  # noqa: PLC0415 - Pillow is loaded only when something is drawn

    short = float(min(canvas.size))
    cast = Image.new("L", (canvas.width // _FINE, canvas.height // _FINE))
    pen = Pen(
        draw=ImageDraw.Draw(canvas, "RGBA"), x=0, y=0, size=short, ink=look.ink, line=look.line * short * 0.8, brush=look.brush
    )
    return World(image=canvas, pen=pen, look=look, time=plan.time, key=key, camera=stage.camera, short=short, cast=cast)


def _draw_cast(world: World, plan: PanelPlan, stage: _Stage, *, identity: str, chance: Chance) -> None:
    """Things behind, companion, hero, things before them."""
    look = world.look
    hero = coat_of(plan.hero, look, identity=identity, role="hero")
    things = [prop for prop in plan.props if prop != plan.companion]
    held = next((prop for prop in things if prop in HELD), "")
    loose = [prop for prop in things if prop != held]
    _draw_loose(world, stage, [prop for prop in loose if prop in AIRBORNE], coat=hero, chance=chance)
    _draw_standing(world, stage, [prop for prop in loose if prop not in AIRBORNE], coat=hero, chance=chance, before=False)
    if plan.companion:
        friend = coat_of(plan.companion, look, identity=identity, role="friend")
        _draw_friend(world, plan, stage, friend)
    _draw_hero(world, plan, stage, hero, held=held)
    _draw_standing(world, stage, [prop for prop in loose if prop not in AIRBORNE], coat=hero, chance=chance, before=True)


def _draw_hero(world: World, plan: PanelPlan, stage: _Stage, coat: Coat, *, held: str) -> None:
    pose = POSES[plan.pose]
    layer = _Layer.blank(world, tall=stage.tall, flip=stage.side > 0, lean=pose.lean)
    _draw_figure(layer.pen, world.look, coat, kind=plan.hero, plan=plan, pose_name=plan.pose)
    draw_emotion(layer.pen, world.look, mood=plan.mood)
    if held:
        hand = layer.pen.at(pose.right_hand[0] + 0.02, pose.right_hand[1] + 0.05, 0.46 if held != "balloon" else 0.6, turn=0.15)
        draw_prop(hand, world.look, kind=held, colour=coat.accent)
        if held in GLOWING:
            world.shine(world.at_depth(0.0), (stage.hero_x - stage.side * 0.3 * stage.tall, stage.foot - 0.45 * stage.tall), 0.2, world.look.light)
    _shadow(world, stage.hero_x, stage.foot, stage.tall)
    if plan.pose == "run":
        _speed_lines(world, stage, chance=Chance("speed", stage.hero_x))
    layer.settle(world, x=stage.hero_x, y=stage.foot - pose.lift * stage.tall)


def _speed_lines(world: World, stage: _Stage, *, chance: Chance) -> None:
    pen = world.at_depth(0.0)
    for _ in range(9):
        y = stage.foot - chance.between(0.1, 0.85) * stage.tall
        start = stage.hero_x + stage.side * stage.tall * chance.between(0.25, 0.4)
        pen.curve([(start, y), (start + stage.side * chance.between(0.1, 0.3), y)], veil(world.look.ink, 0.55), line=0.9)


def _draw_friend(world: World, plan: PanelPlan, stage: _Stage, coat: Coat) -> None:
    kind, look = plan.companion, world.look
    alive_thing = kind in PROPS
    flying = kind in AIRBORNE or kind in ("ghost", "bird", "fish")
    tall = stage.tall * (0.5 if alive_thing else 0.82 if kind not in ("dragon", "bear") else 1.0)
    foot = stage.foot - (0.42 * stage.tall if flying else 0.0)
    if plan.camera == "close":
        foot -= 0.12 * stage.tall
    layer = _Layer.blank(world, tall=tall, flip=stage.side < 0, lean=0.0)
    mood = "happy" if plan.mood in ("happy", "calm") else plan.mood
    if alive_thing:
        draw_living_prop(layer.pen, look, coat, kind=kind, mood=mood)
    else:
        friend_plan = replace(plan, mood=mood)
        _draw_figure(layer.pen, look, coat, kind=kind, plan=friend_plan, pose_name="wave" if plan.pose in ("wave", "stand", "look") else "stand")
    if kind in GLOWING or kind == "ghost":
        world.shine(world.at_depth(0.0), (stage.friend_x, foot - 0.5 * tall), tall * 1.15, mix(look.light, (255, 240, 190), 0.5), strength=0.6)
    if not flying:
        _shadow(world, stage.friend_x, stage.foot if plan.camera != "close" else foot, tall)
    layer.settle(world, x=stage.friend_x, y=foot)


def _draw_figure(pen: Pen, look: Look, coat: Coat, *, kind: str, plan: PanelPlan, pose_name: str) -> None:
    pose = POSES[pose_name]
    if kind in SPECIES:
        draw_animal(pen, look, coat, kind=kind, pose=pose, mood=plan.mood)
    elif kind in CREATURES:
        draw_creature(pen, look, coat, kind=kind, pose=pose, mood=plan.mood)
    else:
        draw_person(pen, look, coat, kind=kind, pose=pose, mood=plan.mood)


def _shadow(world: World, x: float, foot: float, tall: float) -> None:
    world.at_depth(0.0).oval((x, foot), 0.27 * tall, 0.05 * tall, veil(mix(world.look.ink, (0, 0, 30), 0.5), 0.34), line=0)


def _draw_loose(world: World, stage: _Stage, kinds: list[str], *, coat: Coat, chance: Chance) -> None:
    """Things in the air: around the companion's place and above, several of each."""
    half = world.image.width / world.short / 2
    for kind in kinds:
        for number in range(5 if kind in ("note", "sparkle", "star") else 2):
            x = (number - 2) * 0.36 * half + chance.between(-0.08, 0.08) if kind != "note" else stage.friend_x + (number - 2) * 0.11
            y = world.top * chance.between(0.12, 0.5) if kind != "note" else stage.foot - stage.tall * chance.between(0.95, 1.25)
            size = chance.between(0.05, 0.09) * (1.0 if stage.tall < 0.8 else 1.4)
            if abs(x - stage.hero_x) < 0.3 * stage.tall and y > stage.foot - 1.25 * stage.tall:
                continue
            pen = world.at_depth(0.0).at(x, y, size, turn=chance.between(-0.25, 0.25))
            draw_prop(pen, world.look, kind=kind, colour=chance.pick((coat.cloth, coat.accent, world.look.light)))
            if kind in GLOWING:
                world.shine(pen, (0.0, -0.5), 1.5, mix(world.look.light, (255, 240, 190), 0.4), strength=0.5)


def _draw_standing(world: World, stage: _Stage, kinds: list[str], *, coat: Coat, chance: Chance, before: bool) -> None:
    """Things on the ground: a row behind the figures, or single ones before and beside them."""
    half = world.image.width / world.short / 2 - 0.12
    for kind in kinds:
        many = kind == "flower"
        spots = 9 if many else 1
        for number in range(spots):
            share = (number + chance.between(0.2, 0.8)) / spots
            x = -half + 2 * half * share if many else -stage.side * half * 0.75
            near = chance.between(0.0, 1.0) > 0.5 if many else True
            if near != before:
                continue
            foot = min(stage.foot, world.bottom * 0.8)
            y = foot + (0.07 if before else -0.06) + chance.between(-0.02, 0.02)
            if before and abs(x - stage.hero_x) < 0.28 * stage.tall:
                x += 0.34 * stage.tall * (1 if x > stage.hero_x else -1)
            size = (0.15 if many else 0.24) * (1.15 if before else 0.85) * (1.5 if stage.tall > 0.8 else 1.0)
            pen = world.at_depth(0.0).at(x, min(y, world.bottom - 0.05), size, turn=chance.between(-0.06, 0.06))
            colour = world.look.tone(chance.pick(((255, 143, 171), (255, 255, 255), (196, 167, 255), coat.accent, coat.cloth)))
            draw_prop(pen, world.look, kind=kind, colour=colour)


@dataclass(frozen=True)
class _Layer:
    """A sheet for one figure, so that light and shadow follow its outline. `pen` stands at the figure's feet."""

    sheet: "Image"
    pen: Pen
    tall: float

    @classmethod
    def blank(cls, world: World, *, tall: float, flip: bool, lean: float) -> "_Layer":
        from PIL import Image, ImageDraw  # noqa: PLC0415 - Pillow is loaded only when something is drawn

        pixels = tall * world.short
        sheet = Image.new("RGBA", (round(1.7 * pixels), round(1.9 * pixels)), (*world.look.ink, 0))
        line = max(2.0, world.look.line * world.short * (0.8 + 0.5 * min(1.0, tall)))
        pen = Pen(
            draw=ImageDraw.Draw(sheet), x=0.85 * pixels, y=1.65 * pixels, size=pixels, ink=world.look.ink, line=line, brush=world.look.brush
        )
        return cls(sheet=sheet, pen=pen.at(0.0, 0.0, flip=flip, turn=-lean if flip else lean), tall=tall)

    def settle(self, world: World, *, x: float, y: float) -> None:
        """Shade the figure, light its edge, and put its feet at (x, y) of the picture."""
        from PIL import ImageChops  # noqa: PLC0415 - Pillow is loaded only when something is drawn

        pixels = self.tall * world.short
        alpha = self.sheet.getchannel("A")
        reach = max(2, round(0.05 * pixels))
        shaded = ImageChops.subtract(alpha, ImageChops.offset(alpha, -reach, -reach // 2))
        lit = ImageChops.subtract(alpha, ImageChops.offset(alpha, reach // 4, reach // 4))
        deep = 0.42 if world.look.key in ("suspense", "cyber") else 0.2
        self.sheet.paste(mix(world.look.ink, (30, 20, 70), 0.5), (0, 0), shaded.point(lambda value: round(value * deep)))
        bright = world.look.light if world.look.key in ("cyber", "fantasy") else mix(world.look.light, (255, 255, 255), 0.5)
        glow = 0.75 if world.look.key in ("cyber", "suspense") else 0.34
        self.sheet.paste(bright, (0, 0), lit.point(lambda value: round(value * glow)))
        self.sheet.putalpha(alpha)
        at_x = world.image.width / 2 + x * world.short - 0.85 * pixels
        at_y = world.image.height * world.camera.horizon + y * world.short - 1.65 * pixels
        world.image.paste(self.sheet.convert("RGB"), (round(at_x), round(at_y)), alpha)
        small = alpha.reduce(_FINE)
        world.cast.paste(small, (round(at_x / _FINE), round(at_y / _FINE)), small)
