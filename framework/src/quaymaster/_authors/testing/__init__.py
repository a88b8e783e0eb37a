"""Tools for tests of plugins and profiles.

Makers make API objects from a few arguments; `PluginHarness` runs one plugin hook by
hook on a small cluster; `SchedulerHarness` runs whole profiles in virtual time;
`FaultyCluster` makes a cluster fail now and then, by a seed.
"""
