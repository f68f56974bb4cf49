"""What makes these tests unit tests: none reaches a network, none waits."""

import socket
import time

import pytest


def _refuse(*_given: object, **_named: object) -> None:
    pytest.fail("a unit test opened a connection or slept: inject the transport or the clock, or move it out of unit/")


@pytest.fixture(autouse=True)
def _neither_network_nor_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", _refuse)
    monkeypatch.setattr(socket, "getaddrinfo", _refuse)
    monkeypatch.setattr(time, "sleep", _refuse)
