"""A third party's package: one extension of every kind."""
