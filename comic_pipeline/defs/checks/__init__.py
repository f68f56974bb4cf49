"""The QC gates: one blocking, partitioned check an asset.

Measured in `stages/inspecting.py`, judged in `quality/`, recorded here.
"""

from comic_pipeline.defs.checks.cover import cover_image_qc
from comic_pipeline.defs.checks.film import final_video_qc
from comic_pipeline.defs.checks.motion import clips_qc
from comic_pipeline.defs.checks.pictures import frame_images_qc
from comic_pipeline.defs.checks.sound import voice_lines_qc
from comic_pipeline.defs.checks.story import storyboard_qc

CHECKS = [storyboard_qc, frame_images_qc, voice_lines_qc, clips_qc, final_video_qc, cover_image_qc]
