"""The command line: thin faces over the rest."""
