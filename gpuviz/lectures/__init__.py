"""Lectures: what to show in which order, what to ask a class, and what to say."""
