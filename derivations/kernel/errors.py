"""# Errors of the kernel: what is refused, and what to try

`Refusal` is a step or a statement that no rule supports; it says from where, to where, what the rule gives
instead and what to try. `NotationError` is an expression that does not make sense before any rule is asked.
"""

from __future__ import annotations


class NotationError(ValueError):
    """An expression that is not well formed: a wrong index, a missing bound, an undeclared symbol."""


class Refusal(ValueError):
    """A step that the kernel does not accept.

    `reason` is one sentence; `gives` is what the rule yields from the line before (text), where it yields
    anything; `remedy` says what to try.
    """

    def __init__(self, reason: str, *, gives: str | None = None, remedy: str | None = None):
        self.reason, self.gives, self.remedy = reason, gives, remedy
        lines = [reason]
        if gives is not None:
            lines.append(f"the rule gives: {gives}")
        if remedy is not None:
            lines.append(f"try: {remedy}")
        super().__init__("\n  ".join(lines))
