"""Everything that touches Chromium: its process, the gate, pages and screenshots. It never opens the store."""
