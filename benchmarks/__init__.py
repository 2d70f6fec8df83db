"""What is timed, and beside what. ``make bench`` runs it all; each module runs by itself: python -m benchmarks.growth.

Every module has `measure()`: one repetition, tables of `Ticks` by row. `readme` repeats them and writes the tables.
"""
