"""The road between a browser and a site, and what may befall a request on it.

Must not know: which site it leads to, or the rest of `browser_agent`.
"""
