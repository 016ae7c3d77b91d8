"""Secret values, the seal that encrypts them, and the scrubber that masks them. It never stores or sends anything."""
