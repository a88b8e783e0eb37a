package racklimit

// Copy this file beside the tests of a plugin, and change the name of the package.
// Tests get their plugin from record. Then
//
//	go test -record calls.jsonl
//
// writes what they call and what the plugin answers, one case in each line.
// Without the flag, calls only pass through.

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

var recordTo = flag.String("record", "", "the file for recorded calls")

type object = map[string]any

// setup is what the record needs besides the calls.
type setup struct {
	Args     any              // the plugin's arguments, spelled as in a configuration file
	Snapshot []fwk.NodeInfo   // what handle.SnapshotSharedLister() has, if the test made one
	Objects  []runtime.Object // what the informers have
	Gates    map[string]bool  // the feature gates that the test changed
}

// recorded is a plugin whose calls are recorded. The plugin must implement what is called.
type recorded struct {
	fwk.Plugin
	mutex    sync.Mutex
	id       string
	tree     object
	nodes    table
	pods     table
	calls    []object
	answers  []object
	states   map[fwk.CycleState]int
	cloneOf  map[int]int
	snapshot []int
	// snapshotNames are the names of the nodes of the snapshot.
	snapshotNames []string
}

// record returns the plugin for the calls of one test: each (sub)test needs its own.
func record(t testing.TB, plugin fwk.Plugin, with setup) *recorded {
	p := &recorded{
		Plugin: plugin, id: t.Name(), tree: object{},
		nodes: newTable(), pods: newTable(),
		states: map[fwk.CycleState]int{}, cloneOf: map[int]int{},
	}
	if with.Args != nil {
		p.tree["args"] = with.Args
	}
	if len(with.Gates) > 0 {
		p.tree["gates"] = with.Gates
	}
	objects := map[string][]any{}
	for _, each := range with.Objects {
		kind := kindOf(each)
		objects[kind] = append(objects[kind], each)
	}
	if len(objects) > 0 {
		p.tree["objects"] = objects
	}
	if with.Snapshot != nil {
		p.snapshotOf(with.Snapshot)
	}
	if *recordTo != "" {
		t.Cleanup(func() { p.write(t) })
	}
	return p
}

// Clone copies a state, as preemption does before it imagines changes.
func (p *recorded) Clone(state fwk.CycleState) fwk.CycleState {
	copied := state.Clone()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.cloneOf[p.stateOf(copied)] = p.stateOf(state)
	return copied
}

// The hooks.

func (p *recorded) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	call := p.begin("PreEnqueue", nil, pod)
	status := p.Plugin.(fwk.PreEnqueuePlugin).PreEnqueue(ctx, pod)
	return p.end(call, status, object{})
}

func (p *recorded) Less(first, second fwk.QueuedEntityInfo) bool {
	less := p.Plugin.(fwk.QueueSortPlugin).Less(first, second)
	p.mutex.Lock()
	call := object{"call": "Less", "in": []object{p.queuedOf(first), p.queuedOf(second)}}
	p.mutex.Unlock()
	p.add(call, object{"results": []any{less}})
	return less
}

func (p *recorded) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	call := p.begin("PreFilter", state, pod)
	call["nodes"] = p.snapshotOf(nodes)
	result, status := p.Plugin.(fwk.PreFilterPlugin).PreFilter(ctx, state, pod, nodes)
	answer := object{}
	if !result.AllNodes() {
		answer["nodes"] = result.NodeNames.UnsortedList()
	}
	return result, p.end(call, status, answer)
}

func (p *recorded) PreFilterExtensions() fwk.PreFilterExtensions {
	if p.Plugin.(fwk.PreFilterPlugin).PreFilterExtensions() == nil {
		return nil
	}
	return p
}

func (p *recorded) AddPod(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	added fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	call := p.begin("AddPod", state, pod)
	call["other"], call["node"] = p.pods.index(added.GetPod()), p.nodeOf(node)
	status := p.Plugin.(fwk.PreFilterPlugin).PreFilterExtensions().AddPod(ctx, state, pod, added, node)
	return p.end(call, status, object{})
}

func (p *recorded) RemovePod(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	removed fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	call := p.begin("RemovePod", state, pod)
	call["other"], call["node"] = p.pods.index(removed.GetPod()), p.nodeOf(node)
	status := p.Plugin.(fwk.PreFilterPlugin).PreFilterExtensions().RemovePod(ctx, state, pod, removed, node)
	return p.end(call, status, object{})
}

func (p *recorded) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	node fwk.NodeInfo) *fwk.Status {
	call := p.begin("Filter", state, pod)
	call["node"] = p.nodeOf(node)
	status := p.Plugin.(fwk.FilterPlugin).Filter(ctx, state, pod, node)
	return p.end(call, status, object{})
}

func (p *recorded) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	call := p.begin("PostFilter", state, pod)
	call["in"] = []any{object{"pod": call["pod"]}, p.statusesOf(statuses)}
	result, status := p.Plugin.(fwk.PostFilterPlugin).PostFilter(ctx, state, pod, statuses)
	var answer any
	if result != nil {
		answer = object{"NominatingInfo": result.NominatingInfo}
	}
	p.add(call, object{"results": []any{answer, treeOf(status)}})
	return result, status
}

