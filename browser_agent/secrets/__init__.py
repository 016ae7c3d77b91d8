"""Secret values, the seal they lie under, and the scrubber that keeps them out of every text."""
