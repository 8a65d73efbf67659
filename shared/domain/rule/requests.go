package rule

// The settings that lower what the pods of a workload request.
const (
	CPURequest    = "cpu_request_cores"
	MemoryRequest = "mem_request_gib"
)

// LoweredRequest returns the setting by which a rule lowers what each pod of a workload requests to its measured use,
// if its saving arises at the nodes that the freed requests let go of. It returns false for other rules.
func (r *Rule) LoweredRequest() (Setting, bool) {
	s := r.Savings
	if s.Bound || s.Form != SavesPart || len(s.Names) != 1 || s.Names[0] != "requests" {
		return Setting{}, false
	}
	for _, set := range r.Target.Settings {
		if (set.Name == CPURequest || set.Name == MemoryRequest) && set.Op == "=" && set.Value.Kind == FromUse {
			return set, true
		}
	}
	return Setting{}, false
}
