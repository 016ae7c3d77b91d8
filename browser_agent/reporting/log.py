"""Logs the events of runs as records of the standard library's `logging`, under the logger `browser_agent`.

No record holds a value, an argument or a page's text: its message is made here from `FACTS`, except for kinds of events
whose words are the keeper's own. As a library it logs nothing until a handler is added.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from browser_agent.errors import Misuse
from browser_agent.options import Event

LOGGER = logging.getLogger("browser_agent")

FACTS = ("run", "attempt", "kind", "step", "gesture", "outcome", "question")
"""The attributes that each record has beside the usual ones; None = unknown or none."""

_KEEPERS_OWN = frozenset(
    {"worker_died", "worker_stopped", "fault_injected", "stopping", "session", "store", "notification"}
)
"""Kinds of events whose words hold nothing from a task, an argument or a page."""
_LEVELS = {
    **dict.fromkeys(("dispatching", "pause"), logging.DEBUG),
    **dict.fromkeys(
        ("worker_died", "worker_stopped", "worker_too_large", "step_too_long", "download_lost"), logging.WARNING
    ),
    **dict.fromkeys(("question", "in_doubt", "trouble", "declaration"), logging.WARNING),
    **dict.fromkeys(("raised", "store", "notification"), logging.ERROR),
}
_ours: list[logging.Handler] = []


def is_enabled(event: Event) -> bool:
    """Whether a record of that event would be logged at all."""
    return LOGGER.isEnabledFor(_level(event))


def log(event: Event) -> None:
    """Log an event."""
    facts = facts_of(event)
    words = event.words if event.kind in _KEEPERS_OWN else _words(facts)
    LOGGER.log(_level(event), f"{event.kind}: {words}" if words else event.kind, extra=facts)


def _level(event: Event) -> int:
    return _LEVELS.get(event.kind, logging.INFO)


def facts_of(event: Event) -> dict[str, Any]:
    """The `FACTS` of an event, and nothing else of it."""
    known = {"run": event.run, "attempt": event.attempt, "kind": event.kind}
    return {name: known.get(name) or event.details.get(name) for name in FACTS}


def _words(facts: dict[str, Any]) -> str:
    return ", ".join(f"{name} {facts[name]}" for name in ("step", "gesture", "outcome", "question") if facts[name])


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON: time, level, logger, message, and the facts that are known."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: fact for name in FACTS if (fact := getattr(record, name, None)) is not None},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """Formats a record as one line for a person."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s [%(run)s] %(message)s", defaults={"run": "-"})


def start_log(level: str | None, file: Path | None, *, as_json: bool) -> None:
    """Start logging for the command line, instead of what an earlier call started.

    Args:
        level: debug, info, warning or error. None = info. Without level and file nothing is logged.
        file: the file to append to. None = standard error.
        as_json: log one line of JSON a record.

    Raises:
        Misuse: the file cannot be written.
    """
    while _ours:
        handler = _ours.pop()
        LOGGER.removeHandler(handler)
        handler.close()
    if level is None and file is None:
        return
    try:
        handler = logging.FileHandler(file.expanduser(), encoding="utf-8") if file else logging.StreamHandler()
    except OSError as error:
        raise Misuse(f"The log file {file} cannot be written: {error.strerror}.") from error
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    LOGGER.setLevel((level or "info").upper())
    LOGGER.addHandler(handler)
    _ours.append(handler)
