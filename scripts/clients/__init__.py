"""`make clients`: the real coding clients, as their vendors publish them, through a gateway over simulated providers.

packages/     which clients, in which versions, with the digests of what is installed
installing    puts them into a cache, with npm
isolation     lets nothing that is started from here reach a network
stage         simulated providers, and `legato serve` in front of them as a process of its own
songs         a small MCP server that notes what it is asked
clients       how each client is set up and started, and how it says what came of it
tasks         what each client is asked to do, and how one sees that it was done
results       docs/clients.json, and docs/clients.md made from it
handover      `make handover`: what one client began, another goes on with
"""
