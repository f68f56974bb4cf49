"""Seedance task documents as Ark sends them (page 1521309), and the adapter that reads them."""

from datetime import UTC, datetime
from typing import Any

from comic_pipeline.providers.ark_video import ArkVideo
from comic_pipeline_tests.unit.providers.vendor import BASE, Vendor, service

MODEL = "doubao-seedance-2-0-260128"
TASKS = f"{BASE}/contents/generations/tasks"
URL = "https://ark-content.tos-cn-beijing.volces.com/v.mp4?X-Tos-Signature=deadbeef"
SINCE = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
AT = int(SINCE.timestamp())


def ark(vendor: Vendor, model: str = MODEL) -> ArkVideo:
    return ArkVideo(service(), model=model, transport=vendor.transport)


def task(status: str = "succeeded", **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": "cgt-1",
        "model": MODEL,
        "status": status,
        "created_at": AT + 1,
        "updated_at": AT + 90,
        "seed": 7,
        "resolution": "720p",
        "ratio": "16:9",
        "duration": 5,
        "framespersecond": 24,
        "safety_identifier": "u" * 32,
        "error": None,
    }
    if status == "succeeded":
        body |= {"content": {"video_url": URL}, "usage": {"completion_tokens": 108_900, "total_tokens": 108_900}}
    return body | changes
