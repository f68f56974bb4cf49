"""The QC gates: one blocking, partitioned check an asset. Measured here, judged in `quality/`, recorded in both databases."""

from comic_pipeline.defs.checks.cover import cover_image_qc
from comic_pipeline.defs.checks.gates import clips_qc, final_video_qc, frame_images_qc, storyboard_qc, voice_lines_qc

CHECKS = [storyboard_qc, frame_images_qc, voice_lines_qc, clips_qc, final_video_qc, cover_image_qc]
