"""A site's written contract about an answer: "this status to that request means that it was carried out".

An answer proves nothing by itself (200 pages say "error", 202 is accepted but not done, a redirect may lead to the
login page). An answer that the site's written contract names does.
"""

import re
from typing import NamedTuple

_CONTRACT = re.compile(r"(?P<sends>[A-Z]+ /\S*) -> (?P<status>[23]\d\d)(?: (?P<location>/\S*))?")
_REDIRECT = 300


class Accepted(NamedTuple):
    """A request, and the answer that means it was carried out.

    sends: "METHOD /path", with stars as in `request_pattern`.
    status: the answer's status, 2xx or 3xx.
    location: for 3xx, the path that the answer leads to, with the same stars; empty for 2xx.
    """

    sends: str
    status: int
    location: str

    @classmethod
    def read(cls, text: str) -> "Accepted":
        """Read "POST /orders -> 201" or "POST /invoices -> 303 /invoices/*". Raises ValueError otherwise.

        A redirect without its Location is refused: it would also fit the redirect to the login page.
        """
        found = _CONTRACT.fullmatch(text)
        if found is None or (int(found["status"]) >= _REDIRECT) != bool(found["location"]):
            raise ValueError(
                f"{text!r} isn't a contract: write 'POST /orders -> 201', or 'POST /invoices -> 303 /invoices/*' "
                "for a redirect"
            )
        return cls(found["sends"], int(found["status"]), found["location"] or "")

    def __str__(self) -> str:
        return f"{self.sends} -> {self.status} {self.location}".rstrip()
