"""The implementation of the pytest plugin's fixtures, imported only when a test first uses one of them."""
