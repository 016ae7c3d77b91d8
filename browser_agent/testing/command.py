"""`python -m browser_agent.testing`: all practice sites in the foreground; with a name one of them, or the proxy.

Prints each address and runs until Ctrl-C. Must not know: tests.
"""

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
from browser_agent.testing.proxy.traffic_log import COMMIT
from browser_agent.testing.sites.bank import Bank
from browser_agent.testing.sites.books import DAY, Books
from browser_agent.testing.sites.mail import Mail
from browser_agent.testing.sites.seller import Seller
from browser_agent.testing.sites.shop import Shop
from browser_agent.testing.sites.site import FixtureSite
from browser_agent.testing.sites.wizard import Wizard

SITES: dict[str, Callable[..., FixtureSite]] = {site.name: site for site in (Books, Mail, Shop, Seller, Bank, Wizard)}
ENDS = {signal.SIGINT, signal.SIGTERM}


ABOUT = {
    "books": "an accounting site: post invoices for shipments (POST /invoices, the form is at /invoices/new)",
    "mail": "a mail site: send mails, and see how their delivery stands (POST /messages, /compose)",
    "shop": "a shop: orders with a status, confirmed in every way there is (POST /orders, /orders/new)",
    "seller": "a price list: a change made twice is another price (POST /changes, /changes/new?article=A-10)",
    "bank": "a bank: accepted without a number, and listed a day later (POST /transfers, /transfers/new)",
    "wizard": "an application in four pages, with drafts on the way (POST /applications, /apply/1)",
}
DESCRIPTION = """\
Web sites to practise on, each with a ledger of what was really done to it, and a proxy that breaks the road to them or
to a site of your own. All run on this machine's loopback interface until Ctrl-C; nothing is kept.
"""
EXAMPLES = """\
examples:
  python -m browser_agent.testing                     all six sites, each at a free port
  python -m browser_agent.testing books --port 8001   one of them
  python -m browser_agent.testing proxy --port 8002 --to https://staging.example \\
      --fault cut_after_head --match "POST /invoices"
                                                      the next invoice that is posted at http://127.0.0.1:8002 is made,
                                                      and its answer is lost

Every site: the truth is at /_truth (JSON); POST /_control sets switches, such as {"reject": {"status": 409, "text":
"Closed."}}; POST /_clock {"advance": 30} lets its time jump; any account signs in with the password "open sesame".
"""
SITE_END = """\
No site refuses a second copy: posting twice makes two, and /_truth tells of both.
"""
PROXY = """\
Stands before a site, one of these or your own, and does to its requests what is asked for. The site is reached at the
proxy's address: sign in there. It hears its own Host, Origin and Referer; its redirects and cookies lead back to the
proxy. A link or a form that names the site by its whole address leads past the proxy: that is said here when a page is
seen to hold one, and no fault befalls what is done there. No request is ever sent twice.
"""


def parser() -> argparse.ArgumentParser:
    top = _teaching(argparse.ArgumentParser(prog="python -m browser_agent.testing"), DESCRIPTION, EXAMPLES)
    kinds = top.add_subparsers(dest="kind", title="what there is", metavar="NAME")
    for kind, about in ABOUT.items():
        site = _teaching(kinds.add_parser(kind, help=about), about[0].upper() + about[1:] + ".", SITE_END)
        site.add_argument("--port", type=int, default=0, help="0 takes a free one")
        site.add_argument("--account", default=argparse.SUPPRESS, help="whose site it is; shown on every page")
        site.add_argument("--require-login", action="store_true", help="show a login page to who hasn't signed in")
        if kind == Books.name:
            site.add_argument("--day", type=date.fromisoformat, default=DAY, help="the day of the shipments")
    _proxy_arguments(kinds.add_parser("proxy", help="the fault proxy: stands before a site, also before your own"))
    return top


def _teaching(parser: argparse.ArgumentParser, description: str, epilog: str) -> argparse.ArgumentParser:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = description, epilog
    return parser


def _proxy_arguments(proxy: argparse.ArgumentParser) -> None:
    """The proxy's options; its faults are told with what they do."""
    table = re.findall(r"^\| `(\w+).*?` \| (.*?) \| (.*?) \|$", fault_kinds.__doc__ or "", re.MULTILINE)
    width = max(len(name) for name, *_ in table)
    rows = "\n".join(f"  {name:<{width}}  {seen}; the site: {did}" for name, seen, did in table)
    rows = re.sub(r" \([123][^)]*\)|( until| or at) `\w+\(\)`", "", rows).replace("`", "")
    _teaching(proxy, PROXY, f"faults, what the browser sees, and what the site did:\n{rows}\n")
    proxy.add_argument("--port", type=int, default=0, help="0 takes a free one")
    proxy.add_argument("--to", required=True, metavar="URL", help="the site, such as https://staging.example/app")
    proxy.add_argument("--ca-file", metavar="PEM", help="authorities to trust besides those that this machine trusts")
    proxy.add_argument("--fault", choices=NAMES, metavar="FAULT", help="what befalls a request; see below")
    proxy.add_argument(
        "--match",
        default=COMMIT,
        metavar="'METHOD /path'",
        help="which; * is any text in a segment, ** any text (%(default)s)",
    )
    proxy.add_argument("--count", type=int, default=1, help="how many of them; 0: all (%(default)s)")
    proxy.add_argument("--skip", type=int, default=0, help="how many pass before (%(default)s)")
    proxy.add_argument("--seconds", type=float, help="for answer_late and commit_late")
    proxy.add_argument("--code", type=int, help="for status and status_after_commit")


def start(asked: argparse.Namespace) -> dict[str, FixtureSite | FaultProxy]:
    """Start what was asked for; raises OSError if the port is taken, TypeError for a fault without its options."""
    if asked.kind is None:
        return {kind: make().open() for kind, make in SITES.items()}
    return {asked.kind: start_proxy(asked) if asked.kind == "proxy" else start_site(asked)}


def start_site(asked: argparse.Namespace) -> FixtureSite:
    given = {name: value for name, value in vars(asked).items() if name in ("account", "day")}
    site = SITES[asked.kind](**given)
    site.require_login(asked.require_login)
    return site.open(asked.port)


def start_proxy(asked: argparse.Namespace) -> FaultProxy:
    proxy = FaultProxy(asked.to, asked.port, ca_file=asked.ca_file, say=_say)
    if asked.fault:
        given = {name: getattr(asked, name) for name in ("seconds", "code")}
        options = {name: value for name, value in given.items() if value is not None}
        proxy.fault(asked.fault, asked.match, asked.count or None, asked.skip, **options)
    return proxy


def _say(words: str) -> None:
    print(f"proxy: {words}", file=sys.stderr, flush=True)


def main() -> None:
    reader = parser()
    asked = reader.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # before any thread starts: they all inherit it
    with ExitStack() as running:
        try:
            started = start(asked)
        except (OSError, TypeError, ValueError) as wrong:
            reader.error(str(wrong))
        for kind, each in started.items():
            running.callback(each.close)
            print(f"{kind}: {each.url}", flush=True)
        signal.sigwait(ENDS)
