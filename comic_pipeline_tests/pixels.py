"""Single pixels and their range as numbers; Pillow itself types them for pictures of every mode at once."""

from PIL import Image


def rgb(picture: Image.Image, at: tuple[int, int]) -> tuple[int, int, int]:
    """Red, green and blue (0 to 255) of one pixel of an RGB picture."""
    red, green, blue = _pixel(picture, at)
    return red, green, blue


def grey(picture: Image.Image, at: tuple[int, int]) -> int:
    """Brightness (0 to 255) of one pixel of an L picture."""
    (brightness,) = _pixel(picture, at)
    return brightness


def greys(picture: Image.Image) -> tuple[int, int]:
    """The darkest and the brightest pixel (0 to 255) of an L picture."""
    assert picture.mode == "L"
    data = picture.tobytes()
    return min(data), max(data)


def colour_ranges(picture: Image.Image) -> list[tuple[int, int]]:
    """The lowest and the highest value (0 to 255) in each channel of an RGB picture."""
    return [greys(channel) for channel in picture.split()]


def _pixel(picture: Image.Image, at: tuple[int, int]) -> bytes:
    left, top = at
    return picture.crop((left, top, left + 1, top + 1)).tobytes()
