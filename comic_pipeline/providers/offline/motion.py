"""The built-in video: a camera that moves over the first frame.

Belongs here: which move a prompt asks for, the path of the camera, and ffmpeg's arguments for it. Does not:
starting ffmpeg (`media/ffmpeg.py`).

Why the `perspective` filter: it samples at 1/256 of a pixel. The jitter of a dot (rms of the second difference of its position
over 5 s) is 0.01 to 0.04 px; `zoompan` on a still of four times the size rounds to its whole pixels and shakes by 0.2 to 0.4 px.
"""

import asyncio
import re
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from comic_pipeline.media.ffmpeg import run_ffmpeg
from comic_pipeline.model.errors import ErrorCode, MediaFault, ProviderFault
from comic_pipeline.model.project import FPS, Frame, film_size
from comic_pipeline.providers.interface import ClipRequest, Done, Go, Inline, JsonObject, at_once
from comic_pipeline.providers.offline import AnswersAtOnce

MAX_MS = 60_000
# How much of the picture's side the camera travels; by it the still is larger than the film (pan, tilt) or enlarged (push, pull).
TRAVEL = 0.14
# Seconds for any clip, and more for each second of film: 1080p takes about 1.5 s of two cores a second of film.
_TIMEOUT, _TIMEOUT_PER_SECOND = 60.0, 15.0
_COLOURS = {"out_color_matrix": "bt709", "out_range": "tv"}
# A clip is rendered again into the film, so quality and speed before size. Its bytes depend on nothing but the request.
_ENCODING = {
    "c:v": "libx264",
    "preset": "superfast",
    "crf": 17,
    "g": 2 * FPS,
    "pix_fmt": "yuv420p",
    "movflags": "+faststart",
    "map_metadata": -1,
    "fflags": "+bitexact",
    "flags:v": "+bitexact",
}
_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpg"}


class Move(StrEnum):
    """What the camera does. Pan and tilt name the way the camera goes; the picture goes the other way."""

    PAN_LEFT = "pan_left"
    PAN_RIGHT = "pan_right"
    TILT_UP = "tilt_up"
    TILT_DOWN = "tilt_down"
    PUSH = "push"
    PULL = "pull"


# Up to three words may stand between the verb and its direction: "pans slowly to the left".
_SIDEWAYS = r"\b(pans?|panning|trucks?|trucking|tracks?|tracking|slides?|sliding|camera moves)( \w+){0,3}? "
_UPRIGHT = r"\b(tilts?|tilting|cranes?|craning|pedestals?|camera moves)( \w+){0,3}? "
_DEPTH = r"\b(push|pushes|pushing|pulls?|pulling|zooms?|zooming|dolly|dollies|moves?|moving)([ -]\w+)?[ -]"
_LENS = r"镜头[^，。；,.;]{0,4}"
_DIRECTED = {
    Move.PAN_LEFT: _SIDEWAYS + r"left\b(?! to right)|\bright to left\b|左移|左摇|左横移|左平移|向左|[从由]右[向往到至]左",
    Move.PAN_RIGHT: _SIDEWAYS + r"right\b(?! to left)|\bleft to right\b|右移|右摇|右横移|右平移|向右|[从由]左[向往到至]右",
    Move.TILT_UP: _UPRIGHT + rf"up(wards?)?\b|\bcamera rises\b|上摇|上移|向上|{_LENS}(上升|升起|抬起)",
    Move.TILT_DOWN: _UPRIGHT + rf"down(wards?)?\b|\bcamera sinks\b|下摇|下移|向下|{_LENS}(下降|降下)",
    Move.PUSH: _DEPTH + rf"(in|closer)\b|推镜|推近|推进|推向|拉近|逼近|放大|{_LENS}推(?!拉)",
    Move.PULL: _DEPTH + rf"(out|back|away)\b|(?<!推)拉镜|拉远|拉开|后拉|拉出|后退|缩小|{_LENS}(?<!推)拉(?!近)",
}
_UNDIRECTED = (
    (r"\b(static|locked|fixed|still) (shot|camera)\b|固定镜头|静止镜头|定镜", (Move.PUSH,)),
    (r"\b(pans?|panning|tracking shot)\b|横移|平移|摇镜|移镜|跟拍|跟随", (Move.PAN_LEFT, Move.PAN_RIGHT)),
    (r"\b(tilts?|tilting|crane shot)\b|升降", (Move.TILT_UP, Move.TILT_DOWN)),
    (r"\b(zooms?|zooming|dolly)\b|变焦|推拉", (Move.PUSH, Move.PULL)),
)


