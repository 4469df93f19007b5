"""The page: what a person does in a browser, rendered here from the same engine and people as the REST interface."""
