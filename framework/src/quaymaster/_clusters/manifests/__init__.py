"""Objects from manifests: files, directories and standard input.

YAML and JSON, several documents or values in one file, lists (``kind: List``) and whole
dumps (``kubectl get pods -o json``) can be mixed. Kinds that scheduling does not know
are counted and left out. Everything that is wrong is told at once, with its place.
"""
