"""Pictures as data: marks, palette, layout. No Qt."""
