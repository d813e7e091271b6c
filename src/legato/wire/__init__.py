"""Station 4, how it is spelled: a folder for each family of providers, and what they share."""
