"""A gateway on a port, beside a proxy that only forwards and beside LiteLLM's, all before the same backend.

servers     the backend, the proxy and Legato's gateway, each a process of its own
load        a client that costs little: requests over sockets, and when the first byte of the answer is there
growth      conversations that grow, without a socket
"""
