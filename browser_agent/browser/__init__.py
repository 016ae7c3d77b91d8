"""Everything that touches the browser: its process, the gate at the wire, pictures and evidence."""
