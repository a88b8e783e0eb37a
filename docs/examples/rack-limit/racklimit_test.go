package racklimit

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func podOf(app, name string) *v1.Pod {
	return st.MakePod().Namespace("shop").Name(name).UID(name).Label("app", app).Obj()
}

func nodeIn(rack string, pods ...*v1.Pod) fwk.NodeInfo {
	node := framework.NewNodeInfo(pods...)
	node.SetNode(st.MakeNode().Name("node-"+rack).Label("rack", rack).Obj())
	return node
}

func newPlugin(t *testing.T, maxPods int64) *recorded {
	arguments := &runtime.Unknown{Raw: fmt.Appendf(nil, `{"maxPods": %d}`, maxPods)}
	plugin, err := New(t.Context(), arguments, nil)
	if err != nil {
		t.Fatal(err)
	}
	return record(t, plugin, setup{Args: Args{MaxPods: maxPods}})
}

func TestFilterAndScore(t *testing.T) {
	tests := map[string]struct {
		pod     *v1.Pod
		maxPods int64
		nodes   []fwk.NodeInfo
		added   *v1.Pod // to the first node, as in preemption
		removed *v1.Pod
		codes   []fwk.Code
		scores  []int64
	}{
		"empty racks": {
			pod: podOf("web", "web-1"), maxPods: 2,
			nodes:  []fwk.NodeInfo{nodeIn("r1"), nodeIn("r2")},
			codes:  []fwk.Code{fwk.Success, fwk.Success},
			scores: []int64{100, 100},
		},
		"a full rack": {
			pod: podOf("web", "web-3"), maxPods: 2,
			nodes: []fwk.NodeInfo{
				nodeIn("r1", podOf("web", "web-1"), podOf("web", "web-2")),
				nodeIn("r2", podOf("db", "db-1")),
			},
			codes:  []fwk.Code{fwk.Unschedulable, fwk.Success},
			scores: []int64{0, 100},
		},
		"a third of a rack": {
			pod: podOf("web", "web-2"), maxPods: 3,
			nodes:  []fwk.NodeInfo{nodeIn("r1", podOf("web", "web-1"))},
			codes:  []fwk.Code{fwk.Success},
			scores: []int64{66},
		},
		"a pod is added": {
			pod: podOf("web", "web-2"), maxPods: 1,
			nodes:  []fwk.NodeInfo{nodeIn("r1")},
			added:  podOf("web", "web-1"),
			codes:  []fwk.Code{fwk.Unschedulable},
			scores: []int64{0},
		},
		"a victim is removed": {
			pod: podOf("web", "web-2"), maxPods: 1,
			nodes:   []fwk.NodeInfo{nodeIn("r1", podOf("web", "web-1"))},
			removed: podOf("web", "web-1"),
			codes:   []fwk.Code{fwk.Success},
			scores:  []int64{100},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plugin := newPlugin(t, test.maxPods)
			state := framework.NewCycleState()
			if _, status := plugin.PreFilter(t.Context(), state, test.pod, test.nodes); !status.IsSuccess() {
				t.Fatal(status)
			}
			if test.added != nil {
				added, _ := framework.NewPodInfo(test.added)
				plugin.AddPod(t.Context(), state, test.pod, added, test.nodes[0])
			}
			if test.removed != nil {
				removed, _ := framework.NewPodInfo(test.removed)
				plugin.RemovePod(t.Context(), state, test.pod, removed, test.nodes[0])
			}
			for index, node := range test.nodes {
				if got := plugin.Filter(t.Context(), state, test.pod, node).Code(); got != test.codes[index] {
					t.Errorf("%s: expected %v, got %v", node.Node().Name, test.codes[index], got)
				}
				if got, _ := plugin.Score(t.Context(), state, test.pod, node); got != test.scores[index] {
					t.Errorf("%s: expected %d, got %d", node.Node().Name, test.scores[index], got)
				}
			}
		})
	}
}

func TestPodWithoutAppIsSkipped(t *testing.T) {
	pod := st.MakePod().Namespace("shop").Name("job-1").UID("job-1").Obj()
	plugin := newPlugin(t, 1)
	_, status := plugin.PreFilter(t.Context(), framework.NewCycleState(), pod, []fwk.NodeInfo{nodeIn("r1")})
	if !status.IsSkip() {
		t.Errorf("expected Skip, got %v", status)
	}
}

func TestDeletedPodRequeuesPodsOfItsApp(t *testing.T) {
	for app, expected := range map[string]fwk.QueueingHint{"web": fwk.Queue, "db": fwk.QueueSkip} {
		t.Run(app, func(t *testing.T) {
			events, err := newPlugin(t, 1).EventsToRegister(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			hint, err := events[0].QueueingHintFn(klog.Background(), podOf("web", "web-1"), podOf(app, "gone"), nil)
			if err != nil || hint != expected {
				t.Errorf("expected %v, got %v, %v", expected, hint, err)
			}
		})
	}
}
