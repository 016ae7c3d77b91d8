"""What the pytest plugin does, one noun a file: loaded when a test first uses one of its fixtures, and not before."""
