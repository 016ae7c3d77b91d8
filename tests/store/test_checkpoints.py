"""The last state of a session: sealed, fenced, bound to its run, and gone when the run has ended."""

import json

import pytest

from browser_agent.errors import Superseded
from browser_agent.secrets.seal import Seal, SealBroken
from browser_agent.states import RunState
from browser_agent.store import Lease, Store
from browser_agent.store.checkpoints import Checkpoints
from tests.store.building import by_raw_sql, claim, everything, stored_bytes

STATE = {"cookies": [{"name": "sid", "value": "very-secret"}]}


def checkpoints(store: Store, key: bytes | None = b"k" * 32) -> Checkpoints:
    return Checkpoints(store.database, store.clock, Seal(key) if key else None)


def test_the_last_state_is_kept_and_nothing_of_it_in_the_clear(store: Store, lease: Lease) -> None:
    kept = checkpoints(store)
    assert kept.save(lease, session=({"cookies": []}, {})) and kept.save(lease, session=(STATE, {}))
    assert kept.last(lease.run, "session") == STATE
    assert len(everything(store)["checkpoint"]) == 1
    store.close()
    assert b"very-secret" not in stored_bytes(store)


def test_without_a_key_nothing_is_kept(store: Store, lease: Lease) -> None:
    assert not checkpoints(store, None).save(lease, session=(STATE, {}))
    assert everything(store)["checkpoint"] == []
    checkpoints(store).save(lease, session=(STATE, {}))
    assert checkpoints(store, None).last(lease.run, "session") is None


def test_that_nothing_is_kept_is_said_once_in_the_log(store: Store, lease: Lease) -> None:
    kept = checkpoints(store, None)
    assert not kept.unsealed(lease.run)
    kept.record_unsealed(lease)
    kept.record_unsealed(lease)
    assert kept.unsealed(lease.run)
    assert [line["kind"] for line in store.audit_lines(lease.run)].count("checkpoint_unsealed") == 1
    claim(store, lease.run)
    with pytest.raises(Superseded):
        kept.record_unsealed(lease)


def test_what_may_be_shown_needs_no_key_and_is_all_that_lies_open(store: Store, lease: Lease) -> None:
    shown = {"of": "post()", "address": "http://books.example/new", "title": "New"}
    checkpoints(store).save(lease, session=(STATE, {}))
    checkpoints(store).save(lease, page=({"fields": ["380.00"]}, shown))
    page, session = checkpoints(store, None).rows(lease.run)
    assert (json.loads(page.shown), json.loads(session.shown)) == (shown, {})
    assert (page.purpose, checkpoints(store).saved_at(lease.run, "page")) == ("page", store.clock.now())
    assert checkpoints(store).saved_at(lease.run, "other") is None
    assert b"380.00" not in stored_bytes(store)


def test_another_key_or_another_run_opens_nothing(store: Store, lease: Lease) -> None:
    checkpoints(store).save(lease, session=(STATE, {}))
    with pytest.raises(SealBroken):
        checkpoints(store, b"x" * 32).last(lease.run, "session")
    by_raw_sql(store, "UPDATE checkpoint SET purpose = 'other'")
    with pytest.raises(SealBroken):
        checkpoints(store).last(lease.run, "other")
    assert checkpoints(store).last(lease.run, "session") is None


def test_an_older_attempt_keeps_nothing(store: Store, lease: Lease) -> None:
    claim(store, lease.run)
    with pytest.raises(Superseded):
        checkpoints(store).save(lease, session=(STATE, {}))
    assert everything(store)["checkpoint"] == []


@pytest.mark.parametrize(
    ("state", "left"), [(RunState.FINISHED, 0), (RunState.ABANDONED, 0), (RunState.WAITING, 1), (RunState.RAISED, 1)]
)
def test_a_run_that_has_ended_for_good_keeps_no_session(store: Store, lease: Lease, state: RunState, left: int) -> None:
    checkpoints(store).save(lease, session=(STATE, {}))
    store.leases.end(lease, state, ended_by="done")
    assert len(everything(store)["checkpoint"]) == left
