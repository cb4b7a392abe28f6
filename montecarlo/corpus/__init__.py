"""Public claims about distributions inside networks at initialisation, as circulated and as corrected.

One file a theme. A claim's summary begins with its number in the list of 26 that `tests/corpus` holds;
`circulated=True` marks one that is false as it is stated, and stands here to be refuted.
`layerlaws check montecarlo/corpus` runs them all.
"""
