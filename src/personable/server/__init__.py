"""The server: everything that the library does, by HTTP, for the person whose key it is."""
