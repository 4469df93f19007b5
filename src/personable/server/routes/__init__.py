"""The REST interface: one thin router for each noun."""
