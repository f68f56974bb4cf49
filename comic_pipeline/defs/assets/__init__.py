"""The assets, one module a craft: story, pictures, sound, motion, film. Each body reads, calls one stage function and reports."""

from comic_pipeline.defs.assets.film import cover_image, final_video, subtitles
from comic_pipeline.defs.assets.motion import clips
from comic_pipeline.defs.assets.pictures import frame_images
from comic_pipeline.defs.assets.sound import voice_lines
from comic_pipeline.defs.assets.story import storyboard

ASSETS = [storyboard, frame_images, voice_lines, clips, subtitles, final_video, cover_image]
