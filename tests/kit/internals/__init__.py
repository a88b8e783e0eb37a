"""The private names that tests may use, with one module for each private package.

Nothing else in a test imports a private module, so that a move in the product changes
only these modules.
"""
