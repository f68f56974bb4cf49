"""Code versions: a number that a person raises when the meaning of what is made changes, and the prompts that are sent.

That the number is not forgotten: `comic_pipeline_tests/defs/test_code_versions.py` holds each asset's code against a record.
"""

from comic_pipeline.model.task import hash_of
from comic_pipeline.prompts import load_prompt


def code_version(number: int, *prompts: str) -> str:
    """`number`, and after a dot a hash of the templates: new words are new code. Raises FileNotFoundError."""
    if not prompts:
        return str(number)
    return f"{number}.{hash_of([load_prompt(name).hash for name in prompts])[:8]}"
