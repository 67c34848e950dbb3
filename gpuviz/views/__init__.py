"""What is shown: a lesson with its values at a moment, as a record, a link, a history."""
