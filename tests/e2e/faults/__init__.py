"""Faults in the middle of a burst of pods, and what must hold after each of them.

``python -m tests.e2e.faults --fault NAME --times N --seed S`` plays one of them, or all
without a name, at random moments. After each: no pod is lost, none was bound twice, no
node holds more than it can, every pod is bound, and only who leads has bound any.

`proxy`
    Stands between a scheduler and the API server, and does to requests what it is told.
`stage`
    The cluster, the replicas that are started again as a kubelet would, and a burst.
`faults`
    The faults by name.
`verdict`
    What must hold.
"""