def choose_move(prompt: str, *, seed: int) -> Move:
    """The move that the prompt's camera words (zh or en) ask for: the first with a direction, else the first kind of move.

    What the words leave open is decided by the seed. A prompt for a still camera gets a push: quality control stops still clips.
    """
    lowered = prompt.lower()
    directed = [(match.end(), move) for move, words in _DIRECTED.items() if (match := re.search(words, lowered))]
    if directed:
        return min(directed)[1]
    kinds = [(match.start(), moves) for words, moves in _UNDIRECTED if (match := re.search(words, lowered))]
    moves = min(kinds)[1] if kinds else tuple(Move)
    return moves[seed % len(moves)]


@dataclass(frozen=True)
class Window:
    """The part of the canvas that is seen, in pixels of the canvas."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class CameraPath:
    """A still of size `canvas` and the window over it at the first and the last frame."""

    canvas: Frame
    start: Window
    end: Window


def plan_path(move: Move, *, size: Frame) -> CameraPath:
    """The path of `move` for a film of `size`. Pan and tilt show the still pixel for pixel, push and pull up to TRAVEL larger."""
    width, height = float(size.width), float(size.height)
    if move in (Move.PUSH, Move.PULL):
        near = Window(
            width * TRAVEL / (1 + TRAVEL) / 2, height * TRAVEL / (1 + TRAVEL) / 2, width / (1 + TRAVEL), height / (1 + TRAVEL)
        )
        far = Window(0.0, 0.0, width, height)
        start, end = (far, near) if move is Move.PUSH else (near, far)
        return CameraPath(canvas=size, start=start, end=end)
    if move in (Move.PAN_LEFT, Move.PAN_RIGHT):
        travel = _even(size.width * TRAVEL)
        canvas = Frame(width=size.width + travel, height=size.height)
        near, far = Window(0.0, 0.0, width, height), Window(float(travel), 0.0, width, height)
    else:
        travel = _even(size.height * TRAVEL)
        canvas = Frame(width=size.width, height=size.height + travel)
        near, far = Window(0.0, 0.0, width, height), Window(0.0, float(travel), width, height)
    towards_zero = move in (Move.PAN_LEFT, Move.TILT_UP)
    return CameraPath(canvas=canvas, start=far if towards_zero else near, end=near if towards_zero else far)


def _even(length: float) -> int:
    return round(length / 2) * 2


def frame_count(duration_ms: int) -> int:
    """The whole number of film frames nearest to `duration_ms`, at least one."""
    return max(1, (duration_ms * FPS + 500) // 1000)


def camera_arguments(still: Path, clip: Path, path: CameraPath, *, size: Frame, frames: int) -> list[str]:
    """The arguments that make of a picture of any size a clip of `frames` frames of `size`.

    The still is scaled to cover the canvas once and then repeated, so a large picture costs its decoding once only.
    """
    import ffmpeg

    canvas = path.canvas
    # A damaged picture is an error, not half a picture.
    picture = ffmpeg.input(str(still), err_detect="explode", xerror=None, framerate=FPS)
    moved = (
        picture.filter("scale", canvas.width, canvas.height, force_original_aspect_ratio="increase", flags="lanczos", **_COLOURS)
        .filter("crop", canvas.width, canvas.height)
        .filter("format", "yuv420p")
        .filter("loop", loop=frames - 1, size=1)
        .filter("setpts", f"N/({FPS}*TB)")
        .filter("perspective", **_corners(path, size=size, frames=frames), interpolation="cubic", sense="source", eval="frame")
        .filter("crop", size.width, size.height, 0, 0)
        .filter("setsar", 1)
        .filter("setparams", color_primaries="bt709", color_trc="bt709", colorspace="bt709", range="tv")
    )
    arguments: list[str] = moved.output(str(clip), **{"frames:v": frames}, **_ENCODING).get_args()
    return arguments


def _corners(path: CameraPath, *, size: Frame, frames: int) -> dict[str, str]:
    """The four corners of the moving window, as expressions of the frame's number."""
    canvas, last = path.canvas, max(1, frames - 1)
    # `on` counts from 1. Half linear, half smoothstep: the camera starts and ends at half its mean speed and never stands still.
    time = f"((on-1)/{last})"
    eased = f"({time}/2+{time}*{time}*(3-2*{time})/2)"

    def at(first: float, final: float) -> str:
        return f"{first:.4f}+({final - first:.4f})*{eased}"

    # The filter's output is as large as its input; its corners are put so that the window lands in the top left `size`.
    windows = (path.start, path.end)
    left, top = at(path.start.left, path.end.left), at(path.start.top, path.end.top)
    right = at(*(window.left + window.width * canvas.width / size.width for window in windows))
    bottom = at(*(window.top + window.height * canvas.height / size.height for window in windows))
    return {"x0": left, "y0": top, "x1": right, "y1": top, "x2": left, "y2": bottom, "x3": right, "y3": bottom}


