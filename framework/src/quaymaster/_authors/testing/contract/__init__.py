"""The contract suite: checks, by examples, of what every plugin owes the framework.

A check (`Check`) asks one question. Checks that need clusters get two small ones from
hypothesis: one to ask about, and another to take changes from. Everything else is
enumerated from the two, not drawn, so hypothesis has only clusters to shrink.
"""
