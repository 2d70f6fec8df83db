"""The tasks that a user composes into a stack (they come with the controller)."""
