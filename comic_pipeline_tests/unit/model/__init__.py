"""Pure rules and values, without a clock, a database or a network."""
