"""Tools for tests of plugins and profiles.

Makers create API objects from a few arguments. `PluginHarness` runs the hooks of one
plugin on a small cluster. `SchedulerHarness` runs whole profiles in virtual time.
`FaultyCluster` makes a cluster fail at random, by a seed.
"""
