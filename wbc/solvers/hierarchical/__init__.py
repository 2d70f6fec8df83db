"""The exact solver of hierarchies: the compiled kernel, and the same method in numpy.

Read `search` first, then `working_set` and `multipliers`; `guess` finds a start and `reference` puts them together.
"""
