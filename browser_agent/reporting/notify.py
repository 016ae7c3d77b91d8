"""Telling a person that the inbox holds a question: by a command of their own, or by one POST to an address.

The command is run as it is written, word by word, without a shell; the question is JSON on its standard input, and its
id, run and kind stand in `BROWSER_AGENT_QUESTION_ID`, `_RUN` and `_KIND`. The address gets the same JSON. Knows nothing
of runs being kept. What may never happen: what becomes of the telling changes the run; an address is followed elsewhere
by a redirect; the telling waits for ever.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from browser_agent.reporting.words import commands
from browser_agent.settings import host_of, is_address
from browser_agent.store.records import QuestionRow, RunRow

SEND_SECONDS = 20.0
"""How long a command or an address may take to be told."""


class NotSent(Exception):
    """Nobody was told, or it isn't known; the message says why in one line, without the address's path."""


def send(told: Sequence[str], question: Mapping[str, Any], seconds: float = SEND_SECONDS) -> None:
    """Tell of a question.

    Args:
        told: the command, word by word, or one address.
        question: see `payload`.
        seconds: how long it may take.

    Raises:
        NotSent: the command ended otherwise than with 0, the address answered otherwise than 2xx, or it took too long.
    """
    if is_address(told):
        _post(told[0], question, seconds)
    else:
        _run(told, question, seconds)


def payload(question: QuestionRow, run: RunRow, more: str) -> dict[str, Any]:
    """What is told of a question: what is asked and why, and the commands that answer it.

    Args:
        question: the question.
        run: its run.
        more: options that each command needs as well, such as `--store PATH`.
    """
    return {
        "question": question.id,
        "run": run.id,
        "task": run.task_name,
        "key": run.key,
        "kind": str(question.kind),
        "words": question.words,
        "reasons": json.loads(question.reasons),
        "safe_step": question.safe_step,
        "earliest_safe": question.earliest_safe.isoformat() if question.earliest_safe else None,
        "asked_at": question.asked_at.isoformat(),
        "commands": commands(question, more),
    }


def _run(command: Sequence[str], question: Mapping[str, Any], seconds: float) -> None:
    named = {f"BROWSER_AGENT_QUESTION_{word.upper()}": str(question[word]) for word in ("run", "kind")}
    environment = {**os.environ, **named, "BROWSER_AGENT_QUESTION_ID": str(question["question"])}
    try:
        started = subprocess.Popen(
            list(command),
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the keeper alone
        )
    except OSError as error:
        raise NotSent(f"{command[0]} could not be started: {error.strerror}") from error
    try:
        started.communicate(json.dumps(question).encode(), seconds)
    except subprocess.TimeoutExpired as error:
        os.killpg(started.pid, signal.SIGKILL)  # and whatever it has started
        started.communicate()
        raise NotSent(f"{command[0]} took more than {seconds:g} s and was ended") from error
    if started.returncode != 0:
        raise NotSent(f"{command[0]} ended with code {started.returncode}")


class _Stays(urllib.request.HTTPRedirectHandler):
    """A redirect would make a GET of the POST, perhaps elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


def _post(address: str, question: Mapping[str, Any], seconds: float) -> None:
    headers = {"Content-Type": "application/json", "User-Agent": "browser-agent"}
    request = urllib.request.Request(address, json.dumps(question).encode(), headers, method="POST")
    try:
        with urllib.request.build_opener(_Stays).open(request, timeout=seconds):
            return
    except urllib.error.HTTPError as error:
        with error:
            raise NotSent(f"{host_of(address)} answered {error.code}") from None  # its message holds the address
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or type(error).__name__
        raise NotSent(f"{host_of(address)} could not be reached: {why}") from None
