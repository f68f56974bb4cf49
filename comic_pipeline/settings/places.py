"""Where things are: databases, objects, links."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from comic_pipeline.settings.sources import CONFIG

# How an address is written, by its scheme.
_SQLITE = {"sqlite": "sqlite:///FILE"}
_POSTGRES = dict.fromkeys(("postgresql+psycopg2", "postgresql"), "postgresql+psycopg2://USER@HOST:PORT/NAME")


class Places(BaseSettings):
    """Databases, object store and the links to what is in it."""

    model_config = CONFIG

    home: Path = Field(
        default=Path(".comic"), alias="COMIC_HOME", description="database, objects and Dagster home of the embedded profile"
    )
    database_url: SecretStr = Field(default=SecretStr(""), alias="COMIC_DATABASE_URL", description="empty: sqlite in COMIC_HOME")
    database_password: SecretStr = Field(
        default=SecretStr(""), alias="COMIC_DATABASE_PASSWORD", description="password of both database URLs, kept apart from them"
    )
    dagster_database_url: SecretStr = Field(
        default=SecretStr(""), alias="COMIC_DAGSTER_DATABASE_URL", description="Postgres of Dagster's own storage (deployed)"
    )
    objects: str = Field(default="", alias="COMIC_OBJECTS", description="a folder or s3://bucket/prefix; empty: in COMIC_HOME")
    media_url: str = Field(default="/logs/objects", alias="COMIC_MEDIA_URL", description="base of links to media in the UI")
    media_endpoint: str = Field(
        default="", alias="COMIC_MEDIA_ENDPOINT", description="the S3 service as browsers reach it; empty: AWS_ENDPOINT_URL_S3"
    )
    s3_endpoint: str = Field(default="", alias="AWS_ENDPOINT_URL_S3")

    @field_validator("home")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        whole = expanded(home).absolute()
        if "?" in str(whole):
            # An SQLite address ends there: the database would lie elsewhere, under a cut name that other homes may share.
            raise ValueError("no database can lie in a folder with a question mark in its name; choose another one")
        return whole

    @field_validator("objects")
    @classmethod
    def _objects_expandable(cls, objects: str) -> str:
        expanded(Path(objects))
        return objects

    @field_validator("database_url")
    @classmethod
    def _ours(cls, url: SecretStr) -> SecretStr:
        return _checked(url, _SQLITE | _POSTGRES)

    @field_validator("dagster_database_url")
    @classmethod
    def _dagsters(cls, url: SecretStr) -> SecretStr:
        return _checked(url, _POSTGRES)

    @property
    def files(self) -> Path:
        """What the webserver serves below `/logs`: objects and compute logs. The database stays outside."""
        return self.home / "files"

    @property
    def dagster_home(self) -> Path:
        """DAGSTER_HOME of the embedded profile."""
        return self.home / "dagster"

    @property
    def effective_database_url(self) -> str:
        """The database's URL; holds a password, so never log it."""
        url = self.database_url.get_secret_value() or f"sqlite:///{self.home / 'comic.db'}"
        return _with_password(url, self.database_password)

    @property
    def database_file(self) -> Path | None:
        """The file of an SQLite database; None on Postgres."""
        # A `#` is a letter of a file's name here.
        parts = urlsplit(self.effective_database_url, allow_fragments=False)
        return Path(parts.path[1:]) if parts.scheme == "sqlite" else None

    @property
    def effective_dagster_database_url(self) -> str:
        """The URL of Dagster's own storage, "" when that is SQLite; holds a password, so never log it."""
        return _with_password(self.dagster_database_url.get_secret_value(), self.database_password)

    @property
    def effective_objects(self) -> str:
        """Where objects live: an absolute folder or an s3:// address."""
        if "://" in self.objects:
            return self.objects
        return str(Path(self.objects).expanduser().absolute() if self.objects else self.files / "objects")


def expanded(path: Path) -> Path:
    """`path` with a leading `~` or `~user` as that user's home. Raises ValueError for a user whom this machine does not know."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError(f"{path.parts[0]} is nobody's home on this machine; write the whole path") from None


def _checked(url: SecretStr, forms: Mapping[str, str]) -> SecretStr:
    """`url` if it is empty or of one of the `forms`, by scheme.

    Raises ValueError that shows nothing of it, for it may hold a password.
    """
    text = url.get_secret_value()
    try:
        parts = urlsplit(text)
        known = parts.scheme in forms and len(parts.path) > 1 and parts.port != 0
    except ValueError:
        # No number where the port is: mostly a password with `/`, `#` or `?` in it.
        known = False
    if text and not known:
        wanted = " or ".join(dict.fromkeys(forms.values()))
        raise ValueError(f"write {wanted}; a password's special characters as %2F and so on")
    return url


def passwords_in(url: SecretStr) -> tuple[str, ...]:
    """The password as it stands in an address, and as it is meant; an address that cannot be read holds none that works."""
    try:
        password = urlsplit(url.get_secret_value()).password or ""
    except ValueError:
        return ()
    return password, unquote(password)


def _with_password(url: str, password: SecretStr) -> str:
    """`url` with the password in it, unless it has one already or is none of a server."""
    parts = urlsplit(url)
    secret = password.get_secret_value()
    if not secret or not parts.hostname or parts.password is not None:
        return url
    user, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}:{quote(secret, safe='')}@{host}").geturl()
