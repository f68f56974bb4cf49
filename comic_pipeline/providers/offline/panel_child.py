"""The process that draws one panel: a request as JSON on standard input, PNG on standard output. Started by `panels.py` alone."""

import json
import sys

from comic_pipeline.model.project import Aspect, Resolution
from comic_pipeline.providers.interface import ImageRequest, PanelSubject
from comic_pipeline.providers.offline.panels import draw_panel


def main() -> None:
    """Draw what is asked for."""
    asked = json.load(sys.stdin)
    request = ImageRequest(
        **asked
        | {
            "aspect": Aspect(asked["aspect"]),
            "resolution": Resolution(asked["resolution"]),
            "subject": PanelSubject(**asked["subject"]),
        }
    )
    sys.stdout.buffer.write(draw_panel(request))


if __name__ == "__main__":
    main()
