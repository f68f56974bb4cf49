"""Prompt templates, one `.md` a prompt, and the loader. The text's hash is part of a task's key: a new wording makes new work."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

from comic_pipeline.model.task import sha256_hex


@dataclass(frozen=True)
class Prompt:
    """A template with `$name` holes. User text only ever fills holes; it is never a template itself."""

    name: str
    text: str
    hash: str

    def fill(self, **values: object) -> str:
        """The prompt with every hole filled. Raises KeyError for a hole without a value."""
        return Template(self.text).substitute({name: str(value) for name, value in values.items()}).strip()


@cache
def load_prompt(name: str) -> Prompt:
    """The template `name`.md of this package. Raises FileNotFoundError."""
    text = files("comic_pipeline.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Prompt(name=name, text=text, hash=sha256_hex(text.encode())[:16])
