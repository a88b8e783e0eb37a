"""ImageLocality: rule 21 of the parity format, and upstream's own tests."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.config import ConfigErrors, Kubernetes
from quaymaster.objects import ContainerImage, ImageVolumeSource, Volume
from quaymaster.testing import (
    PluginContract,
    PluginHarness,
    SmallCluster,
    clusters,
    make_container,
    make_node,
    make_pod,
    pods,
)
from quaymaster_image_locality import ImageLocality

MIB = 1024 * 1024


def with_tag(name: str) -> str:
    return name if ":" in name.rsplit("/", maxsplit=1)[-1] else f"{name}:latest"


IMAGES = st.sampled_from(["a", "b", "c:latest", "r:5000/d", "e"])
NODES = st.lists(
    st.dictionaries(IMAGES.map(with_tag), st.integers(0, 3000 * MIB), max_size=4),
    min_size=1,
    max_size=6,
)


def sizes(*mebibytes: int) -> dict[str, int]:
    """Make images that are named after their sizes."""
    return {f"gcr.io/{size}:latest": size * MIB for size in mebibytes}


def pod_of(*mebibytes: int) -> Pod:
    return make_pod(images=[f"gcr.io/{size}" for size in mebibytes])


def image_volume(reference: str) -> Volume:
    return Volume(name="data", image=ImageVolumeSource(reference=reference))


def harness_of(*images: Mapping[str, int], version: str = "1.37") -> PluginHarness:
    """Make a cluster of nodes n0, n1, ... with these images."""
    nodes = [
        make_node(name=f"n{index}", images=held) for index, held in enumerate(images)
    ]
    return PluginHarness(ImageLocality, nodes=nodes, kubernetes=Kubernetes(version))


@pytest.mark.parametrize(
    ("pod", "images", "scores"),
    [
        # The cases of TestImageLocalityPriority.
        pytest.param(
            pod_of(40, 250),
            [sizes(40, 300, 2000), sizes(250, 10)],
            [0, 5],
            id="the larger of two images",
        ),
        pytest.param(
            pod_of(40, 300),
            [sizes(40, 300, 2000), sizes(250, 10)],
            [7, 0],
            id="both images on one node",
        ),
        pytest.param(
            pod_of(10, 4000),
            [sizes(4000, 30), sizes(250, 10)],
            [100, 0],
            id="more than the upper limit",
        ),
        pytest.param(
            pod_of(10, 4000),
            [sizes(4000, 30), sizes(250, 10), sizes()],
            [66, 0, 0],
            id="a node without images spreads the others thinner",
        ),
        pytest.param(
            pod_of(300, 600, 900),
            [sizes(600, 40, 900), sizes(300, 600, 900), sizes()],
            [32, 36, 0],
            id="several large images",
        ),
        pytest.param(
            pod_of(30, 40),
            [sizes(20, 30, 40), sizes(4000, 30)],
            [1, 0],
            id="several small images",
        ),
        pytest.param(
            make_pod(images=["gcr.io/30"], volumes=[image_volume("gcr.io/300")]),
            [sizes(300, 600, 900), sizes(4000, 30)],
            [6, 0],
            id="image volume",
        ),
        pytest.param(
            make_pod(
                images=["gcr.io/30"],
                init_containers=[make_container(name="init", image="gcr.io/300")],
            ),
            [sizes(40, 300, 2000), sizes(20, 30, 40)],
            [6, 0],
            id="init container",
        ),
        # Rule 21.
        pytest.param(
            pod_of(23), [sizes(23), sizes(23)], [0, 0], id="at the lower limit"
        ),
        pytest.param(
            pod_of(1000),
            [sizes(1000), sizes(1000)],
            [100, 100],
            id="at the upper limit",
        ),
        pytest.param(
            pod_of(300, 300),
            [sizes(300)],
            [29],
            id="an image that is used twice counts twice",
        ),
        pytest.param(pod_of(300), [sizes(), sizes()], [0, 0], id="no images anywhere"),
        pytest.param(
            make_pod(containers=[], volumes=[image_volume("gcr.io/300")]),
            [sizes(300), sizes(10)],
            [12, 0],
            id="image volume without containers",
        ),
    ],
)
def test_node_that_holds_more_of_the_images_scores_higher(
    pod: Pod, images: list[dict[str, int]], scores: list[int]
) -> None:
    assert list(harness_of(*images).score(pod).values()) == scores


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        # The cases of TestNormalizedImageName.
        pytest.param("root", "root:latest", id="no tag"),
        pytest.param(
            "gcr.io:5000/root", "gcr.io:5000/root:latest", id="port but no tag"
        ),
        pytest.param("root:tag", "root:tag", id="tag"),
        pytest.param("root@sha256:0123", "root@sha256:0123", id="digest"),
    ],
)
def test_name_without_tag_means_latest(wanted: str, held: str) -> None:
    harness = harness_of({held: 1000 * MIB})
    assert harness.score(make_pod(images=[wanted])) == {"n0": 100}


def test_other_tag_or_registry_is_another_image() -> None:
    harness = harness_of(
        {"root:v1": 1000 * MIB, "docker.io/library/root:v2": 1000 * MIB}
    )
    assert harness.score(make_pod(images=["root"])) == {"n0": 0}
    assert harness.score(make_pod(images=["root:v2"])) == {"n0": 0}


def test_image_is_known_by_all_its_names() -> None:
    image = ContainerImage(names=("a:v1", "a@sha256:01"), size_bytes=1000 * MIB)
    node = make_node()
    node = replace(node, status=replace(node.status, images=(image,)))
    harness = PluginHarness(ImageLocality, nodes=[node])
    assert harness.score(make_pod(images=["a:v1"])) == {"node": 100}
    assert harness.score(make_pod(images=["a@sha256:01"])) == {"node": 100}


def test_image_has_the_size_that_the_first_node_tells() -> None:
    harness = harness_of({"a:v1": 1000 * MIB}, {"a:v1": 1})
    assert harness.score(make_pod(images=["a:v1"])) == {"n0": 100, "n1": 100}


def test_changed_cluster_changes_the_scores() -> None:
    harness = harness_of(sizes(1000), sizes())
    pod = pod_of(1000)
    assert harness.score(pod) == {"n0": 48, "n1": 0}
    harness.snapshot.remove_node("n1")
    assert harness.score(pod) == {"n0": 100}
    harness.snapshot.add_node(make_node(name="n0"))
    assert harness.score(pod) == {"n0": 0}


class TestContract(PluginContract):
    plugin = ImageLocality

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        own = st.builds(make_pod, images=st.lists(IMAGES, min_size=1, max_size=3))
        held = st.dictionaries(IMAGES.map(with_tag), st.integers(0, 3000 * MIB))
        return clusters(nodes=st.builds(make_node, images=held), pods=own | pods())


def test_cached_scores_cannot_be_written_to() -> None:
    harness = harness_of(sizes(1000))
    plugin, nodes = ImageLocality(None, harness.handle), harness.snapshot.nodes
    scores = plugin.score_nodes(pod_of(1000), nodes, nodes.rows)
    assert not scores.flags.writeable


def test_memory_for_many_templates_is_bounded() -> None:
    harness = harness_of(sizes(1000))
    scores = [harness.score(make_pod(images=[f"gcr.io/{n}"])) for n in range(900, 1300)]
    assert scores == [{"n0": 100 if n == 1000 else 0} for n in range(900, 1300)]


def expected_scores(
    wanted: Sequence[str], containers: int, nodes: Mapping[str, Node]
) -> dict[str, int]:
    """Compute the rule naively."""
    held = {
        name: {tag for image in node.status.images for tag in image.names}
        for name, node in nodes.items()
    }
    scores = {}
    for name in nodes:
        total = 0
        for tag in wanted:
            if tag in held[name]:
                count = sum(tag in tags for tags in held.values())
                total += int(float(first_size(tag, nodes)) * (count / len(nodes)))
        highest = 1000 * MIB * containers
        total = min(max(total, 23 * MIB), highest)
        scores[name] = 100 * (total - 23 * MIB) // (highest - 23 * MIB)
    return scores


def first_size(tag: str, nodes: Mapping[str, Node]) -> int:
    return next(
        image.size_bytes
        for node in nodes.values()
        for image in node.status.images
        if tag in image.names
    )


@given(
    images=NODES,
    wanted=st.lists(IMAGES, min_size=1, max_size=3),
    volumes=st.lists(IMAGES, max_size=1),
    version=st.sampled_from(["1.36", "1.37"]),
)
def test_twin_agrees_with_the_rule(
    images: list[dict[str, int]], wanted: list[str], volumes: list[str], version: str
) -> None:
    harness = harness_of(*images, version=version)
    pod = make_pod(images=wanted, volumes=map(image_volume, volumes))
    tagged = [with_tag(name) for name in (*wanted, *volumes)]
    nodes = {info.name: info.node for info in harness.snapshot}
    # Kubernetes 1.36 does not count image volumes in the threshold.
    count = len(wanted) if version == "1.36" else len(tagged)
    assert harness.score(pod) == expected_scores(tagged, count, nodes)


def test_pods_are_told_apart_by_their_images_alone() -> None:
    plugin = ImageLocality(None, PluginHarness(ImageLocality).handle)
    signature = plugin.sign_pod(make_pod(images=["a", "b:latest"]))
    assert signature == plugin.sign_pod(
        make_pod(name="other", images=["b", "a:latest"])
    )
    assert signature != plugin.sign_pod(make_pod(images=["a"]))
    assert signature != plugin.sign_pod(make_pod(images=["a", "a", "b"]))
    volume = make_pod(images=["a"], volumes=[image_volume("b")])
    assert signature == plugin.sign_pod(volume)
    older = PluginHarness(ImageLocality, kubernetes=Kubernetes("1.36")).handle
    plugin = ImageLocality(None, older)
    assert plugin.sign_pod(make_pod(images=["a", "b"])) != plugin.sign_pod(volume)


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'ImageLocality' takes no arguments"):
        PluginHarness(ImageLocality, args={"colour": "red"})
