"""Failures on demand.

plan        which failures there are, and plans of when they happen
requested   failures that are asked for in plain words, in what the model is told
effects     how a failure shows: in an answer that went wrong, or in a reply that does
"""
