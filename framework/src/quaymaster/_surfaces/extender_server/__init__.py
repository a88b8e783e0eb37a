"""A profile's plugins, served to another scheduler as its extender."""
