"""The pytest plugin: fixtures by which a suite proves that its own browser tasks survive an interruption.

Stands beside pytest-playwright, whose `page` stays as it is. This module holds options, hooks and fixtures, and what
they do lies in `browser_agent.testing.suite`. It is loaded into every suite where browser-agent is installed: what may
never happen is that it costs a suite something that uses none of it, or needs pytest-playwright there.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from browser_agent.testing.suite.agent_audit import AgentAudit
    from browser_agent.testing.suite.agent_faults import AgentFaults
    from browser_agent.testing.suite.agent_run import AgentRun
    from browser_agent.testing.suite.agent_task import AgentTasks
    from browser_agent.testing.suite.report_folder import Entry
    from browser_agent.testing.suite.trial import Trial
    from observers import Site

MARKER = "every_interruption"
_USES = ("agent_task", "agent_run")
_TRIAL: pytest.StashKey[Trial] = pytest.StashKey()
_TOLD: pytest.StashKey[tuple[tuple[str, str], list[Any]]] = pytest.StashKey()
_SESSION: pytest.StashKey[str] = pytest.StashKey()

# options


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("browser-agent", "runs of browser-agent in tests")
    report = "write a report of each test that had a run, and an index of them, into this folder"
    store = (
        "keep the runs of the tests in this file or PostgreSQL database; in pytest's own temporary folder if not said"
    )
    group.addoption("--agent-report", metavar="DIR", default=None, help=report)
    group.addoption("--agent-store", metavar="FILE", default=None, help=store)
    parser.addini("agent_report", report, default="")
    parser.addini("agent_store", store, default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(points=None, gestures=1, may_ask=False): run the test undisturbed, and once with whoever makes the "
        "gesture killed at each point of it (or at the named ones); may_ask: an open run may stop for a person then",
    )
    if _said(config, "agent_report") or _said(config, "agent_store"):
        from browser_agent.testing.suite.locations import refuse_wiped

        refuse_wiped(config)
    if _said(config, "agent_report") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Index(config), "browser-agent index")


def _said(config: pytest.Config, name: str) -> bool:
    return bool(config.getoption(name, default=None) or config.getini(name))


def _session(config: pytest.Config) -> str:
    """Names this test session, the same in all of its processes."""
    told = getattr(config, "workerinput", {}).get("testrunuid")
    return str(config.stash.setdefault(_SESSION, told or uuid.uuid4().hex))


# fixtures


@pytest.fixture
def agent_site() -> Site | None:
    """The site that the test's gestures change. Override it in your suite."""
    return None


@pytest.fixture
def agent_sites() -> Sequence[Site]:
    """Further sites that observers look at. Override it in your suite if there are some."""
    return ()


@pytest.fixture
def _agent_trial(
    request: pytest.FixtureRequest,
    agent_site: Site | None,
    agent_sites: Sequence[Site],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Trial]:
    from browser_agent.testing.suite.locations import store_of
    from browser_agent.testing.suite.trial import Trial

    item, marker = request.node, request.node.get_closest_marker(MARKER)
    trial = Trial(
        test=item.nodeid,
        session=_session(request.config),
        store=store_of(request.config, tmp_path_factory.getbasetemp()),
        sites=[*([agent_site] if agent_site is not None else []), *agent_sites],
        go=getattr(item, "execution_count", 1),
        crossing=marker is not None,
        may_ask=bool(marker and marker.kwargs.get("may_ask", False)),
    )
    trial.kills.set(getattr(request, "param", None))
    item.stash[_TRIAL] = trial
    yield trial
    _end(item, trial)


@pytest.fixture
def agent_audit(_agent_trial: Trial) -> AgentAudit:
    """What is written down of this test's runs: `entries`, `outcomes` (in order), `questions` that wait."""
    return _agent_trial.audit


@pytest.fixture
def agent_faults(_agent_trial: Trial) -> Iterator[AgentFaults]:
    """What goes wrong in this test: on the road to its sites (`lose_answer` and others), `kill_worker`, `kill_browser`.

    The test fails if one of them was never met.
    """
    from browser_agent.testing.suite.agent_faults import AgentFaults

    with AgentFaults(_agent_trial) as faults:
        _agent_trial.faults = faults
        yield faults


@pytest.fixture
def agent_task(request: pytest.FixtureRequest, _agent_trial: Trial) -> AgentTasks:
    """Keeps a task with a real keeper, worker and Chromium: `agent_task(invoice, order="S-7").outcomes`."""
    from browser_agent.testing.suite.agent_task import AgentTasks

    _faults_first(request)
    return AgentTasks(_agent_trial)


