"""End-to-end tests on real servers: etcd, kube-apiserver and, on demand, others.

Their marker is ``e2e``: ``pytest -m e2e`` runs them. Other programs can use the kit:

    with ControlPlane() as plane:
        admin = plane.client()
        admin.create_all(make_node(name=f"node-{n}") for n in range(10))
        with plane.kubelets(), plane.scheduler():
            pod = admin.create(make_pod(name="web"))
            eventually(lambda: "nodeName" in admin.get(path_of(pod))["spec"])

`control_plane`
    `ControlPlane` starts and stops etcd and kube-apiserver: RBAC, users with tokens and
    kubeconfigs, an audit log, further flags. Its ``scheduler``, ``controller_manager``,
    ``kubelets`` (kwok), and ``run`` for any program give a `Program` each.
`processes`
    `Program`: ``start``, ``stop``, ``kill``, ``pause``, ``resume``, ``restart``,
    ``send``, ``cpu_seconds``; it ends when its creator does. `eventually` waits.
`client`
    `ApiClient` creates, reads, patches, binds, deletes and watches: trees or objects of
    `quaymaster` in, trees out.
`follower`
    `Follower` keeps a copy of a collection, and waits for conditions on it.
`mixed_cluster`, `mixed_pods`, `scene`, `volumes`
    A cluster and pods that need every default plugin; the test acts as the kubelets
    and the controllers of volumes.
`device_stage`
    Nodes with devices, and pods that claim them; the test acts as their drivers.
`scheduler_log`, `verdicts`, `one_by_one`
    kube-scheduler's decisions from its log, Quaymaster's decisions for the same state,
    and the differences.
`conftest`
    ``control_plane`` and ``admin``: one cluster per file, for all of its tests that use
    these fixtures.
`binaries`, `build`
    The paths of the servers. ``QUAYMASTER_E2E_SERVERS``, such as ``1.36``, chooses
    their version; by default it is the newest.

Ports are free ones of ``QUAYMASTER_E2E_PORTS``, by default ``20000-29999``; the data of
etcd is in memory. For faults, ``plane.apiserver`` and ``plane.etcd`` are Programs, too,
and after ``plane.compact()`` watches get the status 410.
"""
