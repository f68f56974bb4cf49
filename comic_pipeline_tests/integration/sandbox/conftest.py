"""One sandbox process for all tests of this folder, made new before each test, and clients for it."""

from collections.abc import Iterator

import httpx
import pytest
from openai import OpenAI
from volcenginesdkarkruntime import Ark

from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox


@pytest.fixture(scope="session")
def running_sandbox() -> Iterator[Sandbox]:
    """A sandbox process."""
    with start_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running_sandbox: Sandbox) -> Sandbox:
    """The sandbox as if just started."""
    running_sandbox.admin.reset()
    return running_sandbox


@pytest.fixture
def ark(sandbox: Sandbox) -> Iterator[Ark]:
    """Ark's own SDK without retries."""
    client = Ark(base_url=sandbox.ark_base_url, api_key=sandbox.api_key, max_retries=0)
    yield client
    client.close()


@pytest.fixture
def patient_ark(sandbox: Sandbox) -> Iterator[Ark]:
    """Ark's own SDK with its default of two retries."""
    client = Ark(base_url=sandbox.ark_base_url, api_key=sandbox.api_key)
    yield client
    client.close()


@pytest.fixture
def openai_client(sandbox: Sandbox) -> Iterator[OpenAI]:
    """The openai SDK without retries."""
    client = OpenAI(base_url=sandbox.openai_base_url, api_key=sandbox.api_key, max_retries=0)
    yield client
    client.close()


@pytest.fixture
def http(sandbox: Sandbox) -> Iterator[httpx.Client]:
    """A plain client with Ark's key; each request on a connection of its own, so that a broken one harms no other."""
    limits = httpx.Limits(max_keepalive_connections=0)
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    with httpx.Client(base_url=sandbox.url, headers=headers, timeout=10, trust_env=False, limits=limits) as client:
        yield client
