"""The pytest plugin: options, hooks and fixtures with which a suite shows that its tasks survive interruptions.

pytest loads it into every suite where browser-agent is installed, so it imports nothing until a test uses it, and it
needs pytest-playwright only for `agent_run`. `browser_agent.testing.suite` implements the fixtures.
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
    from browser_agent.testing.suite.report_folder import ReportEntry
    from browser_agent.testing.suite.trial import Trial
    from observers import Site

MARKER = "every_interruption"
_USES = ("agent_task", "agent_run")
_TRIAL: pytest.StashKey[Trial] = pytest.StashKey()
_RUN: pytest.StashKey[AgentRun] = pytest.StashKey()
_FAULTS: pytest.StashKey[AgentFaults] = pytest.StashKey()
_REPORT: pytest.StashKey[tuple[tuple[str, str], list[Any]]] = pytest.StashKey()
_SESSION: pytest.StashKey[str] = pytest.StashKey()

# options


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("browser-agent", "runs of browser-agent in tests")
    report = "write a report of each test that had a run, and an index of them, into this folder"
    store = "store the runs of the tests in this file or PostgreSQL database; default: pytest's own temporary folder"
    group.addoption("--agent-report", metavar="DIR", default=None, help=report)
    group.addoption("--agent-store", metavar="FILE", default=None, help=store)
    parser.addini("agent_report", report, default="")
    parser.addini("agent_store", store, default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(points=None, gestures=1, may_ask=False): run the test undisturbed, and once for each point of a "
        "gesture with the worker killed there; may_ask: an open run may then end with a question to a person",
    )
    if _is_set(config, "agent_report") or _is_set(config, "agent_store"):
        from browser_agent.testing.suite.locations import refuse_wiped

        refuse_wiped(config)
    if _is_set(config, "agent_report") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Index(config), "browser-agent index")


def _is_set(config: pytest.Config, name: str) -> bool:
    return bool(config.getoption(name, default=None) or config.getini(name))


def _session(config: pytest.Config) -> str:
    """Identifies this test session, the same in all of its processes."""
    of_xdist = getattr(config, "workerinput", {}).get("testrunuid")
    return str(config.stash.setdefault(_SESSION, of_xdist or uuid.uuid4().hex))


# fixtures


@pytest.fixture
def agent_site() -> Site | None:
    """The site that the test's gestures change. Override it in your suite."""
    return None


@pytest.fixture
def agent_sites() -> Sequence[Site]:
    """Further sites that observers look at. Override it in your suite if it has some."""
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
        execution=getattr(item, "execution_count", 1),
        crossing=marker is not None,
        may_ask=bool(marker and marker.kwargs.get("may_ask", False)),
    )
    trial.kills.set(getattr(request, "param", None))
    item.stash[_TRIAL] = trial
    yield trial
    _end(item, trial)


@pytest.fixture
def agent_audit(_agent_trial: Trial) -> AgentAudit:
    """What the store has of this test's runs: audit `entries`, `outcomes` in order, and open `questions`."""
    return _agent_trial.audit


@pytest.fixture
def agent_faults(request: pytest.FixtureRequest, _agent_trial: Trial) -> Iterator[AgentFaults]:
    """The faults of this test: in the network (`lose_answer` and others), `kill_worker`, `kill_browser`.

    The test fails if one of them never happened.
    """
    from browser_agent.testing.suite.agent_faults import AgentFaults

    with AgentFaults(_agent_trial) as faults:
        request.node.stash[_FAULTS] = faults
        yield faults


@pytest.fixture
def agent_task(request: pytest.FixtureRequest, _agent_trial: Trial) -> AgentTasks:
    """Runs a task with a real keeper, worker and Chromium: `agent_task(invoice, order="S-7").outcomes`."""
    from browser_agent.testing.suite.agent_task import AgentTasks

    _faults_first(request)
    return AgentTasks(_agent_trial)


