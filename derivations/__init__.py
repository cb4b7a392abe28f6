"""The derivation: a small kernel of rules, the layer in symbols, and a page for each step. No torch."""
