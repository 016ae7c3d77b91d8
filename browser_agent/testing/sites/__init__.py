"""Sites with a ledger of truth: each knows exactly what was done to it, whatever the browser was told.

Must not know: the rest of `browser_agent`, `observers`, or any test.
"""
