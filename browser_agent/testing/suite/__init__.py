"""What the pytest plugin's fixtures do. Loaded when a test first uses one of them, and never before."""
