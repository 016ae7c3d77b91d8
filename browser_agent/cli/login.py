"""`login`: a person signs in at a site once for all later runs; also lists and forgets the stored logins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from browser_agent.cli.desk import Desk, named_values, offer_key, open_desk, resolved
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.parameters import Account, AsJson, Set, SiteUrl, StorePath
from browser_agent.cli.screen import Screen
from browser_agent.errors import Misuse, UnknownName
from browser_agent.ownership.terminal import enter_pressed, has_display
from browser_agent.script.task_file import load_module, load_task
from browser_agent.script.tasks import Task
from browser_agent.secrets.seal import key_in_use
from browser_agent.settings_sources import store_meant
from browser_agent.states import QuestionKind
from browser_agent.store.logins import NO_KEY
from observers import Site


def login(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE] SITE", help="The site's name; the task's file, if it declares the site."),
    ] = None,
    *,
    site: SiteUrl = None,
    account: Account = None,
    when_signed_in: Annotated[
        str,
        typer.Option("--when-signed-in", metavar="MARK", help="What the page shows then: a CSS selector or a text."),
    ] = "",
    headless: Annotated[
        bool,
        typer.Option("--headless", metavar="", help="No window: attach to the address that is printed."),
    ] = False,
    list_all: Annotated[bool, typer.Option("--list", metavar="", help="List the stored logins.")] = False,
    forget: Annotated[bool, typer.Option("--forget", metavar="", help="Forget the site's logins instead.")] = False,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Open a browser in which YOU sign in. The login is stored encrypted, for every later run of that account.

    It is encrypted with your key (`browser-agent key`), which is created if there is none. The address and the
    account come from FILE, browser-agent.toml, --site and --account.

    Example:  browser-agent login books --site books=https://books.example --account books=acme
    """
    using = resolved(given).settings
    if not (list_all or forget):
        offer_key(Screen(as_json), store_meant(store, using))
        if key_in_use() is None:
            raise Misuse(NO_KEY)  # before a store is made
    desk = open_desk(store, as_json, new=not (list_all or forget), using=using)
    if list_all:
        return _list(desk)
    urls, accounts = named_values(site or [], "a site"), named_values(account or [], "an account")
    name = words[-1] if words else ""
    if not name:
        raise Misuse(
            "Which site? Name it: browser-agent login books. `browser-agent login --list` lists the stored logins."
        )
    if forget:
        return _forget(desk, name, accounts.get(name))
    found = _site(desk, words or [], urls, accounts, when_signed_in)
    if not headless and not has_display():
        raise Misuse("There is no display to show the browser on: start it under xvfb-run, or with --headless.")
    from browser_agent.cli.login_window import log_in  # Playwright is slow to import

    log_in(desk.store, found, using.options(), headless=headless, entered=enter_pressed, say=desk.screen.progress)
    _close(desk, found)
    return Exit.FINISHED


def _site(desk: Desk, words: list[str], urls: dict[str, Any], accounts: dict[str, Any], mark: str) -> Site:
    """The site as its file declares it, bound to the address and account of the command line, else of the settings."""
    name, held = words[-1], desk.settings.sites.get(words[-1])
    declared = _declared(words[0], name) if len(words) > 1 else None
    url = urls.get(name) or (held.url if held else None)
    account = accounts.get(name) or (held.account if held else None)
    try:
        if declared is not None:
            declared.bind(url, account)
            declared.signed_in = mark or declared.signed_in
            return declared
        if url is None or account is None:
            missing = f"--site {name}=URL" if url is None else f"--account {name}=WHO"
            where = f"set it under [sites.{name}] in browser-agent.toml"
            raise Misuse(
                f"The address or account of {name} is missing. Add {missing}, {where}, or name the task's file first."
            )
        return Site(name, url=url, account=account, signed_in=mark)
    except ValueError as error:
        raise Misuse(f"{error}.") from error


def _declared(file: str, name: str) -> Site:
    if ".py:" in file:
        sites = load_task(file).sites
    else:
        values = list(vars(load_module(Path(file).resolve())).values())
        sites = {value.name: value for value in values if isinstance(value, Site)}
        sites |= {name: site for task in values if isinstance(task, Task) for name, site in task.sites.items()}
    if name not in sites:
        raise UnknownName(f"{file} declares no site {name!r}; it has: {', '.join(sorted(sites)) or 'none'}.")
    return sites[name]


def _close(desk: Desk, site: Site) -> None:
    desk.screen.say(f"Stored, encrypted: the login of {site.name} ({site.account}).", "green")
    waiting = [
        question.run_id
        for question in desk.store.inbox.questions(open_only=True)
        if question.kind is QuestionKind.SIGNED_OUT and _is_of(json.loads(question.details), site)
    ]
    commands = [f"browser-agent resume {run} {desk.more}".strip() for run in waiting]
    for command in commands:
        desk.screen.say(f"A run waits for this login. Resume it with: {command}", "cyan")
    desk.screen.document({"site": site.name, "account": site.account, "kept": True, "next": commands})


def _is_of(details: dict[str, Any], site: Site) -> bool:
    return (details.get("site"), details.get("account")) == (site.name, site.account)


def _list(desk: Desk) -> Exit:
    rows = desk.store.logins.rows()
    for row in rows:
        desk.screen.say(f"{row.site} ({row.account})  {row.at:%Y-%m-%d %H:%M} UTC")
    if not rows:
        desk.screen.say("No login is stored.")
    desk.screen.document([{"site": row.site, "account": row.account, "at": row.at} for row in rows])
    return Exit.FINISHED


def _forget(desk: Desk, site: str, account: str | None) -> Exit:
    accounts = desk.store.logins.forget(site, account)
    if not accounts:
        raise UnknownName(f"No login of {site}{f' ({account})' if account else ''} is stored.")
    desk.screen.say(f"Forgotten: {', '.join(f'{site} ({one})' for one in accounts)}.")
    desk.screen.document({"forgotten": [{"site": site, "account": one} for one in accounts]})
    return Exit.FINISHED
