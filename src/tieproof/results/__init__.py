"""The objects that the public calls return. They hold numbers; `views` shows them."""
