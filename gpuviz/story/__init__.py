"""What a lesson is, and how it becomes a story: performed, compared, told; any kernel as one."""
