"""What tests may see of private packages, one module for each: exactly what they need.

Nothing else in a test imports a private module, so a move in the product ends here.
"""