func (p *recorded) PreScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	nodes []fwk.NodeInfo) *fwk.Status {
	call := p.begin("PreScore", state, pod)
	call["nodes"] = p.snapshotOf(nodes)
	status := p.Plugin.(fwk.PreScorePlugin).PreScore(ctx, state, pod, nodes)
	return p.end(call, status, object{})
}

func (p *recorded) Score(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	node fwk.NodeInfo) (int64, *fwk.Status) {
	call := p.begin("Score", state, pod)
	call["node"] = p.nodeOf(node)
	score, status := p.Plugin.(fwk.ScorePlugin).Score(ctx, state, pod, node)
	return score, p.end(call, status, object{"score": score})
}

func (p *recorded) ScoreExtensions() fwk.ScoreExtensions {
	if p.Plugin.(fwk.ScorePlugin).ScoreExtensions() == nil {
		return nil
	}
	return p
}

func (p *recorded) NormalizeScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	scores fwk.NodeScoreList) *fwk.Status {
	call := p.begin("NormalizeScore", state, pod)
	call["scores"] = pairs(scores)
	status := p.Plugin.(fwk.ScorePlugin).ScoreExtensions().NormalizeScore(ctx, state, pod, scores)
	return p.end(call, status, object{"scores": pairs(scores)})
}

func (p *recorded) Reserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	node string) *fwk.Status {
	call := p.begin("Reserve", state, pod)
	call["node_name"] = node
	status := p.Plugin.(fwk.ReservePlugin).Reserve(ctx, state, pod, node)
	return p.end(call, status, object{})
}

func (p *recorded) Unreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	call := p.begin("Unreserve", state, pod)
	call["node_name"] = node
	p.Plugin.(fwk.ReservePlugin).Unreserve(ctx, state, pod, node)
	p.end(call, nil, object{})
}

func (p *recorded) Permit(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	node string) (*fwk.Status, time.Duration) {
	call := p.begin("Permit", state, pod)
	call["node_name"] = node
	status, wait := p.Plugin.(fwk.PermitPlugin).Permit(ctx, state, pod, node)
	seconds := fmt.Sprintf("%gs", wait.Seconds())
	return p.end(call, status, object{"wait": seconds}), wait
}

func (p *recorded) PreBindPreFlight(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	node string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	call := p.begin("PreBindPreFlight", state, pod)
	call["node_name"] = node
	result, status := p.Plugin.(fwk.PreBindPlugin).PreBindPreFlight(ctx, state, pod, node)
	p.add(call, object{"results": []any{result, treeOf(status)}})
	return result, status
}

func (p *recorded) PreBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	node string) *fwk.Status {
	call := p.begin("PreBind", state, pod)
	call["node_name"] = node
	status := p.Plugin.(fwk.PreBindPlugin).PreBind(ctx, state, pod, node)
	return p.end(call, status, object{})
}

func (p *recorded) Bind(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	node string) *fwk.Status {
	call := p.begin("Bind", state, pod)
	call["node_name"] = node
	status := p.Plugin.(fwk.BindPlugin).Bind(ctx, state, pod, node)
	return p.end(call, status, object{})
}

func (p *recorded) PostBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	call := p.begin("PostBind", state, pod)
	call["node_name"] = node
	p.Plugin.(fwk.PostBindPlugin).PostBind(ctx, state, pod, node)
	p.add(call, object{})
}

// EventsToRegister returns registrations whose hints are recorded as well.
func (p *recorded) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	registered, err := p.Plugin.(fwk.EnqueueExtensions).EventsToRegister(ctx)
	if err != nil {
		return nil, err
	}
	trees := []object{}
	for index, each := range registered {
		tree := object{"resource": each.Event.Resource, "actions": actionsOf(each.Event.ActionType)}
		if each.QueueingHintFn != nil {
			tree["hint"] = nameOf(each.QueueingHintFn)
			registered[index].QueueingHintFn = p.hint(each.QueueingHintFn, tree)
		}
		trees = append(trees, tree)
	}
	p.add(object{"call": "EventsToRegister"}, object{"events": trees})
	return registered, nil
}

func (p *recorded) hint(ask fwk.QueueingHintFn, registered object) fwk.QueueingHintFn {
	return func(logger klog.Logger, pod *v1.Pod, before, after any) (fwk.QueueingHint, error) {
		call := p.begin("Hint", nil, pod)
		call["hint"], call["events"] = registered["hint"], []object{registered}
		call["old"], call["new"] = p.changed(before), p.changed(after)
		hint, err := ask(logger, pod, before, after)
		answer := map[fwk.QueueingHint]string{fwk.Queue: "Queue", fwk.QueueSkip: "Skip"}[hint]
		if err != nil {
			answer = "Queue" // as the queue treats a hint that fails
		}
		p.add(call, object{"hint": answer})
		return hint, err
	}
}

