"""`python -m browser_agent` is the command line."""

from browser_agent.cli import main

main()
