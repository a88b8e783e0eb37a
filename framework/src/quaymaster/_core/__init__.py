"""The scheduler: contract, state, queue, cycles and the engine that drives them."""
