"""What every package may use: errors, texts, logs, sockets, versions.

It imports nothing else of Quaymaster.
"""
