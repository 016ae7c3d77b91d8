"""The installed command, and `python -m browser_agent`: a quiet end for Ctrl-C while all else is read in.

On a system that is not supported it says so in one sentence, before anything is read in that is not there.
"""

import sys

from browser_agent.support import refusal


def main() -> None:
    """Run the command line."""
    if because := refusal():
        print(because, file=sys.stderr)
        sys.exit(2)  # `exits.Exit.MISUSE`, which can't be read in here
    try:
        from browser_agent.cli import main as command_line
    except KeyboardInterrupt:
        sys.exit(130)  # `exits.INTERRUPTED`, which may not be read in yet
    command_line()


if __name__ == "__main__":
    main()
