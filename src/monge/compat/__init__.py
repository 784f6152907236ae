"""The call shapes of other libraries: change an import, keep the script, get monge's numbers and signatures.

One module a peer, named as the peer is. Each needs its peer only where it subclasses something of it.
"""
