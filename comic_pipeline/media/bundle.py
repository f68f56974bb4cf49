"""Many files as one ZIP whose bytes follow from its content alone: no times, no owners, entries in the order given.

Media are stored as they are: they are compressed already, and a deflater that differs between machines would change the bytes.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path

# The earliest time that the format can hold.
_NEVER = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16
_UNIX = 3


def write_bundle(target: Path, entries: Mapping[str, bytes | Path]) -> None:
    """Write `entries` (name inside, its bytes or the file that holds them) to the ZIP file `target`."""
    with zipfile.ZipFile(target, "w", compression=zipfile.ZIP_STORED) as bundle:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, date_time=_NEVER)
            info.external_attr = _PLAIN_FILE
            info.create_system = _UNIX
            if isinstance(content, bytes):
                bundle.writestr(info, content)
                continue
            info.file_size = content.stat().st_size
            with content.open("rb") as source, bundle.open(info, "w") as entry:
                while block := source.read(1 << 20):
                    entry.write(block)
