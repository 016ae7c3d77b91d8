"""Temporal above the keepers of many machines: it notices that a keeper has died, and assigns the run to another.

Decides nothing about an outcome. Needs the extra `[temporal]`.
"""