class OfflineVideo(AnswersAtOnce):
    """Moves a camera over the first frame; `Provider[ClipRequest]`. Results are silent MP4: H.264, yuv420p, 24 fps."""

    name = "offline_video"
    model = "offline-camera-1"
    base_url = ""
    asynchronous = False
    offline = True

    def __init__(self, *, ffmpeg: str) -> None:
        self._ffmpeg = ffmpeg

    def describe(self, request: ClipRequest) -> JsonObject:
        """Everything that decides the clip. Raises ProviderFault(INPUT_INVALID) for a length or a picture that cannot be used."""
        if not 0 < request.duration_ms <= MAX_MS:
            raise ProviderFault(ErrorCode.INPUT_INVALID, f"a clip of {request.duration_ms} ms cannot be made; 1 to {MAX_MS} can")
        _suffix(request.first_frame.read())
        size = film_size(request.aspect, request.resolution)
        return {
            "first_frame": request.first_frame.media.sha256,
            "move": choose_move(request.prompt, seed=request.seed).value,
            "frames": frame_count(request.duration_ms),
            "fps": FPS,
            "width": size.width,
            "height": size.height,
            "seed": request.seed,
        }

    def estimate(self, request: ClipRequest) -> Decimal:  # noqa: ARG002 - the provider protocol's signature
        """Always zero."""
        return Decimal(0)

    async def submit(self, request: ClipRequest, *, go: Go = at_once) -> Done:
        """Render the clip. Raises ProviderFault as `describe`, FFMPEG_FAILED (also for a damaged picture) and STORAGE_FAILED."""
        await go()
        told = self.describe(request)
        size, frames = Frame(width=told["width"], height=told["height"]), int(told["frames"])
        path = plan_path(Move(told["move"]), size=size)
        try:
            data = await self._render(request.first_frame.read(), path, size=size, frames=frames)
        except MediaFault as failed:
            raise ProviderFault(failed.code, f"the camera move failed: {failed.detail}") from failed
        except OSError as refused:
            raise ProviderFault(ErrorCode.STORAGE_FAILED, f"the clip's temporary folder cannot be used: {refused}") from refused
        return Done(output=Inline(data), usage={"frames": frames}, cost=Decimal(0))

    async def _render(self, picture: bytes, path: CameraPath, *, size: Frame, frames: int) -> bytes:
        timeout = _TIMEOUT + _TIMEOUT_PER_SECOND * frames / FPS
        with tempfile.TemporaryDirectory(prefix="comic-clip-") as folder:
            still, clip = Path(folder, f"still.{_suffix(picture)}"), Path(folder, "clip.mp4")
            await asyncio.to_thread(still.write_bytes, picture)
            arguments = camera_arguments(still, clip, path, size=size, frames=frames)
            await run_ffmpeg(arguments, ffmpeg=self._ffmpeg, timeout=timeout)
            return await asyncio.to_thread(clip.read_bytes)


def _suffix(picture: bytes) -> str:
    """The file ending of a PNG or JPEG, by its bytes: names and types that come along are often wrong."""
    for signature, suffix in _SIGNATURES.items():
        if picture.startswith(signature):
            return suffix
    raise ProviderFault(ErrorCode.INPUT_INVALID, f"the first frame is neither PNG nor JPEG (it begins with {picture[:8]!r})")
