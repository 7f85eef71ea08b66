"""A file for each family of measures: each measure is a record, and a function of `Ties`."""
