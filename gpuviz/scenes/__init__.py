"""The lessons, in course order. One lesson is one file and one line here."""
