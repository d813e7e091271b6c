"""The door: a client's request in, any provider's answer out, in the client's own dialect.

    surfaces    method, path and headers -> which API is spoken, and what is asked of it
    intake      the body -> what the client said
    recall      who gave the answers in it -> a conversation, warm if it is known
    state       what is remembered for that between requests: in memory, or in a file (`sqlite_state`)
    exchange    route, render, verify, send; another route while nothing visible was said
    speakers    deltas -> the bytes that the client reads, with carriers of what it cannot read
    refusals    errors in the client's own words

None of these opens a socket: an `Ask` comes in, a `WireResponse` goes out. There are two faces of it: `app`, the ASGI
application that `serving` puts on a port behind a `gatekeeper`, and the clients in `http_clients`, which the official
SDKs take for their connection. Only `app` needs the extra `serve`.
"""
