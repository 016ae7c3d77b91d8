"""The process that owns Chromium and the gate at the wire, and its worker. It never decides an outcome."""
