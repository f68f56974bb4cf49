"""The media package over real ffmpeg, PyAV and Pillow; nothing is faked."""
