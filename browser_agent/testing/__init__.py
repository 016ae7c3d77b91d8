"""Web sites with a ledger of truth, and a proxy that breaks the road to them.

For tests, demonstrations and reports: a site here knows exactly what was done to it, whatever the browser was told.
Must not know: `browser_agent`, `observers`, or any test.
"""

from browser_agent.testing.road.proxy import FaultProxy
from browser_agent.testing.sites.bank import Bank
from browser_agent.testing.sites.books import Books
from browser_agent.testing.sites.mail import Mail
from browser_agent.testing.sites.seller import Seller
from browser_agent.testing.sites.server import Served, serve
from browser_agent.testing.sites.shop import Shop
from browser_agent.testing.sites.wizard import Wizard

__all__ = ["Bank", "Books", "FaultProxy", "Mail", "Seller", "Served", "Shop", "Wizard", "serve"]
