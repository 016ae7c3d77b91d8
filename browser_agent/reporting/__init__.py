"""What happened, told: in words, in the log, as spans, to a person far off, as one HTML file."""
