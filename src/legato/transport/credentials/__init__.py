"""What authorises a request beside a key: signatures, and tokens that someone lends for a while.

    commands   run a command that prints credentials, within a time limit
    files      read a file that something else keeps up to date
    lending    who lends credentials, and for how long they are used again
    aws        credentials of AWS, from the environment, a profile or text, and the signature they make
    tokens     tokens of Google and Microsoft, from text or the vendor's own library
    finding    which of these a provider's platform wants, and where they are found

A key in a header needs none of this: `wire_request` puts it there. Nothing here is loaded for providers of their own.
"""

from __future__ import annotations

from legato.transport.credentials.finding import Authoriser, account_of, authorise, find_authoriser, renew

__all__ = ["Authoriser", "account_of", "authorise", "find_authoriser", "renew"]
