"""The process that owns Chromium and the gate at the wire, and its worker."""
