"""Tests of wbc.geometry."""
