"""What a task file is written with: tasks, steps, gestures, login routines. It runs none of them."""
