"""The client of Temporal: starts a run's workflow, answers, resumes or schedules it, and serves the queues."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from browser_agent.errors import InOtherHands, Misuse, UnknownName
from browser_agent.keeper.stop_request import stop_signals
from browser_agent.keeper.temporal.messages import (
    WORKFLOW,
    Limits,
    Reply,
    RunStatus,
    ScheduledRun,
    WorkflowInput,
    workflow_queue,
)
from browser_agent.store.records import RunRow


@dataclass(frozen=True)
class TemporalAddress:
    """Temporal's address and namespace (None = as its own settings say), and the queue of the browser workers."""

    address: str | None = None
    namespace: str | None = None
    queue: str = "browser-agent"


async def connect(at: TemporalAddress) -> Client:
    """Connect, with certificates and keys from Temporal's own environment (`TEMPORAL_API_KEY` and so on) or file.

    Raises:
        Misuse: no server answers.
    """
    known = ClientConfig.load_client_connect_config()
    address = known["target_host"] = at.address or known.get("target_host", "localhost:7233")
    if at.namespace is not None:
        known["namespace"] = at.namespace
    try:
        return await Client.connect(**known)
    except RuntimeError as error:
        raise Misuse(
            f"No Temporal server answers at {address}. Is it running? On one machine: temporal server start-dev. "
            "Nothing was done."
        ) from error


def workflow_id(row: RunRow) -> str:
    """The id of a run's workflow: the caller's own name for the work, else the run's id."""
    return row.key or row.id


async def start(client: Client, row: RunRow, at: TemporalAddress, limits: Limits) -> bool:
    """Start the workflow of a run; False if it has or had one, since a key never starts two workflows."""
    work = WorkflowInput(at.queue, row.id, limits=limits)
    try:
        await client.start_workflow(
            WORKFLOW,
            work,
            id=workflow_id(row),
            task_queue=workflow_queue(at.queue),
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        )
    except WorkflowAlreadyStartedError:
        return False
    return True


async def resume(client: Client, row: RunRow, at: TemporalAddress, limits: Limits) -> None:
    """Resume a run: through its workflow, or through a new one if that has failed. It looks first.

    Raises:
        InOtherHands: its workflow has finished.
    """
    handle = client.get_workflow_handle(workflow_id(row))
    try:
        await handle.execute_update("resume")
        return
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
    try:
        await client.start_workflow(
            WORKFLOW,
            WorkflowInput(at.queue, row.id, limits=limits, resumed=True),
            id=workflow_id(row),
            task_queue=workflow_queue(at.queue),
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        )
    except WorkflowAlreadyStartedError as error:
        raise InOtherHands(f"The workflow {workflow_id(row)} has finished. Nothing was done.") from error


async def answer(client: Client, row: RunRow, reply: Reply) -> RunStatus:
    """Give a person's answer to a run's workflow, and wait until it is stored.

    Raises:
        Misuse: it was refused; the workflow says why.
        UnknownName: no such workflow is running.
    """
    handle = client.get_workflow_handle(workflow_id(row))
    try:
        status: RunStatus = await handle.execute_update("answer", reply, result_type=RunStatus)
        return status
    except WorkflowUpdateFailedError as error:
        raise Misuse(_refusal(error)) from error
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise UnknownName(
            f"No workflow {workflow_id(row)} is running: answer at the store itself, with `browser-agent answer`."
        ) from error


def _refusal(error: BaseException) -> str:
    """The words of the innermost cause."""
    cause = error.__cause__
    while cause is not None and cause.__cause__ is not None:
        cause = cause.__cause__
    return cause.message if isinstance(cause, ApplicationError) else str(cause or error)


async def schedule(
    client: Client, name: str, wanted: ScheduledRun, *, cron: Sequence[str], at: TemporalAddress, limits: Limits
) -> None:
    """Schedule a run: at each of the times it is submitted and started, once for each key.

    Raises:
        InOtherHands: a schedule of that name exists.
    """
    action = ScheduleActionStartWorkflow(
        WORKFLOW, WorkflowInput(at.queue, wanted=wanted, limits=limits), id=name, task_queue=workflow_queue(at.queue)
    )
    spec = ScheduleSpec(cron_expressions=list(cron))
    policy = SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ALL)
    try:
        await client.create_schedule(name, Schedule(action=action, spec=spec, policy=policy))
    except ScheduleAlreadyRunningError as error:
        raise InOtherHands(f"A schedule named {name} exists already. Nothing was done.") from error


async def serve(worker: Worker) -> None:
    """Serve until Ctrl-C or SIGTERM; then finish the gestures in hand, release the runs, and return."""
    stopping = asyncio.Event()
    with stop_signals(stopping.set):
        async with worker:
            await stopping.wait()
