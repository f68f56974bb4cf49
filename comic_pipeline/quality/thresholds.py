"""Numbers that the checks compare with, each with its reason."""

# Models round sizes to their own grid: Seedream answered 2720x1536 for 2560x1440 (ratio off by 0.4 %).
ASPECT_TOLERANCE = 0.03
# Seedance answers in whole frames and sometimes one frame short; half a second covers a whole-second rounding of duration_ms.
CLIP_TOLERANCE_MS = 550
# The plan is in whole frames at 24 fps; AAC's priming can move the container's length by one packet (21 ms).
FILM_TOLERANCE_MS = 100
# Fewer spoken characters or words a second than any person; more than anybody can follow.
SPEECH_MS_PER_CHARACTER = (40, 1_500)
LENGTH_TOLERANCE = 0.10
# The label as ffmpeg burns it correlates with the label as it should be by 0.96 and more, in films of 180 lines by 0.83; pictures
# without it reach 0.1, test patterns 0.3.
LABEL_LIKENESS_MIN = 0.7
