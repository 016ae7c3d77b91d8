"""Web sites with a ledger of truth, a proxy that breaks the road to them or to your own, and faults by name.

For tests, demonstrations and reports: a site here knows exactly what was done to it, whatever the browser was told.
In a suite, `pytest_plugins = ["browser_agent.testing"]` gives a fresh site to each test that asks for one: the names
begin with `practice_` (`pytest --fixtures` tells of each).

Must not know: how the agent works, or any test. May never happen: that importing this costs anything before a name of
it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from browser_agent.errors import installing

if TYPE_CHECKING:
    from browser_agent.testing.faults import Faults
    from browser_agent.testing.proxy.fault_proxy import FaultProxy
    from browser_agent.testing.sites.bank import Bank
    from browser_agent.testing.sites.books import Books
    from browser_agent.testing.sites.mail import Mail
    from browser_agent.testing.sites.seller import Seller
    from browser_agent.testing.sites.server import Served, serve
    from browser_agent.testing.sites.shop import Shop
    from browser_agent.testing.sites.wizard import Wizard

__all__ = ["Bank", "Books", "FaultProxy", "Faults", "Mail", "Seller", "Served", "Shop", "Wizard", "serve"]

pytest_plugins = ["browser_agent.testing.practice"]

_HOME_OF = {
    "Bank": "sites.bank",
    "Books": "sites.books",
    "FaultProxy": "proxy.fault_proxy",
    "Faults": "faults",
    "Mail": "sites.mail",
    "Seller": "sites.seller",
    "Served": "sites.server",
    "Shop": "sites.shop",
    "Wizard": "sites.wizard",
    "serve": "sites.server",
}
_EXTRA = {"h11", "pytest", "python_multipart", "starlette", "uvicorn"}


def missing(error: ImportError) -> str:
    """What to install, where a package isn't there that only tests need; empty if something else is wrong."""
    name = (error.name or "").partition(".")[0]
    if name not in _EXTRA:
        return ""
    return f"browser_agent.testing needs the package {name}; {installing('testing')}"


if not TYPE_CHECKING:  # a type checker that sees this would take every misspelled name for an object

    def __getattr__(name: str) -> object:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        except ImportError as error:
            raise (ImportError(missing(error)) if missing(error) else error) from error
        globals()[name] = value
        return value
