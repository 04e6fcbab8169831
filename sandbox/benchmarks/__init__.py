"""Loaders of public benchmarks from a directory that the user has."""
