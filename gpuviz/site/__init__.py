"""The course as a folder of pages that need neither server nor network."""
