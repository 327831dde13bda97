"""Pictures of histories, as all reports draw them: those of `harness.picture`."""

from __future__ import annotations

from ..harness.harmless import harmless
from ..harness.picture import box, line, timeline

__all__ = ["box", "harmless", "line", "timeline"]
