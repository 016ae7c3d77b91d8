"""An office where documents are deleted and timesheets are approved by the batch, and its ledger."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

_PAGE = "<!doctype html><body><header data-account={account}>{account}</header>{body}"
_TABLE = "<table><thead><tr><th>Key</th><th>Line</th></tr></thead><tbody>{rows}</tbody></table><p>{count} rows</p>"


class Office:
    """The office.

    Attributes:
        documents: the keys of its documents.
        deleted: the keys whose deletion was carried out, in order.
        approved: the keys of its approved timesheets, in order: one for each sheet.
        carries_out: whether it does what it is asked to.
        answers: whether it answers a write at all.
        batch: how many sheets one approval approves.
        account: whose lists it shows; `account_after`: after a write, if it is another one's.
        forgets: its list of documents lacks another document, too, once one was deleted.
    """

    def __init__(self) -> None:
        self.documents, self.deleted, self.approved = ["D-1", "D-2", "D-3"], list[str](), list[str]()
        self.carries_out = self.answers = True
        self.forgets, self.batch, self.account, self.account_after = False, 3, "acme", ""
        office = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.strip("/")
                if name == "documents":
                    self.answer(table(office.listed))
                elif name == "approvals":
                    self.answer(table(office.approved))
                else:
                    action, _, key = name.partition("/")
                    button = f"<form method=post action='/{action}/{key}'><button>{action}</button></form>"
                    self.answer(button)

            def do_POST(self) -> None:
                if office.carries_out:
                    office.carry_out(*self.path.strip("/").split("/"))
                office.account = office.account_after or office.account
                if not office.answers:
                    self.close_connection = True
                    return
                self.send_response(303)
                self.send_header("Location", "/done/" + self.path.rpartition("/")[2])
                self.send_header("Content-Length", "0")
                self.end_headers()

            def answer(self, body: str) -> None:
                page = _PAGE.format(account=office.account, body=body).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def listed(self) -> list[str]:
        """What its list of documents shows."""
        return self.documents[:-1] if self.forgets and self.deleted else self.documents

    def carry_out(self, action: str, key: str) -> None:
        if action == "delete":
            self.documents.remove(key)
            self.deleted.append(key)
        else:
            self.approved += [key] * self.batch

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def table(keys: list[str]) -> str:
    rows = "".join(f"<tr><td>{key}</td><td>{number}</td></tr>" for number, key in enumerate(keys, 1))
    return _TABLE.format(rows=rows, count=len(keys))


@pytest.fixture
def office() -> Iterator[Office]:
    opened = Office()
    yield opened
    opened.close()
