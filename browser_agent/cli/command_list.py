"""The commands, in the order of `--help`: where each one is, and its line in the list.

The line is the first paragraph of the command's own help, written here so that the list imports no command.
"""

from __future__ import annotations

COMMANDS = {
    "run": ("run.run", "Start a run of a task: it MAKES the task's changes at its sites."),
    "resume": (
        "run.resume",
        "Resume a run: it first LOOKS what its last gesture did, then MAKES the changes that are left.",
    ),
    "submit": (
        "queue.submit",
        "Write a run down for a worker process (`browser-agent worker`), and return at once. Nothing is made here.",
    ),
    "worker": (
        "queue.worker",
        "Take submitted runs, one after the other, and MAKE their changes, until it is asked to stop.",
    ),
    "watch": (
        "queue.watch",
        "Look after this machine's keepers: end what a dead one has left, attest its death, tell of runs that stand "
        "still.",
    ),
    "workers": (
        "queue.workers",
        "List the worker processes, living or dead since not long ago, and what each of them keeps. Changes nothing.",
    ),
    "runs": ("show.runs", "List the newest runs; with --all or --json all of them. Changes nothing."),
    "show": (
        "show.show",
        "Show a run: its attempts, steps, gestures and what is known of each, and its open question. Changes nothing.",
    ),
    "inbox": (
        "show.inbox",
        "List what waits for a person, oldest first, with evidence and the commands that answer it. Changes nothing.",
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
        "Take back what a step of a run has MADE, by the step that its task names for it: a new run, which asks first.",
    ),
    "report": (
        "show.report",
        "Write one self-contained HTML file that shows a run to a reviewer, with its pictures. Changes no run.",
    ),
    "config": (
        "config.config",
        "Show every setting, its value in this folder, and where it comes from; or one, in full. Changes nothing.",
    ),
    "key": (
        "machine.key",
        "Show whether sessions are stored sealed, and with which key. With --new it MAKES a key if there is none.",
    ),
    "login": (
        "login.login",
        "Open a browser in which YOU sign in; what it leaves is kept encrypted for every later run of that account.",
    ),
    "doctor": (
        "machine.doctor",
        "Check whether this machine can run browser tasks, and say what to do if not. Installs only with --install.",
    ),
    "demo": (
        "machine.demo",
        "Start fixture sites on this machine, interrupt a run of invoices and emails, and resume it before your eyes.",
    ),
}

AUDIT_COMMANDS = {
    "verify": (
        "show.audit_verify",
        "Hash the audit log and every stored picture again. Changes nothing; exit code 1 if something does not hold.",
    ),
    "show": ("show.audit_show", "Print the audit log, line by line. Changes nothing."),
}

TEMPORAL_COMMANDS = {
    "worker": (
        "temporal.worker",
        "Be a browser worker: keep runs on this machine that Temporal hands out. It MAKES their changes, until Ctrl-C.",
    ),
    "workflows": (
        "temporal.workflows",
        "Be a workflow worker: it says what comes next in each run, and has no browser. At least one must be there.",
    ),
    "submit": (
        "temporal.submit",
        "Write a run down and start its workflow; a browser worker then MAKES its changes. Comes back at once.",
    ),
    "answer": (
        "temporal.answer",
        "Answer a question by your name, through its workflow: a browser worker LOOKS once more, then the run goes on.",
    ),
    "resume": (
        "temporal.resume",
        "Resume a run that has raised, or whose workers have died too often. A browser worker LOOKS first.",
    ),
    "schedule": (
        "temporal.schedule",
        "Have a task run at set times. A browser worker submits each run when it is due, and MAKES its changes.",
    ),
}
