"""The soak: worker processes keep many short runs while all around them is struck; then the ledger is counted."""
