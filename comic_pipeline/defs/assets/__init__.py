"""The assets, one module a craft, `export` for what leaves the house, `reports` for the days.

Bodies read, call one stage function and report.
"""

from comic_pipeline.defs.assets.export import review_page, timeline_export
from comic_pipeline.defs.assets.film import cover_image, final_video, subtitles
from comic_pipeline.defs.assets.motion import clips
from comic_pipeline.defs.assets.pictures import frame_images
from comic_pipeline.defs.assets.release import published_video
from comic_pipeline.defs.assets.reports import daily_production
from comic_pipeline.defs.assets.sound import music, voice_lines
from comic_pipeline.defs.assets.story import storyboard

ASSETS = [
    storyboard,
    frame_images,
    voice_lines,
    clips,
    subtitles,
    music,
    final_video,
    cover_image,
    timeline_export,
    review_page,
    published_video,
    daily_production,
]
