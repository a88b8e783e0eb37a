"""Admission: what an API server does to objects before it stores them."""