// How a call is written.

func (p *recorded) begin(name string, state fwk.CycleState, pod *v1.Pod) object {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	call := object{"call": name}
	if pod != nil {
		call["pod"] = p.pods.index(pod)
	}
	if state != nil {
		number := p.stateOf(state)
		call["state"] = number
		if original, ok := p.cloneOf[number]; ok {
			call["clone_of"] = original
			delete(p.cloneOf, number)
		}
	}
	return call
}

func (p *recorded) end(call object, status *fwk.Status, answer object) *fwk.Status {
	answer["status"] = treeOf(status)
	p.add(call, answer)
	return status
}

func treeOf(status *fwk.Status) object {
	tree := object{"code": status.Code().String()}
	if status != nil && len(status.Reasons()) > 0 {
		tree["reasons"] = status.Reasons()
	}
	return tree
}

func (p *recorded) add(call, answer object) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.calls, p.answers = append(p.calls, call), append(p.answers, answer)
}

func (p *recorded) stateOf(state fwk.CycleState) int {
	if _, ok := p.states[state]; !ok {
		p.states[state] = len(p.states)
	}
	return p.states[state]
}

// queuedOf writes a pod in the queue; groups of pods are not recorded.
func (p *recorded) queuedOf(queued fwk.QueuedEntityInfo) object {
	pod := queued.(interface{ GetPod() *v1.Pod }).GetPod()
	seconds := float64(queued.GetTimestamp().UnixMicro()) / 1e6
	return object{"pod": p.pods.index(pod), "timestamp": seconds}
}

// statusesOf writes why the nodes of the snapshot were rejected. A name that no node
// has returns the status of all nodes that are not listed.
func (p *recorded) statusesOf(statuses fwk.NodeToStatusReader) object {
	listed := object{}
	for _, name := range p.snapshotNames {
		listed[name] = object{"status": treeOf(statuses.Get(name))}
	}
	absent := object{"status": treeOf(statuses.Get("/"))}
	return object{"nodeToStatus": listed, "absentNodesStatus": absent}
}

func (p *recorded) nodeOf(node fwk.NodeInfo) int {
	pods := []*v1.Pod{}
	for _, each := range node.GetPods() {
		pods = append(pods, each.GetPod())
	}
	return p.nodes.index(object{"node": node.Node(), "pods": pods})
}

func (p *recorded) nodesOf(nodes []fwk.NodeInfo) []int {
	indexes := []int{}
	for _, node := range nodes {
		indexes = append(indexes, p.nodeOf(node))
	}
	return indexes
}

// snapshotOf records the nodes of a call, which are the snapshot if the test has none.
func (p *recorded) snapshotOf(nodes []fwk.NodeInfo) []int {
	indexes := p.nodesOf(nodes)
	if p.snapshot == nil {
		p.snapshot = indexes
		for _, node := range nodes {
			p.snapshotNames = append(p.snapshotNames, node.Node().Name)
		}
	}
	return indexes
}

func (p *recorded) changed(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case *v1.Pod:
		return object{"pod": p.pods.index(value)}
	}
	return object{kindOf(value): value}
}

func (p *recorded) write(t testing.TB) {
	if len(p.calls) == 0 {
		return
	}
	p.tree["id"], p.tree["on"] = p.id, p.Name()
	p.tree["nodes"], p.tree["pods"], p.tree["calls"] = p.nodes.rows, p.pods.rows, p.calls
	if p.snapshot != nil {
		p.tree["snapshot"] = p.snapshot
	}
	line, err := json.Marshal(object{"case": p.tree, "expect": object{"answers": p.answers}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recordFile().Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

var recordFile = sync.OnceValue(func() *os.File {
	file, err := os.Create(*recordTo)
	if err != nil {
		panic(err)
	}
	return file
})

// table numbers values by their content, in the order of the calls.
type table struct {
	rows    []json.RawMessage
	numbers map[string]int
}

func newTable() table {
	return table{rows: []json.RawMessage{}, numbers: map[string]int{}}
}

func (t *table) index(value any) int {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	if _, ok := t.numbers[string(text)]; !ok {
		t.numbers[string(text)] = len(t.rows)
		t.rows = append(t.rows, text)
	}
	return t.numbers[string(text)]
}

func kindOf(value any) string { return reflect.TypeOf(value).Elem().Name() }

func nameOf(hint fwk.QueueingHintFn) string {
	name := goruntime.FuncForPC(reflect.ValueOf(hint).Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndex(name, ".")+1:], "-fm")
}

func pairs(scores fwk.NodeScoreList) [][]any {
	listed := [][]any{}
	for _, each := range scores {
		listed = append(listed, []any{each.Name, each.Score})
	}
	return listed
}

func actionsOf(actions fwk.ActionType) []string {
	names := []string{}
	for single := fwk.ActionType(1); single <= fwk.All; single <<= 1 {
		if actions&single != 0 {
			names = append(names, single.String())
		}
	}
	return names
}
