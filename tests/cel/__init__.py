"""Device selectors, compared with the results of upstream's compiler."""
