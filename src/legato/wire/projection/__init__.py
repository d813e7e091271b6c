"""Decide what a unit becomes for a target. Every dialect encodes what is decided here, and decides nothing itself.

In:  a unit, how the one before it ended, and what the target's format allows (its `Grammar`).
Out: a `Projection`: neutral messages in the order in which the target takes them, and every decision on the way.

    grammar    what the format of a target allows, as data
    messages   what a unit becomes: human messages, answers and results, made of parts
    answer     which parts an answer has: its words, its calls, the thoughts that go back
    results    what a call's completion says, and where its media go
    project    the order of it all: rounds of calls, bridges, embedding

Two targets with the same grammar get the same projection, whatever their dialects: names, ids, what is left out and
what is put in are questions about the target, and JSON shapes are not.
"""
