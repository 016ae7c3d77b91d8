"""Notifies a person that the inbox holds a question: by a command of their own, or by one POST to an address.

The command is run without a shell; it gets the question as JSON on standard input, and its id, run and kind in
`BROWSER_AGENT_QUESTION_ID`, `_RUN` and `_KIND`. The address gets the same JSON.
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
from browser_agent.setting_values import host_of, is_address
from browser_agent.store.records import QuestionRow, RunRow

SEND_SECONDS = 20.0
"""How long a command may run, or an address take to answer."""


class NotSent(Exception):
    """The notification failed, or may have. The message says why, without the address's path, which may be secret."""


def send(target: Sequence[str], question: Mapping[str, Any], seconds: float = SEND_SECONDS) -> None:
    """Notify of a question.

    Args:
        target: the command, word by word, or one address.
        question: see `payload`.
        seconds: how long it may take.

    Raises:
        NotSent: the command's exit code isn't 0, the answer's status isn't 2xx, or it took too long.
    """
    if is_address(target):
        _post(target[0], question, seconds)
    else:
        _run(target, question, seconds)


def payload(question: QuestionRow, run: RunRow, more: str) -> dict[str, Any]:
    """The notification's content: what is asked and why, and the commands that answer it.

    Args:
        question: the question.
        run: its run.
        more: options to add to each command, such as `--store PATH`.
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
        os.killpg(started.pid, signal.SIGKILL)  # and everything that it started
        started.communicate()
        raise NotSent(f"{command[0]} took more than {seconds:g} s and was ended") from error
    if started.returncode != 0:
        raise NotSent(f"{command[0]} ended with code {started.returncode}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it would turn the POST into a GET, perhaps to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


def _post(address: str, question: Mapping[str, Any], seconds: float) -> None:
    headers = {"Content-Type": "application/json", "User-Agent": "browser-agent"}
    request = urllib.request.Request(address, json.dumps(question).encode(), headers, method="POST")
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=seconds):
            return
    except urllib.error.HTTPError as error:
        with error:
            raise NotSent(f"{host_of(address)} answered {error.code}") from None  # its message holds the address
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or type(error).__name__
        raise NotSent(f"{host_of(address)} could not be reached: {why}") from None
