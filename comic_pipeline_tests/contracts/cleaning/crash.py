"""A clean-up that stops after its second delete, to be killed: `python -m … DATABASE_URL FOLDER_OR_S3_ADDRESS ENDPOINT DAYS`."""

import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from comic_pipeline.cleaning import Cleaner
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.s3 import S3Store
from comic_pipeline.store.database import Database


class _Stops:
    """A store that says so and hangs once it has deleted two objects."""

    def __init__(self, store: FolderStore | S3Store) -> None:
        self._store = store
        self._deletes = 0

    def delete(self, key: str) -> None:
        self._store.delete(key)
        self._deletes += 1
        if self._deletes == 2:
            sys.stdout.write("deleted\n")
            sys.stdout.flush()
            signal.pause()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def main(url: str, address: str, endpoint: str, days: str) -> None:
    """Clean for real, as if `days` had passed."""
    store = S3Store(address, endpoint=endpoint, media_url="") if endpoint else FolderStore(Path(address), media_url="")
    now = datetime.now(UTC) + timedelta(days=float(days))
    Cleaner(Database(url), _Stops(store), now=now, media_days=30, history_days=90, dry_run=False).clean()


if __name__ == "__main__":
    main(*sys.argv[1:])
