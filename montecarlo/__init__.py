"""Simulation of the torch layer, and verdicts on claims. Light to import: torch comes with the modules that need it."""
