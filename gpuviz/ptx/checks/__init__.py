"""What is wrong with a launch, found while it runs: each check is a sink, `sinks` lists them."""
