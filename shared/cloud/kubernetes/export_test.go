package kubernetes

// ListedOthers names the resources that the kind "kubernetes-*" lists.
func ListedOthers() []string {
	out := make([]string, len(others))
	for i, o := range others {
		out[i] = o.Resource
	}
	return out
}

// MaxNotable is the maximum number of pods that are listed.
const MaxNotable = maxNotable
