"""# How claims look: what each states, its theorem, or its refused chain"""

from __future__ import annotations

from typing import TYPE_CHECKING

from derivations.kernel.errors import Refusal
from derivations.render import Written, hypotheses_latex, hypotheses_text, label_latex, statement_latex, statement_text
from derivations.render.theorems import aligned, display, line_latex, line_text, theorem_latex, theorem_text

if TYPE_CHECKING:
    from derivations.claim.claims import Claim
    from derivations.claim.proofs import RefusedChain


def refused_text(chain: RefusedChain) -> str:
    """A circulated chain: its lines, and what the kernel says at the offending one."""
    rows = []
    for k, line in enumerate(chain.lines):
        mark = "✗" if k == chain.refused_at else " " if k < chain.refused_at else "?"
        rows.append(f"{mark} {line_text(line, first=k == 0)}")
    return "\n".join([*rows, "", str(chain.refusal)])


def refused_latex(chain: RefusedChain) -> str:
    """The same in LaTeX: the refused line in red, below it what the rule gives or why it gives nothing; then grey."""
    rows: list[str] = []
    for k, line in enumerate(chain.lines):
        if k < chain.refused_at:
            rows.extend(line_latex(line, "" if k == 0 else "="))
        elif k > chain.refused_at:
            rows.extend(line_latex(line, r"\overset{?}{=}", "gray"))
        else:
            rows.extend(line_latex(line, r"\overset{?}{=}", "red", r"\textbf{: refused}"))
            rows.append(_correction(chain.refusal))
    return aligned(rows)


def _correction(refusal: Refusal) -> str:
    if isinstance(refusal.gives, Written):
        return rf"& = {refusal.gives.latex} && \textbf{{what the rule gives}}"
    reason = refusal.reason.splitlines()[0].removeprefix("step refused: ")
    return rf"& && {label_latex(reason)}"


def claim_latex(claim: Claim) -> str:
    """A claim: its name, how it is meant and its source, then the theorem or the refused chain."""
    head = f"{claim.name.replace('_', ' ')} — {claim.meant}; {claim.source.key}"
    if claim.derive is None:
        left = hypotheses_latex(claim.hypotheses)
        assumed = left + r" \colon\ " if left else ""
        return f"{head}\n\n{display(assumed + statement_latex(claim.statement))}"
    body = refused_latex(claim.refused) if claim.says.value.startswith("circulated") else theorem_latex(claim.theorem)
    return f"{head}\n\n{body}"


def claim_text(claim: Claim) -> str:
    """A claim in text: its source and summary, then the theorem, the refused chain, or what it states."""
    head = f"{claim!r}   ({claim.meant}; {claim.source.citation})\n{claim.summary}\n"
    if claim.derive is None:
        left = hypotheses_text(claim.hypotheses)
        return f"{head}\n{left + ': ' if left else ''}{statement_text(claim.statement)}\n(no derivation: measured only)"
    refused = claim.says.value.startswith("circulated")
    return f"{head}\n{refused_text(claim.refused) if refused else theorem_text(claim.theorem, derivation=True)}"
