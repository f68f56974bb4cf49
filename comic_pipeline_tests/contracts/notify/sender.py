"""A process that sends what is due and is killed in the middle: `python -m … DATABASE_URL WEBHOOK_URL`."""

import sys
from datetime import UTC, datetime

from comic_pipeline.notify.courier import Courier
from comic_pipeline.notify.target import Target
from comic_pipeline.settings import WebhookStyle
from comic_pipeline.store.database import Database
from comic_pipeline_tests.contracts.notify.receiver import SECRET


def main(database_url: str, webhook_url: str) -> None:
    """Deliver once, with much patience."""
    target = Target(url=webhook_url, secret=SECRET, style=WebhookStyle.JSON, language="zh")
    courier = Courier(Database(database_url), target, tries=8, now=lambda: datetime.now(UTC), call_seconds=60)
    courier.deliver(seconds=60)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
