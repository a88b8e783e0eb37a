"""The plugins that are installed, and checks of their classes."""
