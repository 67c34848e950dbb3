"""What all else stands on: errors, types of arrays, records, resources, stopping, waiting."""
