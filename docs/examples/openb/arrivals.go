// Draws the arrivals of the study: which pods come in which order, and how nodes rank.
//
//	go run arrivals.go DIR [WORKLOAD ...]
//
// DIR has the published lists. The files DIR/arrivals/WORKLOAD.csv.gz are written; without
// a WORKLOAD, those of all lists of pods. This is in Go since the study draws by Go's own
// generator, as core.go and simulator.go of the simulator do (pkg/simulator): the seed
// says all, and each number that is drawn counts, also those that nothing is done with.
package main

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

const (
	firstSeed, seeds = 42, 10
	whole            = 1000 // thousandths of a GPU
	arriving         = 130  // percent of all GPUs that are asked for
	watches          = 10   // numbers that the informers draw before nodes are ranked
	podList          = "openb_pod_list_"
	nodeList         = "openb_node_list_gpu_node.csv.gz"
)

// A pod by its row in the list; what it asks for in thousandths of a GPU.
type pod struct {
	row         int
	each, total int
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("expected: go run arrivals.go DIR [WORKLOAD ...]"))
	}
	folder, workloads := os.Args[1], os.Args[2:]
	if len(workloads) == 0 {
		found, err := filepath.Glob(filepath.Join(folder, podList+"*.csv.gz"))
		check(err)
		for _, path := range found {
			name := strings.TrimSuffix(filepath.Base(path), ".csv.gz")
			workloads = append(workloads, strings.TrimPrefix(name, podList))
		}
	}
	nodes := byName(read(filepath.Join(folder, nodeList)), "sn")
	gpus := 0
	for _, node := range nodes {
		gpus += number(node["gpu"])
	}
	check(os.MkdirAll(filepath.Join(folder, "arrivals"), 0o755))
	for _, workload := range workloads {
		var pods []pod
		for _, row := range byName(read(filepath.Join(folder, podList+workload+".csv.gz")), "name") {
			each := min(number(row["gpu_milli"]), whole)
			pods = append(pods, pod{number(row["row"]), each, number(row["num_gpu"]) * each})
		}
		write(filepath.Join(folder, "arrivals", workload+".csv.gz"), pods, nodes, gpus)
	}
}

func write(path string, pods []pod, nodes []map[string]string, gpus int) {
	file, err := os.Create(path)
	check(err)
	out := gzip.NewWriter(file)
	fmt.Fprintln(out, "seed,what,values")
	for seed := int64(firstSeed); seed < firstSeed+seeds; seed++ {
		random := rand.New(rand.NewSource(seed))
		random.Int() // for a line of a log that is not printed
		rows := arrivals(random, pods, gpus*whole*arriving/100)
		for range watches {
			random.Float64()
		}
		ranks := make([]int, len(nodes))
		for place, rank := range random.Perm(len(nodes)) {
			ranks[number(nodes[place]["row"])] = rank
		}
		fmt.Fprintf(out, "%d,pods,%s\n%d,nodes,%s\n", seed, joined(rows), seed, joined(ranks))
	}
	check(out.Close())
	check(file.Close())
}

// arrivals shuffles the pods, and draws more of them, or takes some away, until they ask
// for the goal. Of a pod that might be too much only one GPU is counted, as there, so the
// last one may ask for more than that.
func arrivals(random *rand.Rand, pods []pod, goal int) []int {
	coming := append([]pod(nil), pods...)
	random.Shuffle(len(coming), func(i, j int) { coming[i], coming[j] = coming[j], coming[i] })
	wanted := 0
	for _, one := range coming {
		wanted += one.total
	}
	if wanted > goal {
		for wanted > goal {
			gone := random.Intn(len(coming))
			wanted -= coming[gone].total
			coming = append(coming[:gone], coming[gone+1:]...)
		}
		return rowsOf(coming)
	}
	for {
		more := pods[random.Intn(len(pods))]
		if wanted+more.each > goal {
			return rowsOf(coming)
		}
		wanted += more.total
		coming = append(coming, more)
	}
}

func rowsOf(pods []pod) []int {
	rows := make([]int, len(pods))
	for place, one := range pods {
		rows[place] = one.row
	}
	return rows
}

// read returns the rows of a list, each with its number in column "row".
func read(path string) []map[string]string {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	check(err)
	rows := csv.NewReader(unpacked)
	header, err := rows.Read()
	check(err)
	var found []map[string]string
	for {
		values, err := rows.Read()
		if err == io.EOF {
			return found
		}
		check(err)
		row := map[string]string{"row": strconv.Itoa(len(found))}
		for place, name := range header {
			row[name] = values[place]
		}
		found = append(found, row)
	}
}

func byName(rows []map[string]string, column string) []map[string]string {
	sort.SliceStable(rows, func(i, j int) bool { return rows[i][column] < rows[j][column] })
	return rows
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func joined(numbers []int) string {
	return strings.Trim(fmt.Sprint(numbers), "[]")
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
