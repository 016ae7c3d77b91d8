"""A visitor of the fixture sites: plain HTTP, no browser."""

import re

import httpx

from browser_agent.testing.sites.sessions import PASSWORD

INVOICE = {"customer": "Northwind Traders", "contract": "C-7", "amount": "1,240.50", "reference": "S-101"}
MESSAGE = {"to": "billing@northwind.example", "subject": "Invoice INV-1", "message": "Attached."}


class Visitor(httpx.Client):
    """A browser without a browser: keeps its cookies, follows no redirect by itself."""

    def __init__(self, base_url: str = "") -> None:
        super().__init__(base_url=base_url, verify=False)  # loading certificates takes longer than a test

    def token(self, form: str) -> str:
        found = re.search(r'name="token" value="([^"]+)"', self.get(form).text)
        assert found
        return found[1]

    def submit(self, form: str, address: str, by: str = "form", **values: str) -> httpx.Response:
        """Open a form and post values to an address, by form or by fetch."""
        values = {"token": self.token(form), **values}
        if by == "fetch":
            return self.post(address, json=values, headers={"accept": "application/json"})
        return self.post(address, data=values)

    def post_invoice(self, **changes: str) -> httpx.Response:
        return self.post("/invoices", data={"token": self.token("/invoices/new"), **INVOICE, **changes})

    def fetch_invoice(self, **changes: str) -> httpx.Response:
        values = {"token": self.token("/invoices/new?by=fetch"), **INVOICE, **changes}
        return self.post("/invoices", json=values, headers={"accept": "application/json"})

    def send_mail(self, **changes: str) -> httpx.Response:
        return self.post("/messages", data={"token": self.token("/compose"), **MESSAGE, **changes})

    def log_in(self, account: str, password: str = PASSWORD, goal: str = "/invoices?page=1") -> httpx.Response:
        return self.post("/login", data={"account": account, "password": password, "next": goal})


def cells(html: str) -> list[list[str]]:
    """The table rows of a page as text."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", html, re.DOTALL)
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]
        for row in rows
    ]
