// Package racklimit allows only so many pods of an app in one rack.
package racklimit

import (
	"context"
	"fmt"
	"maps"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

const Name = "RackLimit"

type Args struct {
	MaxPods int64 `json:"maxPods"`
}

type counts map[string]int64

func (c counts) Clone() fwk.StateData { return maps.Clone(c) }

type RackLimit struct{ args Args }

func New(_ context.Context, obj runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	args := Args{MaxPods: 2}
	if err := frameworkruntime.DecodeInto(obj, &args); err != nil {
		return nil, err
	}
	if args.MaxPods < 1 {
		return nil, fmt.Errorf("maxPods must be at least 1, got %d", args.MaxPods)
	}
	return &RackLimit{args: args}, nil
}

func (p *RackLimit) Name() string { return Name }

func rackOf(node fwk.NodeInfo) string { return node.Node().Labels["rack"] }

func isAlike(pod, other *v1.Pod) bool {
	return pod.Namespace == other.Namespace && pod.Labels["app"] == other.Labels["app"]
}

func (p *RackLimit) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod,
	nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if pod.Labels["app"] == "" {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	racks := counts{}
	for _, node := range nodes {
		for _, there := range node.GetPods() {
			if isAlike(pod, there.GetPod()) {
				racks[rackOf(node)]++
			}
		}
	}
	state.Write(Name, racks)
	return nil, nil
}

func (p *RackLimit) PreFilterExtensions() fwk.PreFilterExtensions { return p }

func (p *RackLimit) AddPod(_ context.Context, state fwk.CycleState, pod *v1.Pod,
	added fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return count(state, pod, added.GetPod(), node, 1)
}

func (p *RackLimit) RemovePod(_ context.Context, state fwk.CycleState, pod *v1.Pod,
	removed fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return count(state, pod, removed.GetPod(), node, -1)
}

func count(state fwk.CycleState, pod, moved *v1.Pod, node fwk.NodeInfo, by int64) *fwk.Status {
	data, err := state.Read(Name)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if isAlike(pod, moved) {
		data.(counts)[rackOf(node)] += by
	}
	return nil
}

func (p *RackLimit) Filter(_ context.Context, state fwk.CycleState, _ *v1.Pod,
	node fwk.NodeInfo) *fwk.Status {
	data, err := state.Read(Name)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if data.(counts)[rackOf(node)] < p.args.MaxPods {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable, "rack had enough pods of this app")
}

func (p *RackLimit) Score(_ context.Context, state fwk.CycleState, _ *v1.Pod,
	node fwk.NodeInfo) (int64, *fwk.Status) {
	data, err := state.Read(Name)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	free := p.args.MaxPods - data.(counts)[rackOf(node)]
	return fwk.MaxNodeScore * free / p.args.MaxPods, nil
}

func (p *RackLimit) ScoreExtensions() fwk.ScoreExtensions { return nil }

func (p *RackLimit) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete | fwk.UpdatePodLabel},
			QueueingHintFn: p.afterPodChange},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel}},
	}, nil
}

func (p *RackLimit) afterPodChange(_ klog.Logger, pod *v1.Pod,
	old, _ any) (fwk.QueueingHint, error) {
	before, ok := old.(*v1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("expected a pod, got %T", old)
	}
	if isAlike(pod, before) || pod.UID == before.UID {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}
