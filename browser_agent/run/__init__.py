"""One attempt at a run, in the worker: replays steps, makes each gesture once, settles doubts. It starts no process."""
