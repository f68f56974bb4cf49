"""ffmpeg's arguments for the film: inputs, the filters of the picture, encoding, tags.

One shot on its way: steady rate -> square pixels and the film's size (cropped where that costs little, letterboxed else) -> its
last frame held -> cut to whole frames -> joined by cuts, or faded into each other. The graph names its files (`film.ass`,
`film.srt`, `fonts/`) by fixed words.
"""

from pathlib import Path

from comic_pipeline.media.film_plan import FilmPlan
from comic_pipeline.media.typeset import one_line
from comic_pipeline.model.label import AIGC_KEY
from comic_pipeline.model.project import Language

# A clip whose shape differs by no more than this is cropped; beyond it heads would be cut off, so bars are added instead.
CROP_TOLERANCE = 1.15
_TRACK_LANGUAGE = {Language.ZH: "zho", Language.EN: "eng"}


def picture_arguments(plan: FilmPlan, out: Path) -> list[str]:
    """The one pass over the pictures, to be run in the folder that holds the words and the font."""
    inputs = [part for shot in plan.shots for part in ("-i", f"file:{shot.clip.absolute()}")]
    graph = ";".join([*_shots(plan), _joined(plan)])
    video = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-r", str(plan.fps)]
    # -xerror: a damaged clip fails the film instead of being held on its last good frame.
    return ["-xerror", *inputs, "-filter_complex", graph, "-map", "[picture]", *video, f"file:{out.absolute()}"]


def joining_arguments(plan: FilmPlan, picture: Path, sound: Path, out: Path) -> list[str]:
    """Picture, sound and words into one file with its tags; nothing is encoded again."""
    inputs = [part for path in (picture, sound) for part in ("-i", f"file:{path.absolute()}")]
    maps = ["-map", "0:v:0", "-map", "1:a:0"]
    if plan.cues:
        inputs += ["-i", "film.srt"]
        maps += ["-map", "2:s:0"]
    return ["-xerror", *inputs, *maps, "-c", "copy", *_tags(plan), f"file:{out.absolute()}"]


def _shots(plan: FilmPlan) -> list[str]:
    width, height, fps = plan.frame.width, plan.frame.height, plan.fps
    misfit = f"max(dar*{height}/{width},{width}/{height}/dar)"
    # `dar` counts pixels that are not square; sizes are even because chroma is halved.
    fit_w = f"2*ceil(if(lte({misfit},{CROP_TOLERANCE}),max({width},{height}*dar),min({width},{height}*dar))/2)"
    fit_h = f"2*ceil(if(lte({misfit},{CROP_TOLERANCE}),max({height},{width}/dar),min({height},{width}/dar))/2)"
    chains = []
    # eof_action=pass: without it a clip of a single frame that has no rate gives no frame at all.
    for number, shot in enumerate(plan.shots):
        # It stays on screen while the next one fades in over it.
        following = plan.shots[number + 1 : number + 2]
        frames = plan.frames_of(shot) + sum(map(plan.fade_into, following))
        chains.append(
            f"[{number}:v:0]setpts=PTS-STARTPTS,fps={fps}:eof_action=pass,scale=w='{fit_w}':h='{fit_h}':flags=bicubic:out_range=tv,"
            f"crop=w='min(iw,{width})':h='min(ih,{height})',pad={width}:{height}:-1:-1,setsar=1,format=yuv420p,"
            f"tpad=stop_mode=clone:stop={frames},trim=end_frame={frames}[v{number}]"
        )
    return chains


def _joined(plan: FilmPlan) -> str:
    words = "ass=film.ass:fontsdir=fonts," if plan.label or (plan.burn and plan.cues) else ""
    if not any(map(plan.fade_into, plan.shots)):
        joined = "".join(f"[v{number}]" for number in range(len(plan.shots)))
        return f"{joined}concat=n={len(plan.shots)}:v=1:a=0,{words}format=yuv420p[picture]"
    links, before, start = [], "v0", 0
    for number, shot in enumerate(plan.shots[1:], start=1):
        start += plan.frames_of(plan.shots[number - 1])
        offset, length = start / plan.fps, plan.fade_into(shot) / plan.fps
        links.append(f"[{before}][v{number}]xfade=transition=fade:duration={length:.6f}:offset={offset:.6f}[x{number}]")
        before = f"x{number}"
    return ";".join([*links, f"[{before}]{words}format=yuv420p[picture]"])


def _tags(plan: FilmPlan) -> list[str]:
    language = _TRACK_LANGUAGE[plan.language]
    audio = ["-metadata:s:a:0", f"language={language}"]
    words = ["-c:s", "mov_text", "-metadata:s:s:0", f"language={language}"]
    whole = ["-map_metadata", "-1", "-metadata", f"title={one_line(plan.title)}", "-f", "mp4"]
    if plan.label:  # without use_metadata_tags the muxer drops keys that it does not know
        whole += ["-metadata", f"{AIGC_KEY}={plan.label.mark.to_json()}", "-movflags", "+faststart+use_metadata_tags"]
    else:
        whole += ["-movflags", "+faststart"]
    return [*audio, *(words if plan.cues else []), *whole]
