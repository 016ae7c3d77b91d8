"""The commands, in the order of `--help`: where each one is, and its line in the list.

The line is the first paragraph of the command's own help, written here so that the list imports no command.
"""

from __future__ import annotations

COMMANDS = {
    "run": ("run.run", "Start a run of a task: it MAKES the task's changes at its sites."),
    "resume": (
        "run.resume",
        "Resume a run: it first LOOKS at what its last gesture did, then MAKES the changes that are left.",
    ),
    "submit": (
        "queue.submit",
        "Queue a run for a worker process (`browser-agent worker`), and return at once. Nothing is made here.",
    ),
    "worker": (
        "queue.worker",
        "Take submitted runs and MAKE their changes, until it is asked to stop.",
    ),
    "watch": (
        "queue.watch",
        "Watch this machine's keepers: end what a dead one left, attest its death, report runs that make no progress.",
    ),
    "workers": (
        "queue.workers",
        "List the worker processes that live or died in the last hour, and the runs of each. Changes nothing.",
    ),
    "runs": ("show.runs", "List the newest runs; with --all or --json all of them. Changes nothing."),
    "show": (
        "show.show",
        "Show a run: its attempts, steps, gestures and their outcomes, and its open question. Changes nothing.",
    ),
    "inbox": (
        "show.inbox",
        "List what waits for a person, oldest first, with evidence and the commands to answer. Changes nothing.",
    ),
    "answer": (
        "answer.answer",
        "Answer a question: it LOOKS once more, records your answer, and resumes the run.",
    ),
    "approve": ("answer.approve", "Approve the calls of a question; the run resumes and MAKES them."),
    "refuse": (
        "answer.refuse",
        "Refuse the calls of a question: they are NOT made, and the run resumes without them.",
    ),
    "reverse": (
        "reverse.reverse",
        "Undo what a step of a run has MADE, by the step that its task names for it: a new run, which asks first.",
    ),
    "report": (
        "show.report",
        "Write a report of a run, with its pictures, as one self-contained HTML file. Changes no run.",
    ),
    "config": (
        "config.config",
        "Show every setting, its value in this folder, and where it comes from; or explain one. Changes nothing.",
    ),
    "key": (
        "machine.key",
        "Show whether sessions are stored encrypted, and with which key. With --new it CREATES a key if there is none.",
    ),
    "login": (
        "login.login",
        "Open a browser in which YOU sign in. The login is stored encrypted, for every later run of that account.",
    ),
    "doctor": (
        "machine.doctor",
        "Check whether this machine can run browser tasks, and what to do if not. Installs only with --install.",
    ),
    "demo": (
        "machine.demo",
        "Start practice sites on this machine, interrupt a run of invoices and emails, and show how it is resumed.",
    ),
}

AUDIT_COMMANDS = {
    "verify": (
        "show.audit_verify",
        "Check the hashes of the audit log and of every stored picture. Changes nothing; exit code 1 if one is wrong.",
    ),
    "show": ("show.audit_show", "Print the audit log, line by line. Changes nothing."),
}

TEMPORAL_COMMANDS = {
    "worker": (
        "temporal.worker",
        "Run a browser worker: carry out runs that Temporal assigns, and MAKE their changes, until Ctrl-C.",
    ),
    "workflows": (
        "temporal.workflows",
        "Run a workflow worker: it decides what comes next in each run, and needs no browser. At least one must run.",
    ),
    "submit": (
        "temporal.submit",
        "Queue a run and start its workflow; a browser worker then MAKES its changes. Returns at once.",
    ),
    "answer": (
        "temporal.answer",
        "Answer a question through its workflow: a browser worker LOOKS once more, then resumes the run.",
    ),
    "resume": (
        "temporal.resume",
        "Resume a run that has raised, or whose workers have died too often. A browser worker LOOKS first.",
    ),
    "schedule": (
        "temporal.schedule",
        "Run a task on a schedule. A browser worker submits each run when it is due, and MAKES its changes.",
    ),
}
