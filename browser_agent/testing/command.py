"""`python -m browser_agent.testing`: serves all practice sites, one of them, or the fault proxy, until Ctrl-C."""

import argparse
import re
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date

from browser_agent.testing.proxy import fault_kinds
from browser_agent.testing.proxy.fault_kinds import NAMES
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from browser_agent.testing.proxy.traffic_log import DEFAULT_PATTERN
from browser_agent.testing.sites.bank import Bank
from browser_agent.testing.sites.board import Board
from browser_agent.testing.sites.books import DAY, Books
from browser_agent.testing.sites.mail import Mail
from browser_agent.testing.sites.seller import Seller
from browser_agent.testing.sites.shop import Shop
from browser_agent.testing.sites.site import FixtureSite
from browser_agent.testing.sites.wizard import Wizard

SITES: dict[str, Callable[..., FixtureSite]] = {
    site.name: site for site in (Books, Mail, Shop, Seller, Bank, Wizard, Board)
}
ENDS = {signal.SIGINT, signal.SIGTERM}


ABOUT = {
    "books": "an accounting site: post invoices for shipments (POST /invoices; form at /invoices/new)",
    "mail": "a mail site: send mails, and see their delivery status (POST /messages; form at /compose)",
    "shop": "a shop: orders with a status, confirmed in six ways (POST /orders; form at /orders/new)",
    "seller": "a price list: made twice, a change gives another price (POST /changes; form at /changes/new)",
    "bank": "a bank: transfers get no number, and are listed a day later (POST /transfers; form at /transfers/new)",
    "wizard": "an application on four pages, with drafts (POST /applications; starts at /apply/1)",
    "board": "a task board, changed by gestures other than a click (POST /changes; starts at /card?by=hold)",
}
DESCRIPTION = """\
Web sites to practise on, each with a ledger of what was really done to it, and a proxy that applies faults to the
requests to them or to a site of your own. All run on this machine's loopback interface until Ctrl-C; nothing is saved.
"""
EXAMPLES = """\
examples:
  python -m browser_agent.testing                     all seven sites, each at a free port
  python -m browser_agent.testing books --port 8001   one of them
  python -m browser_agent.testing proxy --port 8002 --to https://staging.example \\
      --fault cut_after_head --match "POST /invoices"
                                                      the next invoice posted at http://127.0.0.1:8002 is made, and
                                                      its answer is lost

Every site: /_truth is its ledger (JSON); POST /_control sets switches, such as {"reject": {"status": 409, "text":
"Closed."}}; POST /_clock {"advance": 30} moves its time ahead; any account signs in with the password "open sesame".
"""
SITE_END = """\
No site refuses a second copy: posting twice makes two records, and /_truth has both.
"""
PROXY = """\
Stands before a site, one of these or your own, and applies a fault to its requests. Open the site at the proxy's
address, and sign in there. The site sees its own Host, Origin and Referer; its redirects and cookies lead back to the
proxy. A link or form with the site's full address leads past the proxy: a warning is printed when a page has one, and
no fault applies there. No request is ever sent twice.
"""


def parser() -> argparse.ArgumentParser:
    top = _described(argparse.ArgumentParser(prog="python -m browser_agent.testing"), DESCRIPTION, EXAMPLES)
    kinds = top.add_subparsers(dest="kind", title="sites and proxy", metavar="NAME")
    for kind, about in ABOUT.items():
        site = _described(kinds.add_parser(kind, help=about), about[0].upper() + about[1:] + ".", SITE_END)
        site.add_argument("--port", type=int, default=0, help="0 takes a free one")
        site.add_argument(
            "--account", default=argparse.SUPPRESS, help="the account that is signed in; shown on every page"
        )
        site.add_argument(
            "--require-login", action="store_true", help="show a login page to visitors who haven't signed in"
        )
        if kind == Books.name:
            site.add_argument("--day", type=date.fromisoformat, default=DAY, help="the day of the shipments")
    _proxy_arguments(kinds.add_parser("proxy", help="the fault proxy, for one of these sites or your own"))
    return top


def _described(parser: argparse.ArgumentParser, description: str, epilog: str) -> argparse.ArgumentParser:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = description, epilog
    return parser


def _proxy_arguments(proxy: argparse.ArgumentParser) -> None:
    """The proxy's options, and what each fault does."""
    table = re.findall(r"^\| `(\w+).*?` \| (.*?) \| (.*?) \|$", fault_kinds.__doc__ or "", re.MULTILINE)
    width = max(len(name) for name, *_ in table)
    rows = "\n".join(f"  {name:<{width}}  {seen}; the site: {did}" for name, seen, did in table)
    rows = re.sub(r" \([123][^)]*\)|( until| or at) `\w+\(\)`", "", rows).replace("`", "")
    _described(proxy, PROXY, f"faults, what the browser sees, and what the site did:\n{rows}\n")
    proxy.add_argument("--port", type=int, default=0, help="0 takes a free one")
    proxy.add_argument("--to", required=True, metavar="URL", help="the site, such as https://staging.example/app")
    proxy.add_argument(
        "--ca-file", metavar="PEM", help="authorities to trust in addition to those that this machine trusts"
    )
    proxy.add_argument("--fault", choices=NAMES, metavar="FAULT", help="the fault to apply; see below")
    proxy.add_argument(
        "--match",
        default=DEFAULT_PATTERN,
        metavar="'METHOD /path'",
        help="the requests; * is any text in a segment, ** any text (%(default)s)",
    )
    proxy.add_argument("--count", type=int, default=1, help="how many of them it applies to; 0: all (%(default)s)")
    proxy.add_argument("--skip", type=int, default=0, help="how many pass before that (%(default)s)")
    proxy.add_argument("--seconds", type=float, help="for answer_late and commit_late")
    proxy.add_argument("--code", type=int, help="for status and status_after_commit")


def start(asked: argparse.Namespace) -> dict[str, FixtureSite | FaultProxy]:
    """Start the requested sites or proxy.

    Raises:
        OSError: the port is taken.
        TypeError: the fault lacks an option.
    """
    if asked.kind is None:
        return {kind: make().open() for kind, make in SITES.items()}
    return {asked.kind: start_proxy(asked) if asked.kind == "proxy" else start_site(asked)}


def start_site(asked: argparse.Namespace) -> FixtureSite:
    given = {name: value for name, value in vars(asked).items() if name in ("account", "day")}
    site = SITES[asked.kind](**given)
    site.require_login(asked.require_login)
    return site.open(asked.port)


def start_proxy(asked: argparse.Namespace) -> FaultProxy:
    proxy = FaultProxy(asked.to, asked.port, ca_file=asked.ca_file, warn=_warn)
    if asked.fault:
        given = {name: getattr(asked, name) for name in ("seconds", "code")}
        options = {name: value for name, value in given.items() if value is not None}
        proxy.fault(asked.fault, asked.match, asked.count or None, asked.skip, **options)
    return proxy


def _warn(text: str) -> None:
    print(f"proxy: {text}", file=sys.stderr, flush=True)


def main() -> None:
    reader = parser()
    asked = reader.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # before any thread starts, since threads inherit it
    with ExitStack() as running:
        try:
            started = start(asked)
        except (OSError, TypeError, ValueError) as wrong:
            reader.error(str(wrong))
        for kind, each in started.items():
            running.callback(each.close)
            print(f"{kind}: {each.url}", flush=True)
        signal.sigwait(ENDS)
