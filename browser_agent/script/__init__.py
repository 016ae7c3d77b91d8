"""What a task file is written with: tasks, steps, gestures, login routines."""
