"""The cache on disk; see `monge.cache.entries`."""

from monge.cache.code import code_digest as code_digest
from monge.cache.database import FILE as FILE
from monge.cache.entries import VECTORS as VECTORS
from monge.cache.entries import Info as Info
from monge.cache.entries import Store as Store
from monge.cache.entries import key_of as key_of
from monge.cache.entries import opened as opened
