package googlerest

// Cluster is a cluster of Google Kubernetes Engine.
type Cluster struct {
	Autopilot struct {
		Enabled bool `json:"enabled"`
	} `json:"autopilot"`
	ControlPlaneEndpointsConfig struct {
		DNSEndpointConfig struct {
			AllowExternalTraffic bool   `json:"allowExternalTraffic"`
			Endpoint             string `json:"endpoint"`
		} `json:"dnsEndpointConfig"`
	} `json:"controlPlaneEndpointsConfig"`
	CurrentMasterVersion string `json:"currentMasterVersion"`
	Endpoint             string `json:"endpoint"`
	Location             string `json:"location"`
	MasterAuth           *struct {
		ClusterCaCertificate string `json:"clusterCaCertificate"`
	} `json:"masterAuth"`
	Name                 string      `json:"name"`
	NodePools            []*NodePool `json:"nodePools"`
	PrivateClusterConfig struct {
		EnablePrivateEndpoint bool `json:"enablePrivateEndpoint"`
	} `json:"privateClusterConfig"`
	ResourceLabels map[string]string `json:"resourceLabels"`
	SelfLink       string            `json:"selfLink"`
	Status         string            `json:"status"`
}

// NodePool is a node pool of a cluster.
type NodePool struct {
	AutopilotConfig struct {
		Enabled bool `json:"enabled"`
	} `json:"autopilotConfig"`
	Autoscaling *NodePoolAutoscaling `json:"autoscaling"`
	Conditions  []struct {
		CanonicalCode string `json:"canonicalCode"`
		Message       string `json:"message"`
	} `json:"conditions"`
	Config *struct {
		MachineType    string `json:"machineType"`
		Preemptible    bool   `json:"preemptible"`
		ServiceAccount string `json:"serviceAccount"`
		Spot           bool   `json:"spot"`
	} `json:"config"`
	InstanceGroupURLs []string `json:"instanceGroupUrls"`
	Management        struct {
		AutoRepair  bool `json:"autoRepair"`
		AutoUpgrade bool `json:"autoUpgrade"`
	} `json:"management"`
	Name          string `json:"name"`
	SelfLink      string `json:"selfLink"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage"`
}

// NodePoolAutoscaling is how a node pool is scaled: by bounds of each zone, or of all zones together.
type NodePoolAutoscaling struct {
	Autoprovisioned   bool   `json:"autoprovisioned"`
	Enabled           bool   `json:"enabled"`
	LocationPolicy    string `json:"locationPolicy"`
	MaxNodeCount      int64  `json:"maxNodeCount"`
	MinNodeCount      int64  `json:"minNodeCount"`
	TotalMaxNodeCount int64  `json:"totalMaxNodeCount"`
	TotalMinNodeCount int64  `json:"totalMinNodeCount"`
}

// NodePoolAutoscalingChange is the body of a request that sets how a node pool is scaled: one kind of bounds, or none
// when Enabled is false.
type NodePoolAutoscalingChange struct {
	Autoscaling struct {
		Enabled           bool   `json:"enabled"`
		LocationPolicy    string `json:"locationPolicy,omitempty"`
		MaxNodeCount      int64  `json:"maxNodeCount,omitempty"`
		MinNodeCount      *int64 `json:"minNodeCount,omitempty"`
		TotalMaxNodeCount int64  `json:"totalMaxNodeCount,omitempty"`
		TotalMinNodeCount *int64 `json:"totalMinNodeCount,omitempty"`
	} `json:"autoscaling"`
}

// NodePoolSizeChange is the body of a request that sets the nodes of each zone; 0 is sent.
type NodePoolSizeChange struct {
	NodeCount int64 `json:"nodeCount"`
}

// ClusterList is all clusters of a location.
type ClusterList struct {
	Clusters     []*Cluster `json:"clusters"`
	MissingZones []string   `json:"missingZones"`
}

// ClusterOperation is a change of a cluster that continues after its answer.
type ClusterOperation struct {
	Error         *Status `json:"error"`
	Name          string  `json:"name"`
	OperationType string  `json:"operationType"`
	Status        string  `json:"status"`
}

// Status is the error of an operation of the newer APIs.
type Status struct {
	Message string `json:"message"`
}
