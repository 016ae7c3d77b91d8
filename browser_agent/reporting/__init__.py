"""Reports what happened: in words, in the log, as spans, by notification, as one HTML file. It decides nothing."""
