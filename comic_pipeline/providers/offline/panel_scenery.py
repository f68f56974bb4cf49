"""Which setting is drawn by whom, and what stands nearest to the camera.

Belongs here: the table of settings and the dark shapes at the lower corners that give depth. Does not: the settings
themselves (`panel_scenery_*.py`).
"""

from collections.abc import Callable

from comic_pipeline.providers.offline import panel_scenery_green as green
from comic_pipeline.providers.offline import panel_scenery_rooms as rooms
from comic_pipeline.providers.offline import panel_scenery_town as town
from comic_pipeline.providers.offline import panel_scenery_wild as wild
from comic_pipeline.providers.offline.panel_looks import Rgb, mix
from comic_pipeline.providers.offline.panel_pen import Pen
from comic_pipeline.providers.offline.panel_world import World, cloud

SETTINGS: dict[str, Callable[[World], None]] = {
    "moon": wild.moon, "space": wild.space, "forest": green.forest, "bamboo": green.bamboo, "sea": wild.sea,
    "undersea": wild.undersea,
    "mountain": green.mountain, "desert": wild.desert, "field": green.field, "snow": green.snow, "clouds": wild.clouds_land,
    "city": town.city, "street": town.street, "room": rooms.room, "library": rooms.library, "classroom": rooms.classroom,
    "temple": town.temple, "castle": town.castle,
}  # fmt: skip
_LEAFY = frozenset({"forest", "bamboo", "field", "mountain", "castle", "temple", "undersea"})
_ROCKY = frozenset({"moon", "desert", "snow", "space"})


def draw_foreground(world: World, setting: str) -> None:
    """Leaves or rocks at the lower corners, out of the figures' way."""
    pen = world.at_depth(0.0)
    edge = world.image.width / world.short / 2
    dark = mix(world.look.ink, world.look.heaven(world.time)[0], 0.32)
    for side in (-1, 1):
        if setting in _LEAFY:
            _leaves(pen, side * edge, world.bottom, side=side, colour=mix(dark, world.colour("#2f6b3f"), 0.45))
        elif setting in _ROCKY:
            rock = mix(dark, world.colour("#8d8698"), 0.5)
            x, y = side * edge, world.bottom
            pen.blob(
                [
                    (x + side * 0.1, y + 0.05),
                    (x + side * 0.08, y - 0.13),
                    (x - side * 0.05, y - 0.15),
                    (x - side * 0.16, y - 0.07),
                    (x - side * 0.24, y + 0.05),
                ],
                rock,
            )
        elif setting == "clouds":
            cloud(pen, (side * edge, world.bottom), 0.12, mix(world.look.heaven(world.time)[1], (255, 255, 255), 0.7), line=0.6)


def _leaves(pen: Pen, x: float, y: float, *, side: int, colour: Rgb) -> None:
    pen = pen.at(x, y, 1.0 if abs(x) > 0.6 else 0.66)
    x, y = 0.0, 0.0
    for number, (lean, tall) in enumerate(((0.02, 0.3), (0.1, 0.26), (0.17, 0.19), (0.23, 0.12), (-0.02, 0.18))):
        foot, tip = x - side * (0.02 + 0.035 * number), (x - side * lean * 1.25, y - tall)
        middle = ((foot + tip[0]) / 2, y - tall * 0.5)
        pen.blob(
            [
                (foot - 0.02, y + 0.04),
                (middle[0] - 0.03, middle[1]),
                tip,
                (middle[0] + 0.035, middle[1] + 0.02),
                (foot + 0.03, y + 0.04),
            ],
            colour,
            line=0.6,
        )
