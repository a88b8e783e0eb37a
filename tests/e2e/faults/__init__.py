"""Faults in the middle of a burst of pods, and the invariants after each of them.

``python -m tests.e2e.faults --fault NAME --times N --seed S`` plays one fault, or all
of them without a name, at random moments. After each fault: no pod is lost, none was
bound twice, no node holds more than it can, every pod is bound, and only the leader has
bound pods.

`proxy`
    Forwards requests between a scheduler and the API server, and disturbs some of them.
`stage`
    The cluster, the replicas, which are restarted as by a kubelet, and a burst.
`faults`
    The faults by name.
`verdict`
    The invariants.
"""
