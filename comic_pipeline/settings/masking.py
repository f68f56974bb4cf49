"""Secrets in our own logs become ***."""

import logging
from collections.abc import Callable
from typing import Any

from comic_pipeline.model.secrecy import conceal

_LOGGER = "comic_pipeline"


class _MaskingFactory:
    """Makes log records; in those of our loggers secret values become ***, in the message and in the traceback.

    A filter would not do: one on `comic_pipeline` does not see what `comic_pipeline.work` logs.
    """

    def __init__(self, make: Callable[..., logging.LogRecord], secrets: tuple[str, ...]) -> None:
        self.make = make
        self._secrets = secrets

    def __call__(self, name: str | None, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self.make(name or "", *args, **kwargs)
        # `logging.makeLogRecord`, which Dagster uses, names nobody.
        if name is None or (name != _LOGGER and not name.startswith(f"{_LOGGER}.")):
            return record
        text = record.getMessage()
        if self._masked(text) != text:
            record.msg, record.args = self._masked(text), ()
        if record.exc_info:
            traceback = logging.Formatter().formatException(record.exc_info)
            # Formatters write `exc_text` when it is there.
            record.exc_text = self._masked(traceback)
        return record

    def _masked(self, text: str) -> str:
        return conceal(text, secrets=self._secrets)


def mask_in_logs(secrets: tuple[str, ...]) -> None:
    """Mask these values in every record of our loggers from now on, in place of the ones before."""
    current = logging.getLogRecordFactory()
    make = current.make if isinstance(current, _MaskingFactory) else current
    logging.setLogRecordFactory(_MaskingFactory(make, secrets) if secrets else make)
