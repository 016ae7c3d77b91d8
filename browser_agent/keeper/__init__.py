"""The process that owns Chromium and the gate at the wire, and its worker. Decides nothing about an outcome."""
