"""Objects from manifests: files, directories and standard input.

The input may mix YAML and JSON, several documents or values in one file, lists (``kind:
List``) and whole dumps (``kubectl get pods -o json``). Kinds that scheduling does not
use are counted and skipped. All problems are reported at once, each with its place.
"""
