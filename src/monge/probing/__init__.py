"""Controlled errors in good texts, and how metrics react to them: `monge probe`."""
