package googlerest

// RunService is a service of Cloud Run.
type RunService struct {
	Annotations map[string]string `json:"annotations"`
	CreateTime  string            `json:"createTime"`
	DeleteTime  string            `json:"deleteTime"`
	Etag        string            `json:"etag"`
	Ingress     string            `json:"ingress"`
	Labels      map[string]string `json:"labels"`
	Name        string            `json:"name"`
	Reconciling bool              `json:"reconciling"`
	Scaling     RunScaling        `json:"scaling"`
	Template    *struct {
		Containers []struct {
			Resources *struct {
				CPUIdle bool              `json:"cpuIdle"`
				Limits  map[string]string `json:"limits"`
			} `json:"resources"`
		} `json:"containers"`
		MaxInstanceRequestConcurrency int64 `json:"maxInstanceRequestConcurrency"`
		NodeSelector                  struct {
			Accelerator string `json:"accelerator"`
		} `json:"nodeSelector"`
		Scaling struct {
			MinInstanceCount int64 `json:"minInstanceCount"`
		} `json:"scaling"`
	} `json:"template"`
	TerminalCondition *struct {
		Message string `json:"message"`
		Reason  string `json:"reason"`
		State   string `json:"state"`
	} `json:"terminalCondition"`
}

// RunScaling is how a service of Cloud Run is scaled: by hand, or by its load between bounds.
type RunScaling struct {
	ManualInstanceCount int64  `json:"manualInstanceCount"`
	MaxInstanceCount    int64  `json:"maxInstanceCount"`
	MinInstanceCount    int64  `json:"minInstanceCount"`
	ScalingMode         string `json:"scalingMode"`
}

// RunServiceChange is the body of a request that changes a service of Cloud Run, in the version that was read.
// Annotations that are not nil replace all annotations.
type RunServiceChange struct {
	Annotations map[string]string `json:"annotations,omitzero"`
	Etag        string            `json:"etag,omitempty"`
	Scaling     struct {
		ManualInstanceCount *int64 `json:"manualInstanceCount,omitempty"`
		MaxInstanceCount    int64  `json:"maxInstanceCount,omitempty"`
		MinInstanceCount    *int64 `json:"minInstanceCount,omitempty"`
	} `json:"scaling"`
}

// RunServiceList is a page of services of Cloud Run.
type RunServiceList struct {
	NextPageToken string        `json:"nextPageToken"`
	Services      []*RunService `json:"services"`
	Unreachable   []string      `json:"unreachable"`
}

// LongRunningOperation is a change of one of the newer APIs that continues after its answer.
type LongRunningOperation struct {
	Error *Status `json:"error"`
}
