"""Source, PTX and SASS, with the line under way."""
