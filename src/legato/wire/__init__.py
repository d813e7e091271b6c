"""Station 4, how it is encoded: a folder for each family of providers, and what they share."""
