"""The page: the run behind it without a browser, and all of it in a real one."""
