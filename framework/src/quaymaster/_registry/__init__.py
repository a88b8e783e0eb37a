"""The plugins that are installed, and what is wrong with them."""
