"""Every number that measuring and judging compare with, each with its reason.

"Seen" means: measured on 2026-11-30 over six offline styles, the sandbox's pictures and films, and deliberately broken copies of
them. A limit lies between what good material has and what broken material has; where a value could also be somebody's wish
(a foggy picture, a dark scene, a slow line) it is a WARN limit for a person, and the ERROR limit lies further out.
"""

# --- storyboard ---
# The issue's own number.
LENGTH_TOLERANCE = 0.10
# Milliseconds that one Chinese character or one word of another script takes to say. Newsreaders say 4.5 to 5 characters and
# 2.7 words a second; the storyboard prompt asks for 4 and 2.5.
MS_PER_HAN = 220
MS_PER_WORD = 370
# A shot is held until its line ends: a line that is too long costs rhythm (WARN), at twice the shot it is another film (ERROR).
SPEECH_HARD_FACTOR = 2.0

# --- pictures: all but size are measured on a grey copy whose longer side has about 512 pixels, levels 0 to 255 ---
PICTURE_SIDE = 512
# Models round sizes to their own grid: Seedream answered 2720x1536 for 2560x1440 (ratio off by 0.4 %).
ASPECT_TOLERANCE = 0.03
# OpenAI's widest size is 3:2, which is 16 % narrower than 16:9: the clip shows a part of it. 640x640 for 16:9 (dramaclaw #165)
# is off by 44 %.
CROPPED_ASPECT = 0.20
# Below half the film's size a picture has a quarter of the pixels; between half and whole it is only soft.
SMALLEST_SHARE = 0.5
# Standard deviation of all levels: a blank picture has 0, the flattest good one seen has 31.6.
FLAT_CONTRAST = 6.0
# Variance of the Laplacian: good pictures seen have 349 to 1,218; blurred by 6 of 1,280 pixels they have 5 to 18, by 3 pixels
# 69 to 109.
BLURRED_SHARPNESS = 15.0
SOFT_SHARPNESS = 50.0
# Mean level: good pictures seen have 58 (night, cyberpunk) to 206 (fog).
BLACK_BRIGHTNESS, WHITE_BRIGHTNESS = 8.0, 247.0
DARK_BRIGHTNESS, BRIGHT_BRIGHTNESS = 20.0, 235.0
# Bits of 256 in which the perceptual hashes of two shots' pictures differ: the same picture as JPEG, PNG or another size differs
# in 3 to 13, different shots of one film in 65 or more.
FINGERPRINT_SIDE = 16
SAME_PICTURE_BITS = 20
SIMILAR_PICTURE_BITS = 36

# --- voices ---
# Faster than 25 and slower than two thirds of a spoken character or word a second is no speech of that text.
SPEECH_MS_PER_CHARACTER = (40, 1_500)
# RMS and loudness below which there is no speech, only noise; the film does not amplify it either.
SILENT_DBFS = -55.0
# The film raises a line by at most 24 dB to reach -16 LUFS.
QUIETEST_LUFS = -40.0
# Share of samples at the very peak: speech has 0.004 %; driven 3 dB over full scale 0.04 %, 6 dB 0.9 %, 12 dB 6 %.
# A pure tone has 0.7 % there, so only a peak at full scale counts.
FULL_SCALE_DBFS = -0.3
CLIPPED_SHARE_WARN, CLIPPED_SHARE = 0.001, 0.005
# Lossy forms decode above full scale: clean speech at 64 kbit/s by less than 0.5 dB, speech that was clipped by 6 dB by 1.6, by
# 12 dB by 2.1, and speech encoded 6 dB too loud by 5.
OVERSHOOT_WARN_DB, OVERSHOOT_DB = 1.0, 2.0

# --- clips: motion is measured on a grey copy whose longer side has 160 pixels ---
MOTION_SIDE = 160
# Seedance answers in whole seconds and sometimes one frame short; half a second covers the rounding of duration_ms.
CLIP_TOLERANCE_MS = 550
# A longer clip makes a longer shot. Providers round up to whole seconds, and Seedance makes nothing below 4 s.
CLIP_SURPLUS_MS = 1_500
# Below 12 a clip is a slide show; any other rate is converted to the film's, which repeats or drops pictures.
LOWEST_FPS = 12.0
FPS_TOLERANCE = 0.05
# A picture is black when 98 % of its pixels are darker than 24 of 255. The darkest good clip seen has 28 % of such pixels.
DARK_LEVEL = 24
BLACK_SHARE = 0.98
# A shorter black is a cut or a blink.
BLACK_RUN_MS = 400
# The most that one block of the picture may change while it counts as still: an encoded still changes
# by 1, the slowest camera seen (0.85 pixels of 1,280 a picture) by 25 within a second.
STILL_LEVELS = 5.0
STILL_BLOCK_PX = 10
STILL_SHARE = 0.8
STILL_RUN_MS = 1_500
# SSIM of the clip's first picture and the best fitting part of its image: own image 0.74 to 0.99, another shot's at most 0.48.
LIKENESS_SIDE = 160
UNLIKE = 0.50
HARDLY_ALIKE = 0.62
# Clips are ordered without sound and the film does not use it; below this a track holds nothing.
CLIP_SOUND_DBFS = -50.0

# --- film ---
# The plan is in whole frames at 24 fps; AAC's priming can move the container's length by one packet (21 ms).
FILM_TOLERANCE_MS = 100
# ITU-R BT.1359: sound that comes 45 ms too early is noticed; an AAC packet is 21 ms.
SYNC_TOLERANCE_MS = 45
FILM_LUFS = -16.0
FILM_LUFS_TOLERANCE = 1.0
TRUE_PEAK_DBTP = -1.5
# ffmpeg gives a true peak in steps of 0.001 of full scale, and two meters differ by their interpolation (BS.1770-4, annex 2).
TRUE_PEAK_TOLERANCE = 0.05
# The label as ffmpeg burns it correlates with the label as it should be by 0.96 and more, in films of 180 lines by 0.83; pictures
# without it reach 0.1, test patterns 0.3.
LABEL_LIKENESS_MIN = 0.7
