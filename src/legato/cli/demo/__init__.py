"""The demonstration: one conversation with real tools that moves through every provider family.

journey   what happens: turns, switches, a cancelled call, a failover, a memory question
tally     what is counted on the way
console   how it is shown, in colour or plain
"""
