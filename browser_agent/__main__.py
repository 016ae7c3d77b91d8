"""The installed command and `python -m browser_agent`: Ctrl-C ends it quietly even while modules are being imported.

On an unsupported system it says so in one sentence, before it imports anything that such a system lacks.
"""

import sys

from browser_agent.support import refusal


def main() -> None:
    """Run the command line."""
    if because := refusal():
        print(because, file=sys.stderr)
        sys.exit(2)  # `exit_codes.Exit.MISUSE`, which can't be imported here
    try:
        from browser_agent.cli import main as command_line
    except KeyboardInterrupt:
        sys.exit(130)  # `exit_codes.INTERRUPTED`, which may not be imported yet
    command_line()


if __name__ == "__main__":
    main()
