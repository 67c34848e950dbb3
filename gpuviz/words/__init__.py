"""Words people read: in their language, in the glossary, on the terminal."""
