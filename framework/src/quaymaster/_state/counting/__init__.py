"""How `quaymaster.counting` counts: groups, label classes and carried terms."""
