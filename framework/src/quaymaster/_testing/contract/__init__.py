"""The contract suite: what every plugin owes the framework, checked by examples.

A check (`Check`) asks one question. Those that need clusters get two small ones from
hypothesis: one to ask about, and another to take changes from. All that follows from
the two is enumerated, not drawn, so that what hypothesis shrinks is clusters alone.
"""
