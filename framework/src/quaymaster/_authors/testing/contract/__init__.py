"""The contract suite: tests by examples whether plugins keep the framework's rules.

A check (`Check`) tests one rule. Checks that need clusters get two small ones from
hypothesis: one to run the plugin on, and another to take changes from. All other input
is enumerated from the two, so hypothesis only has clusters to shrink.
"""
