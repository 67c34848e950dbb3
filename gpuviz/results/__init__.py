"""What runs come to: counts, times and code as rows, words and charts."""
