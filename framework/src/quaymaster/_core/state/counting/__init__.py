"""What `quaymaster.counting` counts: pods by selectors, and existing pods' terms."""
