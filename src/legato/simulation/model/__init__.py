"""The small scripted model behind every simulated provider: it does what it is told in plain words.

speak            what it says to a request, as blocks
script           what it is told to do, read from plain words
memory           what it remembers of the conversation
offers           the tools that it is offered, and its calls as calls of those
forms            the form that an answer is wanted in
fake_arguments   values that fit a schema
summary_reply    a summary, when it is asked for one
"""
