"""The installed command, and `python -m browser_agent`: a quiet end for Ctrl-C while all else is read in."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from browser_agent.cli import main as command_line
    except KeyboardInterrupt:
        sys.exit(130)  # `exits.INTERRUPTED`, which may not be read in yet
    command_line()


if __name__ == "__main__":
    main()
