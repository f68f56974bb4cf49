"""Verdicts: measurements and thresholds in, findings out. Pure; measuring is `media/probe.py`, showing is `defs/checks`."""

# The gate of each asset: a stage passes only with a verdict of its own run for every one of these.
GATES: dict[str, str] = {
    "storyboard": "storyboard_qc",
    "frame_images": "frame_images_qc",
    "voice_lines": "voice_lines_qc",
    "clips": "clips_qc",
    "final_video": "final_video_qc",
    "cover_image": "cover_image_qc",
}
