"""Browser tasks that change something in the world, interrupted and resumed."""