@pytest.fixture
def agent_run(
    request: pytest.FixtureRequest, _agent_trial: Trial, agent_site: Site | None, agent_sites: Sequence[Site]
) -> Iterator[AgentRun]:
    """An open run on this test's `page`: `agent_run.make(Click(...))` makes a gesture and returns what was proven.

    If the test is run again while a gesture is in doubt, it gets the same run, which looks and makes nothing twice.
    """
    if not request.config.pluginmanager.hasplugin("playwright"):
        pytest.fail("agent_run needs the `page` of pytest-playwright: pip install pytest-playwright", pytrace=False)
    from browser_agent.testing.suite.agent_run import AgentRun

    _faults_first(request)
    page, new_context = request.getfixturevalue("page"), request.getfixturevalue("new_context")
    run = request.node.stash[_RUN] = AgentRun(_agent_trial, page, new_context, agent_site, agent_sites)
    yield run
    run.close()


def _faults_first(request: pytest.FixtureRequest) -> None:
    """Bind the sites to their proxies before a run of the test is stored."""
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
    """Call a test that uses the fixtures again if necessary; leave all others alone."""
    result, raised = None, None
    try:
        result = yield
    except BaseException as error:
        if _TRIAL not in pyfuncitem.stash:
            raise
        raised = error
    if _TRIAL in pyfuncitem.stash:
        from browser_agent.testing.suite.second_call import settle

        stash = pyfuncitem.stash
        settle(pyfuncitem, stash[_TRIAL], stash.get(_RUN, None), stash.get(_FAULTS, None), raised)
    return result


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain differing outcomes, gesture by gesture."""
    if op == "==":
        for mine, other in ((left, right), (right, left)):
            if hasattr(mine, "explain") and type(mine).__module__ == "browser_agent.testing.suite.outcomes":
                return mine.explain(other)  # type: ignore[no-any-return]  # its type is known without an import
    return None


# reports


def _end(item: pytest.Item, trial: Trial) -> None:
    """Write the reports of a test's runs, and collect what other plugins show. An error here fails the test."""
    if not trial.audit.runs:
        return
    from browser_agent.testing.suite import locations, report_extras, report_folder

    config, audit = item.config, trial.audit
    where = locations.path_of(config, locations.REPORT)
    reports = report_folder.write_reports(where, audit.store, trial.test, audit.runs, trial.execution) if where else []
    entry = report_folder.ReportEntry(
        trial.test, list(audit.outcomes), len(audit.questions), [report.name for report in reports]
    )
    extras: list[Any] = []
    if report_extras.html_is_written(config):
        extras = report_extras.extras(config, report_extras.pictures_of(audit.store, audit.runs), reports)
    if report_extras.allure_is_written(config):
        report_extras.attach_to_allure(report_extras.pictures_of(audit.store, audit.runs), reports)
    item.stash[_REPORT] = ((report_folder.PROPERTY, entry.dump()), extras)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: Any = yield
    if call.when == "teardown" and _REPORT in item.stash:
        entry, extras = item.stash[_REPORT]
        del item.stash[_REPORT]  # a rerun of this item gets its own
        report.user_properties.append(entry)
        if extras:
            report.extras = [*getattr(report, "extras", []), *extras]
    return report  # type: ignore[no-any-return]


class _Index:
    """Collects the entries of all tests and processes, and writes the index at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._ended: dict[str, str] = {}
        self._entries: list[ReportEntry] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        from browser_agent.testing.suite.report_folder import PROPERTY, ReportEntry

        if report.when == "call" or report.outcome != "passed":
            self._ended[report.nodeid] = report.outcome
        for entry in [ReportEntry.read(str(text)) for name, text in report.user_properties if name == PROPERTY]:
            entry.ended = self._ended.get(entry.test, "")
            self._entries.append(entry)

    def pytest_sessionfinish(self) -> None:
        from browser_agent.testing.suite.locations import REPORT, path_of
        from browser_agent.testing.suite.report_folder import write_index

        where = path_of(self._config, REPORT)
        if where is not None and self._entries:
            self._written = write_index(where, self._entries)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._entries:
            terminalreporter.write_line(f"browser-agent: the reports of the tests' runs are in {self._written}")
