"""Who owns a run: taken over, kept by heartbeats, lost; and what a dead owner left is ended."""
