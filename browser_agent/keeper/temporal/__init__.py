"""Layer two: engines that notice on many machines that work has stopped, and choose who goes on. None is needed.

The journal, the inbox, the audit log and the evidence stay in our store. Each engine needs its own extra.
"""
