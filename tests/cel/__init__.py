"""Device selectors compared with what upstream's compiler made of them."""
