"""Colours, letters and icons of everything Qt draws."""
