"""Whether the hooks of built-in plugins have the types that the hookspecs give them.

A hook may leave out arguments, so that a plugin is no subtype of a Protocol. Instead,
`built_in` calls each hook with what its spec offers, and takes its answer for what the
spec allows: a type checker that accepts this module has checked them all.
"""
