"""Packages of plugins: creates, describes and checks them."""
