"""What notebooks, rich consoles and data frames get of results."""
