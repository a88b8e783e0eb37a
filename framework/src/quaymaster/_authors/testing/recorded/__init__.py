"""Replays calls that were recorded from a Go plugin: see `check_recorded`.

`case` reads a recorded case, `player` makes its calls to a plugin, `differences`
compares the answers, `check` does all three.
"""
