"""The HTTP service and its page: `monge serve`."""
