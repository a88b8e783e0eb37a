"""The simulated world around the scheduler, beside recordings of a real one.

``python -m tests.world emit CASES`` prints our answers to cases: courses of a control
plane, or objects that were posted to an API server. ``check`` prints the differences.

The recordings are of kube-apiserver, kube-controller-manager and kube-scheduler 1.37.2
with default feature gates. `course` describes how a course is played, and `projection`
what a state is.
"""
