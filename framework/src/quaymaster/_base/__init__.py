"""What every package may use: errors, texts, logs, sockets, versions."""
