"""The interfaces of other libraries: change an import, keep the script.

One module per peer, with the name of the peer. A module imports its peer only if it subclasses
something of it.
"""
