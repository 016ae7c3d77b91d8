"""Who owns a run: taking it over, renewing or losing its lease, ending what a dead owner left. Makes no gesture."""
