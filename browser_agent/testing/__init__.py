"""For tests: practice sites with a ledger of truth, a fault proxy, and named faults. Each is imported on first use.

In a suite, `pytest_plugins = ["browser_agent.testing"]` gives a fresh site to each test that requests one: the
fixtures' names begin with `practice_` (`pytest --fixtures` describes each).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from browser_agent.errors import installing

if TYPE_CHECKING:
    from browser_agent.testing.faults import Faults
    from browser_agent.testing.proxy.fault_proxy import FaultProxy
    from browser_agent.testing.sites.bank import Bank
    from browser_agent.testing.sites.board import Board
    from browser_agent.testing.sites.books import Books
    from browser_agent.testing.sites.mail import Mail
    from browser_agent.testing.sites.seller import Seller
    from browser_agent.testing.sites.server import Served, serve
    from browser_agent.testing.sites.shop import Shop
    from browser_agent.testing.sites.wizard import Wizard

__all__ = ["Bank", "Board", "Books", "FaultProxy", "Faults", "Mail", "Seller", "Served", "Shop", "Wizard", "serve"]

pytest_plugins = ["browser_agent.testing.practice"]

_HOME_OF = {
    "Bank": "sites.bank",
    "Board": "sites.board",
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
    """Which extra to install, if the missing package belongs to it; empty for any other error."""
    name = (error.name or "").partition(".")[0]
    if name not in _EXTRA:
        return ""
    return f"browser_agent.testing needs the package {name}; {installing('testing')}"


if not TYPE_CHECKING:  # a type checker that sees this would accept every misspelled name

    def __getattr__(name: str) -> object:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        except ImportError as error:
            raise (ImportError(missing(error)) if missing(error) else error) from error
        globals()[name] = value
        return value
