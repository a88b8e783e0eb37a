"""Checks that hooks of built-in plugins have the types of their hookspecs.

A hook may leave out arguments, so a plugin is not a subtype of a Protocol. Instead,
`built_in` calls each hook with the types of the hookspec's arguments, and assigns its
result to the hookspec's type. A type checker that accepts this module has checked all
hooks.
"""
