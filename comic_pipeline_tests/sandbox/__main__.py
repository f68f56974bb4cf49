"""`python -m comic_pipeline_tests.sandbox --port P`: run the sandbox until it is told to end."""

import argparse
import os
import socket
import sys
import threading
from pathlib import Path

from comic_pipeline_tests.sandbox.clock import parse_latency
from comic_pipeline_tests.sandbox.server import build_server
from comic_pipeline_tests.sandbox.world import World


def main() -> None:
    """Read the command line, listen, say where, serve."""
    options = _parser().parse_args()
    world = World(latency=options.latency, books_file=options.books)
    listener = socket.create_server((options.host, options.port), backlog=512)
    print(f"listening on http://{options.host}:{listener.getsockname()[1]}", flush=True)  # noqa: T201  the promised first line
    if options.end_with_stdin:
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    build_server(world).run(sockets=[listener])
    world.books.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m comic_pipeline_tests.sandbox", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="0 picks a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument(
        "--latency", type=parse_latency, default=parse_latency(""), help="seconds: video=60,image=3,text=1,voice=1"
    )
    parser.add_argument("--books", type=Path, help="append what happens to this file as JSON lines")
    parser.add_argument("--end-with-stdin", action="store_true", help="end when standard input closes, that is: with the parent")
    return parser


def _end_with_stdin() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
