"""The scheduling algorithm for groups of pods, without the parts that submit it."""
