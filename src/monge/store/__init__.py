"""The cache on disk; see `monge.store.entries`."""

from monge.store.code import code_digest as code_digest
from monge.store.database import FILE as FILE
from monge.store.entries import VECTORS as VECTORS
from monge.store.entries import Info as Info
from monge.store.entries import Store as Store
from monge.store.entries import key_of as key_of
from monge.store.entries import opened as opened
