"""`make frameworks`: agent frameworks as they are published, on damaged histories and with another provider each turn.

damages     what happens to a history
players     one file for each framework: how it asks, and what its messages look like
tool        the one tool that their agents have
playing     the other end of a pipe: runs inside a framework's environment and does what it is told
sections    what the page tells its readers to type
stage       simulated providers on a port, and a player in its own environment
installing  the environments, from requirements/frameworks/
results     the page and the record
"""
