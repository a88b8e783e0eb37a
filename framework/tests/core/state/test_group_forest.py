"""The trees of groups: roots, leaves and children."""

from quaymaster.objects import CompositePodGroup, PodGroup
from quaymaster.testing import make_composite_pod_group, make_pod_group
from tests.kit.internals.state import TreeForest, children_in_turn


def leaf(name: str, parent: str | None = None) -> PodGroup:
    return make_pod_group(name=name, parent=parent)


def composite(name: str, parent: str | None = None) -> CompositePodGroup:
    return make_composite_pod_group(name=name, parent=parent)


def forest_of(*groups: PodGroup | CompositePodGroup) -> TreeForest:
    forest = TreeForest()
    for group in groups:
        forest.put(group)
    return forest


def test_root_is_the_highest_group() -> None:
    root, group = composite("root"), leaf("a", "middle")
    forest = forest_of(group, root, composite("middle", "root"))
    assert forest.root(group.entity_key) is root
    assert [each.name for each in forest.leaves(root.entity_key)] == ["a"]


def test_group_below_a_missing_group_has_no_root() -> None:
    group = leaf("a", "middle")
    forest = forest_of(group, composite("root"))
    assert forest.root(group.entity_key) is None
    assert forest.missing(group.entity_key) == "compositepodgroup/default/middle"


def test_circle_of_groups_has_no_root() -> None:
    group = leaf("a", "one")
    forest = forest_of(group, composite("one", "two"), composite("two", "one"))
    assert forest.root(group.entity_key) is None
    assert [each.name for each in forest.leaves(group.parent_key)] == ["a"]


def test_removed_group_is_no_longer_a_child() -> None:
    root, group = composite("root"), leaf("a", "root")
    forest = forest_of(root, group)
    forest.remove(group)
    assert forest.children(root.entity_key) == []
    forest.remove(root)
    assert forest.root(root.entity_key) is None


def test_the_oldest_child_is_placed_first() -> None:
    root = composite("root")
    young, old, other = (
        make_pod_group(name=name, parent="root", creation_timestamp=created)
        for name, created in (("a", 20.0), ("z", 10.9), ("b", 10.1))
    )
    forest = forest_of(root, young, old, other)
    names = [child.name for child in children_in_turn(forest, root)]
    assert names == ["b", "z", "a"]
