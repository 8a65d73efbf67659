package cloud

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The facts of a node that split the cost of its cluster: its cores, GiB and GPUs, the uid of its machine at its
// cloud, and a NodeLoad for each workload with pods on it.
const (
	NodeCores   = "cpu_cores"
	NodeGiB     = "mem_gib"
	NodeGPUs    = "gpu_count"
	NodeMachine = "machine"
	NodeLoads   = "workloads"
)

// The facts of a node that say what pods may request of it: cores, GiB, and the number of pods.
const (
	NodeAllocatableCores = "allocatable_cores"
	NodeAllocatableGiB   = "allocatable_gib"
	NodeAllocatablePods  = "allocatable_pods"
)

// KubernetesNode is the type of nodes.
const KubernetesNode = "kubernetes-node"

// NodeLoad is the sum of the resource requests of a workload's pods on a node. Pods that have ended or cannot get
// their image do not count.
type NodeLoad struct {
	Namespace string
	Kind      string // "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Pod"
	Name      string
	Pods      int
	Cores     float64
	GiB       float64
	GPUs      float64
}

// String returns the load in the form of the node's fact: "shop/Deployment/web 2 0.5 1 0".
func (l NodeLoad) String() string {
	number := func(v float64) string { return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) }
	return strings.Join([]string{
		l.Namespace + "/" + l.Kind + "/" + l.Name, strconv.Itoa(l.Pods), number(l.Cores),
		number(l.GiB), number(l.GPUs),
	}, " ")
}

// ParseNodeLoad parses the result of NodeLoad.String.
func ParseNodeLoad(s string) (l NodeLoad, err error) {
	f := strings.Fields(s)
	if len(f) != 5 || strings.Count(f[0], "/") != 2 {
		return l, fmt.Errorf("%.200q is no load of a node", s)
	}
	p := strings.Split(f[0], "/")
	l.Namespace, l.Kind, l.Name = p[0], p[1], p[2]
	if l.Pods, err = strconv.Atoi(f[1]); err != nil {
		return l, fmt.Errorf("read the pods of the load %.200q: %w", s, err)
	}
	for i, to := range []*float64{&l.Cores, &l.GiB, &l.GPUs} {
		// NaN is refused by the negation
		if *to, err = strconv.ParseFloat(f[2+i], 64); err != nil || !(*to >= 0) || math.IsInf(*to, 0) {
			return l, fmt.Errorf("%.200q is no load of a node", s)
		}
	}
	return l, nil
}
