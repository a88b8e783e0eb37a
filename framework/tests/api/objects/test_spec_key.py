import threading

import msgspec
import pytest

from quaymaster import Pod
from quaymaster.objects import ObjectMeta, PodSpec, SpecKey


class Counting:
    """Counts how often a spec's priority is computed."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, spec: PodSpec) -> int | None:
        self.asked += 1
        return spec.priority


def test_fact_is_computed_once_for_all_pods_of_a_spec() -> None:
    compute = Counting()
    key = SpecKey(compute)
    spec = PodSpec(priority=7)
    pods = [Pod(metadata=ObjectMeta(name=f"p{n}"), spec=spec) for n in range(3)]
    assert [key.of(pod) for pod in pods] == [7, 7, 7]
    assert key.of_spec(spec) == 7
    assert compute.asked == 1


def test_none_is_a_fact_like_any_other() -> None:
    compute = Counting()
    key = SpecKey(compute)
    pod = Pod()
    assert key.of(pod) is None
    assert key.of_spec(pod.spec) is None
    assert compute.asked == 1


def test_changed_spec_has_facts_of_its_own() -> None:
    key = SpecKey(Counting())
    spec = PodSpec(priority=1)
    assert key.of_spec(spec) == 1
    assert key.of_spec(msgspec.structs.replace(spec, priority=2)) == 2


def test_keys_of_functions_with_the_same_name_are_separate() -> None:
    first, second = SpecKey(lambda _: "first"), SpecKey(lambda _: "second")
    spec = PodSpec()
    assert (first.of_spec(spec), second.of_spec(spec)) == ("first", "second")


def test_failed_computation_is_tried_again() -> None:
    failures = [ValueError("not yet")]

    def compute(_spec: PodSpec) -> int:
        if failures:
            raise failures.pop()
        return 3

    key, pod = SpecKey(compute), Pod()
    with pytest.raises(ValueError, match="not yet"):
        key.of(pod)
    assert key.of(pod) == 3


def test_key_error_in_a_computation_is_not_hidden() -> None:
    key = SpecKey(lambda spec: spec.node_selector["missing"])
    with pytest.raises(KeyError, match="missing"):
        key.of(Pod())


def test_threads_that_compute_at_once_get_the_same_object() -> None:
    both_compute = threading.Barrier(2, timeout=10)

    def compute(_spec: PodSpec) -> list[int]:
        both_compute.wait()
        return []

    key, pod, got = SpecKey(compute), Pod(), list[list[int]]()
    threads = [threading.Thread(target=lambda: got.append(key.of(pod))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] is got[1]


def test_key_is_shown_with_the_name_of_its_function() -> None:
    assert "test_spec_key.Counting" in repr(SpecKey(Counting()))
