"""Formulas and quantities from text: for claims as data. Nothing is evaluated; see `formulas` for the grammar."""

from derivations.reading.formulas import read_formula
from derivations.reading.quantities import model_symbols, read_quantity
from derivations.reading.tokens import ReadingError

__all__ = ["ReadingError", "model_symbols", "read_formula", "read_quantity"]
