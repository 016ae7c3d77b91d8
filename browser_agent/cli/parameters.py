"""Options and arguments shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from browser_agent import settings_sources
from browser_agent.states import Point, Victim

StorePath = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|postgresql://...",
        help=f"The store (default {settings_sources.STORE_VARIABLE}, {settings_sources.FILE_NAME}, or data folder)",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SETTING=VALUE", help="Any setting, for this command; `browser-agent config` lists them."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", metavar="", help="One JSON document on stdout; progress goes to stderr.")
]

# a run

RunId = Annotated[str, typer.Argument(metavar="RUN", help='The id of a run, in full, or "last".')]
File = Annotated[str, typer.Argument(metavar="FILE[:TASK]", help="The task's file, and its name if there are several.")]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="name=value ...", help="The task's arguments; a secret by its source: env:NAME, @FILE or prompt."
    ),
]
SiteUrl = Annotated[list[str] | None, typer.Option("--site", metavar="NAME=URL", help="The address of a site.")]
Account = Annotated[list[str] | None, typer.Option("--account", metavar="NAME=WHO", help="The account at a site.")]
Key = Annotated[
    str | None,
    typer.Option("--key", help="Your name for this work: the same key means the same run, never a new one."),
]
Headed = Annotated[bool | None, typer.Option("--headed", metavar="", help="Show the browser.")]
SlowMo = Annotated[
    float | None, typer.Option("--slow-mo", metavar="MS", min=0, help="How long to wait before every page call.")
]
Pause = Annotated[
    bool,
    typer.Option(
        "--pause-before-gesture", metavar="", help="Before each gesture: Enter makes it, Ctrl-C stops the run."
    ),
]
KeepLooking = Annotated[
    float | None,
    typer.Option(
        "--keep-looking",
        metavar="SECONDS",
        min=0,
        help="How long an open question looks again by itself (60). What a gesture and its site declare (settle, "
        "late_commit) is waited for before that, in any case.",
    ),
]
Netlog = Annotated[
    bool | None,
    typer.Option(
        "--netlog/--no-netlog",
        metavar="",
        help="Read Chromium's network log and record each write that it sends again by itself, which no guard prevents "
        "in all cases. The log stays in memory; only restarts are stored, without their query.",
    ),
]
KillAtText = Annotated[
    str | None,
    typer.Option(
        "--kill-at",
        metavar="POINT[:N][@VICTIM]",
        help="End the worker with SIGKILL at that point of the run's Nth gesture, to see that your task survives. "
        f"Points: {', '.join(Point)}. Other victims: {', '.join(Victim)}.",
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        metavar="",
        help="For each verdict, list the conditions that were checked: yes or no, and what showed it.",
    ),
]
LogLevel = Annotated[
    str | None,
    typer.Option("--log-level", metavar="LEVEL", help="Log this level and above: debug, info, warning or error."),
]
LogFile = Annotated[
    Path | None,
    typer.Option("--log-file", help="Where log lines go; standard error by default. `--set log_format=json` for JSON."),
]

# an answer

QuestionId = Annotated[str, typer.Argument(metavar="ID", help="The question's id, from `browser-agent inbox`.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Your name, for the audit log.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why: what you looked at.")]
Only = Annotated[
    list[int] | None,
    typer.Option(
        "--only",
        metavar="N",
        min=1,
        help="Approve only call N of the list; repeat it for more. The others are refused.",
    ),
]
UntilDone = Annotated[
    bool,
    typer.Option(
        "--until-done", metavar="", help="Allow a call to be made again if it is proven not to have happened."
    ),
]
Hours = Annotated[
    float | None,
    typer.Option(
        "--hours", metavar="HOURS", help="For how many hours your approval is valid; by default as the task says."
    ),
]
Given = Annotated[
    list[str] | None,
    typer.Option("--value", metavar="NAME=VALUE", help="A value that the site gave, such as number=INV-7."),
]
Override = Annotated[
    bool,
    typer.Option("--override", metavar="", help="Answer not-happened before the safe time, at your own risk."),
]
NoResume = Annotated[
    bool, typer.Option("--no-resume", metavar="", help="Only record the answer; resume the run yourself later.")
]
