"""The conditions of a conclusion that write order or the gate at the wire decides, as a reviewer reads them. Pure."""

from __future__ import annotations

from browser_agent.wire import WireFact
from observers import Condition


def nothing_was_sent(why: str) -> Condition:
    """Nothing was sent, and nothing can be sent any more; `why`: what proves it."""
    return Condition(of="absence", needs="nothing was sent, and nothing can be sent any more", holds=True, seen=why)


def said_no(fact: WireFact) -> Condition:
    """The site's answer to the only declared request is a clean no."""
    needs = "the declared request was released alone and once, and its answer is a clean no by status"
    return Condition(of="refusal", needs=needs, holds=True, seen=f"at the wire: {fact}")


def never_connected(fact: WireFact) -> Condition:
    """The connection of the only declared request was never made."""
    needs = "the declared request was released alone and once, and its connection was never made"
    return Condition(of="absence", needs=needs, holds=True, seen=f"at the wire: {fact}")


def in_contract(fact: WireFact) -> Condition:
    """The site's written contract says that such an answer means that it was carried out."""
    needs = "the declared request was released alone and once, and its answer is one that the site accepts by contract"
    return Condition(of="presence", needs=needs, holds=True, seen=f"at the wire: {fact}")
