"""ffmpeg and Pillow: measuring media and putting films together. Knows files and bytes, not projects, stores or providers."""
