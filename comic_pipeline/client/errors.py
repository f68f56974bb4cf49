"""What can go wrong between a backend and the deployment, as types.

BackendError
├── Refused          the deployment said no: `code`, `detail`, and words for users in Chinese and English
├── Unauthorised     wrong or missing name and password, or a webserver that only reads
├── Unreachable      no answer, or one that is not from Dagster: nothing was started
│   └── LaunchLost   the answer to a launch was lost and its run was not found: repeat it with the same key
├── GraphQLFault     Dagster answered with an error of its own
└── TimedOut         what was waited for did not happen in time; it may still happen
"""


class BackendError(Exception):
    """Anything that went wrong; the message says what was tried."""


class Refused(BackendError):
    """The request cannot be done as it stands; nothing was changed. `code` is one of the deployment's closed set."""

    def __init__(self, code: str, detail: str, *, zh: str, en: str) -> None:
        super().__init__(f"{code}: {detail} ({zh} / {en})")
        self.code = code
        self.detail = detail
        self.zh = zh
        self.en = en


class Unauthorised(BackendError):
    """The name, the password or the webserver does not allow it."""


class Unreachable(BackendError):
    """The deployment did not answer, or something else did."""


class LaunchLost(Unreachable):
    """Nobody knows whether a request arrived. Made again with the same `key` it acts once at most."""

    def __init__(self, message: str, *, key: str) -> None:
        super().__init__(message)
        self.key = key


class GraphQLFault(BackendError):
    """Dagster's own error: its type (`PythonError`, `PipelineNotFoundError` …), its words, the HTTP status of the answer."""

    def __init__(self, kind: str, message: str, *, http_status: int) -> None:
        super().__init__(f"{kind}: {message} (HTTP {http_status})")
        self.kind = kind
        self.http_status = http_status


class TimedOut(BackendError):
    """Waiting ended, the work did not. `run_id` names the run that was waited for, if there was one."""

    def __init__(self, message: str, *, run_id: str | None = None) -> None:
        super().__init__(message)
        self.run_id = run_id
