"""Placing the cast: camera and positions, the hero, the companion, things in the air, on the ground and in the hand.

Belongs here: where everything stands and how a figure is lit. Does not: drawing any single figure or thing
(`panel_animals.py`, `panel_people.py`, `panel_creatures.py`, `panel_props.py`).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from comic_pipeline.providers.offline.panel_animals import SPECIES, draw_animal
from comic_pipeline.providers.offline.panel_creatures import CREATURES, draw_creature
from comic_pipeline.providers.offline.panel_figures import POSES, Coat, coat_of, draw_emotion
from comic_pipeline.providers.offline.panel_looks import Look, mix, veil
from comic_pipeline.providers.offline.panel_pen import Pen
from comic_pipeline.providers.offline.panel_people import draw_person
from comic_pipeline.providers.offline.panel_props import AIRBORNE, GLOWING, HELD, PROPS, draw_living_prop, draw_prop
from comic_pipeline.providers.offline.panel_reading import PanelPlan
from comic_pipeline.providers.offline.panel_world import FINE, Camera, World
from comic_pipeline.providers.offline.story_chance import Chance

if TYPE_CHECKING:
    from PIL.Image import Image

_HELD_SIZES = {"balloon": 0.6, "umbrella": 0.85, "sword": 0.5}

_CAMERAS = ("wide", "medium", "close")


@dataclass(frozen=True)
class Stage:
    """Where the camera and the hero are. Lengths in world units; `side` is 1 when the hero stands right of the middle."""

    side: int
    hero_x: float
    friend_x: float
    foot: float
    tall: float
    camera: Camera

    @classmethod
    def of(cls, plan: PanelPlan, *, wide: bool, tall: bool, chance: Chance) -> "Stage":
        """The stage for this plan in a picture that is wide, tall or neither (square)."""
        sizes = (0.4, 0.56, 0.94) if wide else (0.48, 0.55, 0.85) if tall else (0.38, 0.5, 0.76)
        at = _CAMERAS.index(plan.camera)
        spread = 1.35 if wide else 0.82
        side = 1 if chance.likely(0.5) else -1
        apart = {"wide": 0.2, "medium": 0.25, "close": 0.28}[plan.camera] * spread
        horizon = {"wide": 0.62, "medium": 0.57, "close": 0.5}[plan.camera]
        zoom = {"wide": 1.0, "medium": 1.22, "close": 1.6}[plan.camera]
        # Feet in world units below the horizon; near the camera they are outside the picture. In a tall film the subtitles stand
        # higher (players cover the lowest fifth): so does the figure, or they would lie on its face.
        room = 1 - horizon
        feet = (0.66 * room, 0.8 * room, room + (0.22 if wide else 0.1)) if not tall else (0.28, 0.42, 0.76)
        return cls(
            side=side,
            hero_x=side * apart * chance.between(0.85, 1.1),
            friend_x=-side * apart * chance.between(0.95, 1.2),
            foot=feet[at],
            tall=sizes[at],
            camera=Camera(pan=chance.between(-0.22, 0.22), zoom=zoom, horizon=horizon),
        )


def draw_cast(world: World, plan: PanelPlan, stage: Stage, *, identity: str, chance: Chance) -> None:
    """Draw, back to front: things behind, companion, hero, things before them."""
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


def _draw_hero(world: World, plan: PanelPlan, stage: Stage, coat: Coat, *, held: str) -> None:
    # A thing in the hand must not cover the face.
    pose_name = plan.pose
    if held in ("book", "letter", "sword") and POSES[pose_name].right_hand[1] < -0.45:
        pose_name = "reach"
    pose = POSES[pose_name]
    layer = _Layer.blank(world, tall=stage.tall, flip=stage.side > 0, lean=pose.lean)
    _draw_figure(layer.pen, world.look, coat, kind=plan.hero, plan=plan, pose_name=pose_name)
    draw_emotion(layer.pen, world.look, mood=plan.mood)
    if held:
        hand = layer.pen.at(pose.right_hand[0] + 0.04, pose.right_hand[1] + 0.05, _HELD_SIZES.get(held, 0.42), turn=0.15)
        draw_prop(hand, world.look, kind=held, colour=coat.accent)
        if held in GLOWING:
            world.shine(
                world.at_depth(0.0),
                (
                    stage.hero_x - stage.side * pose.right_hand[0] * stage.tall,
                    stage.foot + (pose.right_hand[1] - 0.15) * stage.tall,
                ),
                0.2,
                world.look.light,
            )
    _shadow(world, stage.hero_x, stage.foot, stage.tall)
    if plan.pose == "run":
        _speed_lines(world, stage, chance=Chance("speed", stage.hero_x))
    layer.settle(world, x=stage.hero_x, y=stage.foot - pose.lift * stage.tall)


def _speed_lines(world: World, stage: Stage, *, chance: Chance) -> None:
    pen = world.at_depth(0.0)
    for _ in range(9):
        y = stage.foot - chance.between(0.1, 0.85) * stage.tall
        start = stage.hero_x + stage.side * stage.tall * chance.between(0.25, 0.4)
        pen.curve([(start, y), (start + stage.side * chance.between(0.1, 0.3), y)], veil(world.look.ink, 0.55), line=0.9)


def _draw_friend(world: World, plan: PanelPlan, stage: Stage, coat: Coat) -> None:
    kind, look = plan.companion, world.look
    alive_thing = kind in PROPS
    flying = kind in AIRBORNE or kind in ("ghost", "bird", "fish") or (plan.pose == "fly" and kind == "dragon")
    tall = stage.tall * (0.5 if alive_thing else 0.82 if kind not in ("dragon", "bear") else 1.0)
    foot = stage.foot - ((0.14 if plan.camera == "close" else 0.42) * stage.tall if flying else 0.0)
    if plan.camera == "close" and (alive_thing or not flying):
        foot -= 0.12 * stage.tall
    layer = _Layer.blank(world, tall=tall, flip=stage.side < 0, lean=0.0)
    mood = "happy" if plan.mood in ("happy", "calm") else plan.mood
    if alive_thing:
        draw_living_prop(layer.pen, look, coat, kind=kind, mood=mood)
    else:
        friend_plan = replace(plan, mood=mood)
        _draw_figure(
            layer.pen,
            look,
            coat,
            kind=kind,
            plan=friend_plan,
            pose_name="wave" if plan.pose in ("wave", "stand", "look") else "stand",
        )
    if kind in GLOWING or kind == "ghost":
        world.shine(
            world.at_depth(0.0),
            (stage.friend_x, foot - 0.5 * tall),
            tall * 1.15,
            mix(look.light, (255, 240, 190), 0.5),
            strength=0.6,
        )
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


def _draw_loose(world: World, stage: Stage, kinds: list[str], *, coat: Coat, chance: Chance) -> None:
    """Things in the air: around the companion's place and above, several of each."""
    half = world.image.width / world.short / 2
    for kind in kinds:
        for number in range(5 if kind in ("note", "sparkle", "star") else 2):
            x = (
                (number - 2) * 0.36 * half + chance.between(-0.08, 0.08)
                if kind != "note"
                else stage.friend_x + (number - 2) * 0.11
            )
            y = world.top * chance.between(0.12, 0.5) if kind != "note" else stage.foot - stage.tall * chance.between(0.95, 1.25)
            size = chance.between(0.05, 0.09) * (1.0 if stage.tall < 0.8 else 1.4)
            if abs(x - stage.hero_x) < 0.3 * stage.tall and y > stage.foot - 1.25 * stage.tall:
                continue
            pen = world.at_depth(0.0).at(x, y, size, turn=chance.between(-0.25, 0.25))
            px, py = pen.px((0.0, -0.5))
            if any((px - orb.x) ** 2 + (py - orb.y) ** 2 < (orb.reach + 0.6 * size * world.short) ** 2 for orb in world.orbs):
                continue
            draw_prop(pen, world.look, kind=kind, colour=chance.pick((coat.cloth, coat.accent, world.look.light)))
            if kind in GLOWING:
                world.shine(pen, (0.0, -0.5), 1.5, mix(world.look.light, (255, 240, 190), 0.4), strength=0.5)


