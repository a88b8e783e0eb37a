"""Indexes that plugins keep of the objects of the cluster."""
