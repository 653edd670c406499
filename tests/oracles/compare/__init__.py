"""Compares this tree's program with another revision's: see __main__.py."""
