"""Browser tasks that change something in the world, interrupted and resumed.

The public interface: everything that a task script needs. Names are imported on first use, because Playwright and
SQLModel are slow to import. If a file of the user hides the package `observers`, the import says so.
"""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a library is silent until the application asks for logs

if TYPE_CHECKING:
    from browser_agent.browser.appearance import Appearance
    from browser_agent.errors import (
        Fact,
        FileChanged,
        InOtherHands,
        KeeperGone,
        Misuse,
        NeverRun,
        NotAllowed,
        NotApproved,
        OutcomeUnknown,
        ProofTooThin,
        Refused,
        Rejected,
        Stop,
        Stopped,
        StoreUnusable,
        Superseded,
        TaskChanged,
        UnknownName,
        WaitingForPerson,
        WrongArguments,
        WrongTask,
    )
    from browser_agent.keeper.own_page import OpenRun, open_run
    from browser_agent.options import Options
    from browser_agent.run.executor import Run
    from browser_agent.script.gestures import Accept, Done, Gesture
    from browser_agent.script.kinds import Check, Click, Press, Select, Upload
    from browser_agent.script.login_routines import Login, login
    from browser_agent.script.pointer_kinds import DoubleClick, DragTo, Hold, RightClick
    from browser_agent.script.steps import Step, StepCall, step
    from browser_agent.script.tasks import Task, task
    from browser_agent.secrets.secret import Secret, SecretMissing
    from observers import (
        Address,
        Both,
        ConfirmationText,
        Download,
        ErrorShown,
        Evidence,
        Gone,
        Match,
        NewPage,
        Observation,
        Observer,
        Opened,
        OrderStatus,
        Outcome,
        Record,
        SentMail,
        Site,
        ToastLog,
        View,
    )

__all__ = [
    "Accept",
    "Address",
    "Appearance",
    "Both",
    "Check",
    "Click",
    "ConfirmationText",
    "Done",
    "DoubleClick",
    "Download",
    "DragTo",
    "ErrorShown",
    "Evidence",
    "Fact",
    "FileChanged",
    "Gesture",
    "Gone",
    "Hold",
    "InOtherHands",
    "KeeperGone",
    "Login",
    "Match",
    "Misuse",
    "NeverRun",
    "NewPage",
    "NotAllowed",
    "NotApproved",
    "Observation",
    "Observer",
    "OpenRun",
    "Opened",
    "Options",
    "OrderStatus",
    "Outcome",
    "OutcomeUnknown",
    "Press",
    "ProofTooThin",
    "Record",
    "Refused",
    "Rejected",
    "RightClick",
    "Run",
    "Secret",
    "SecretMissing",
    "Select",
    "SentMail",
    "Site",
    "Step",
    "StepCall",
    "Stop",
    "Stopped",
    "StoreUnusable",
    "Superseded",
    "Task",
    "TaskChanged",
    "ToastLog",
    "UnknownName",
    "Upload",
    "View",
    "WaitingForPerson",
    "WrongArguments",
    "WrongTask",
    "login",
    "open_run",
    "step",
    "task",
]

_HOMES = {
    "browser_agent.browser.appearance": "Appearance",
    "observers": "Address Both ConfirmationText Download ErrorShown Evidence Gone Match NewPage Observation Observer "
    "Opened OrderStatus Outcome Record SentMail Site ToastLog View",
    "browser_agent.run.executor": "Run",
    "browser_agent.script.gestures": "Accept Done Gesture",
    "browser_agent.options": "Options",
    "browser_agent.script.kinds": "Check Click Press Select Upload",
    "browser_agent.script.pointer_kinds": "DoubleClick DragTo Hold RightClick",
    "browser_agent.script.login_routines": "Login login",
    "browser_agent.keeper.own_page": "OpenRun open_run",
    "browser_agent.secrets.secret": "Secret SecretMissing",
    "browser_agent.script.steps": "Step StepCall step",
    "browser_agent.script.tasks": "Task task",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker that sees this would accept every misspelled name

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        _refuse_hidden_observers()
        value = getattr(import_module(_HOME_OF.get(name, "browser_agent.errors")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _refuse_hidden_observers() -> None:
    ours = Path(__file__).parent.parent / "observers" / "__init__.py"
    found = find_spec("observers")
    if found is None or found.origin is None or not ours.samefile(found.origin):
        where = found.origin if found is not None else None
        raise ImportError(
            f"{where or 'Something'} hides the package observers that browser-agent needs; rename it, and write "
            "`from browser_agent import Observer` for ours."
        )
