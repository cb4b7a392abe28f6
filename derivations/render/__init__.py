"""# LaTeX and text

How numbers, expressions, hypotheses, theorems and derivations look: `latex` for notebooks, `text` for terminals. A
printer has no say in what is true; it only reads.

`numbers` lays out what holds symbols alone, `expressions` what holds tensors, `labels` what justifies a line, and
`theorems` puts them together. LaTeX keeps to what MathJax and KaTeX both set: no packages, no $ inside \\text.
"""

from derivations.render.expressions import Written, latex, text, text_name, written
from derivations.render.labels import label_latex
from derivations.render.numbers import latex_name, scalar_latex, scalar_text
from derivations.render.theorems import (
    equalities,
    hypotheses_latex,
    hypotheses_text,
    order_latex,
    order_text,
    statement_latex,
    statement_text,
    theorem_latex,
    theorem_text,
)

__all__ = [
    "Written",
    "equalities",
    "hypotheses_latex",
    "hypotheses_text",
    "label_latex",
    "latex",
    "latex_name",
    "order_latex",
    "order_text",
    "scalar_latex",
    "scalar_text",
    "statement_latex",
    "statement_text",
    "text",
    "text_name",
    "theorem_latex",
    "theorem_text",
    "written",
]
