"""The person: statements, events, sessions and answers, and the portrait that a pipeline reads.

The values are light. The store brings SQLAlchemy: import `personable.people.store` where a store is opened.
"""
