"""Chapter: how a launch is organised."""
