"""Which metric to use: answers from kept results."""