def _draw_standing(world: World, stage: Stage, kinds: list[str], *, coat: Coat, chance: Chance, before: bool) -> None:
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
            crowded = abs(x - stage.hero_x) < 0.3 * stage.tall or abs(x - stage.friend_x) < 0.3 * stage.tall
            if before and many and crowded:
                continue
            size = (0.15 if many else 0.18) * (1.15 if before else 0.85) * (1.5 if stage.tall > 0.8 else 1.0)
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
        from PIL import Image, ImageDraw

        pixels = tall * world.short
        sheet = Image.new("RGBA", (round(1.7 * pixels), round(1.9 * pixels)), (*world.look.ink, 0))
        line = max(2.0, world.look.line * world.short * (0.8 + 0.5 * min(1.0, tall)))
        pen = Pen(
            draw=ImageDraw.Draw(sheet),
            x=0.85 * pixels,
            y=1.65 * pixels,
            size=pixels,
            ink=world.look.ink,
            line=line,
            brush=world.look.brush,
        )
        return cls(sheet=sheet, pen=pen.at(0.0, 0.0, flip=flip, turn=-lean if flip else lean), tall=tall)

    def settle(self, world: World, *, x: float, y: float) -> None:
        """Shade the figure, light its edge, and put its feet at (x, y) of the picture."""
        from PIL import ImageChops

        pixels = self.tall * world.short
        reach = max(2, round(0.05 * pixels))
        left = round(world.image.width / 2 + x * world.short - 0.85 * pixels)
        upper = round(world.image.height * world.camera.horizon + y * world.short - 1.65 * pixels)
        # Only what is drawn and seen, with a margin for the shifted outlines: a near figure's sheet is 13 megapixels.
        drawn = self.sheet.getbbox() or (0, 0, 1, 1)
        box = (
            max(drawn[0], -left) - reach,
            max(drawn[1], -upper) - reach,
            min(drawn[2], world.image.width - left) + reach,
            min(drawn[3], world.image.height - upper) + reach,
        )
        if box[0] >= box[2] or box[1] >= box[3]:
            return
        sheet = self.sheet.crop(box)
        alpha = sheet.getchannel("A")
        colours = sheet.convert("RGB")
        hard = world.look.key in ("suspense", "cyber")
        shaded = ImageChops.subtract(alpha, ImageChops.offset(alpha, -reach, -reach // 2))
        deep = 0.42 if hard else 0.2
        colours.paste(mix(world.look.ink, (30, 20, 70), 0.5), (0, 0), shaded.point(lambda value: round(value * deep)))
        lit = ImageChops.subtract(alpha, ImageChops.offset(alpha, reach // 4, reach // 4))
        bright = world.look.light if world.look.key in ("cyber", "fantasy") else mix(world.look.light, (255, 255, 255), 0.5)
        glow = 0.75 if hard else 0.34
        colours.paste(bright, (0, 0), lit.point(lambda value: round(value * glow)))
        at = (left + box[0], upper + box[1])
        world.image.paste(colours, at, alpha)
        small = alpha.reduce(FINE)
        world.cast.paste(small, (at[0] // FINE, at[1] // FINE), small)