@pytest.fixture
def agent_run(
    request: pytest.FixtureRequest, _agent_trial: Trial, agent_site: Site | None, agent_sites: Sequence[Site]
) -> Iterator[AgentRun]:
    """An open run on this test's `page`: `agent_run.make(Click(...))` makes a gesture and hands back what was proven.

    When the test is run again while a gesture is in doubt, it is the same run, which looks and makes nothing twice.
    """
    if not request.config.pluginmanager.hasplugin("playwright"):
        pytest.fail("agent_run needs the `page` of pytest-playwright: pip install pytest-playwright", pytrace=False)
    from browser_agent.testing.suite.agent_run import AgentRun

    _faults_first(request)
    page, new_context = request.getfixturevalue("page"), request.getfixturevalue("new_context")
    run = _agent_trial.run = AgentRun(_agent_trial, page, new_context, agent_site, agent_sites)
    yield run
    run.close()


def _faults_first(request: pytest.FixtureRequest) -> None:
    """The sites are bound to their roads before anything of the test is written down."""
    if "agent_faults" in request.fixturenames:
        request.getfixturevalue("agent_faults")


# every interruption


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    from browser_agent.errors import Misuse
    from browser_agent.testing.suite.interruptions import crossings, names

    where = f"{metafunc.definition.nodeid}: {MARKER}"
    if not any(name in metafunc.fixturenames for name in _USES):
        pytest.fail(f"{where} needs one of {' and '.join(_USES)} to kill.", pytrace=False)
    try:
        found = crossings(*marker.args, **marker.kwargs)
    except (Misuse, TypeError) as error:
        raise pytest.fail.Exception(f"{where}: {error}", pytrace=False) from None
    metafunc.parametrize("_agent_trial", found, ids=names(found), indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """A test that uses us may have to begin a second life; any other is left as it is."""
    result, raised = None, None
    try:
        result = yield
    except BaseException as error:
        if _TRIAL not in pyfuncitem.stash:
            raise
        raised = error
    if _TRIAL in pyfuncitem.stash:
        from browser_agent.testing.suite.second_life import settle

        settle(pyfuncitem, pyfuncitem.stash[_TRIAL], raised)
    return result


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Outcomes that differ are told gesture by gesture."""
    if op == "==":
        for mine, other in ((left, right), (right, left)):
            if hasattr(mine, "explain") and type(mine).__module__ == "browser_agent.testing.suite.outcomes":
                return mine.explain(other)  # type: ignore[no-any-return]  # known without importing it
    return None


# reports


def _end(item: pytest.Item, trial: Trial) -> None:
    """Write the reports of a test's runs, and gather what others may show: an error here is an error of the test."""
    if not trial.audit.runs:
        return
    from browser_agent.testing.suite import locations, report_extras, report_folder

    config, audit = item.config, trial.audit
    where = locations.told(config, locations.REPORT)
    reports = report_folder.write_reports(where, audit.store, trial.test, audit.runs, trial.go) if where else []
    entry = report_folder.Entry(
        trial.test, list(audit.outcomes), len(audit.questions), [report.name for report in reports]
    )
    extras: list[Any] = []
    if report_extras.html_is_written(config):
        extras = report_extras.extras(config, report_extras.shots(audit.store, audit.runs), reports)
    if report_extras.allure_is_written(config):
        report_extras.give_allure(report_extras.shots(audit.store, audit.runs), reports)
    item.stash[_TOLD] = ((report_folder.PROPERTY, entry.dump()), extras)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: Any = yield
    if call.when == "teardown" and _TOLD in item.stash:
        told, extras = item.stash[_TOLD]
        del item.stash[_TOLD]  # a rerun of this item has its own
        report.user_properties.append(told)
        if extras:
            report.extras = [*getattr(report, "extras", []), *extras]
    return report  # type: ignore[no-any-return]


class _Index:
    """Gathers what the tests tell, from all processes, and writes the index at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._ended: dict[str, str] = {}
        self._entries: list[Entry] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        from browser_agent.testing.suite.report_folder import PROPERTY, Entry

        if report.when == "call" or report.outcome != "passed":
            self._ended[report.nodeid] = report.outcome
        for entry in [Entry.read(str(text)) for name, text in report.user_properties if name == PROPERTY]:
            entry.ended = self._ended.get(entry.test, "")
            self._entries.append(entry)

    def pytest_sessionfinish(self) -> None:
        from browser_agent.testing.suite.locations import REPORT, told
        from browser_agent.testing.suite.report_folder import write_index

        where = told(self._config, REPORT)
        if where is not None and self._entries:
            self._written = write_index(where, self._entries)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._entries:
            terminalreporter.write_line(f"browser-agent: what the tests' runs have done is told in {self._written}")
