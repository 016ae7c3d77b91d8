"""What the guard costs: measured side by side in one run, since only ratios of one run mean something."""
