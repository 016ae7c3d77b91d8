"""One attempt at a run, in the worker: steps replayed, gestures made once, doubts settled."""
