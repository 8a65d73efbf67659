package googlerest

// SparkCluster is a cluster of Dataproc. Config is nil for one that runs in a Kubernetes cluster.
type SparkCluster struct {
	ClusterName string `json:"clusterName"`
	Config      *struct {
		AutoscalingConfig struct {
			PolicyURI string `json:"policyUri"`
		} `json:"autoscalingConfig"`
		LifecycleConfig struct {
			IdleDeleteTTL string `json:"idleDeleteTtl"`
		} `json:"lifecycleConfig"`
		MasterConfig          SparkMachines  `json:"masterConfig"`
		SecondaryWorkerConfig SparkMachines  `json:"secondaryWorkerConfig"`
		WorkerConfig          *SparkMachines `json:"workerConfig"`
	} `json:"config"`
	Labels        map[string]string `json:"labels"`
	ProjectID     string            `json:"projectId"`
	Status        SparkStatus       `json:"status"`
	StatusHistory []SparkStatus     `json:"statusHistory"`
}

// SparkMachines are the machines of one role of a cluster of Dataproc.
type SparkMachines struct {
	DiskConfig struct {
		NumLocalSsds int64 `json:"numLocalSsds"`
	} `json:"diskConfig"`
	MachineTypeURI string `json:"machineTypeUri"`
	NumInstances   int64  `json:"numInstances"`
}

// SparkStatus is a state of a cluster of Dataproc and since when it has that.
type SparkStatus struct {
	Detail         string `json:"detail"`
	State          string `json:"state"`
	StateStartTime string `json:"stateStartTime"`
}

// SparkClusterList is a page of clusters of Dataproc.
type SparkClusterList struct {
	Clusters      []*SparkCluster `json:"clusters"`
	NextPageToken string          `json:"nextPageToken"`
}

// IdentifiedRequest is the body of a request that is made once however often it is sent.
type IdentifiedRequest struct {
	RequestID string `json:"requestId"`
}

// Workbench is an instance of Vertex AI Workbench.
type Workbench struct {
	CreateTime string `json:"createTime"`
	GceSetup   *struct {
		DisablePublicIP bool              `json:"disablePublicIp"`
		MachineType     string            `json:"machineType"`
		Metadata        map[string]string `json:"metadata"`
	} `json:"gceSetup"`
	Labels map[string]string `json:"labels"`
	Name   string            `json:"name"`
	State  string            `json:"state"`
}

// WorkbenchList is a page of instances of Vertex AI Workbench.
type WorkbenchList struct {
	Instances     []*Workbench `json:"instances"`
	NextPageToken string       `json:"nextPageToken"`
	Unreachable   []string     `json:"unreachable"`
}

// Workstation is a workstation of Cloud Workstations.
type Workstation struct {
	CreateTime string            `json:"createTime"`
	Labels     map[string]string `json:"labels"`
	Name       string            `json:"name"`
	State      string            `json:"state"`
}

// WorkstationCluster is a cluster of Cloud Workstations.
type WorkstationCluster struct {
	Name string `json:"name"`
}

// WorkstationConfig is a configuration of workstations: their machine type.
type WorkstationConfig struct {
	Host struct {
		GceInstance struct {
			MachineType string `json:"machineType"`
		} `json:"gceInstance"`
	} `json:"host"`
	Name string `json:"name"`
}

// WorkstationPage is a page of clusters, of configurations or of workstations: an answer holds one of the three.
type WorkstationPage struct {
	NextPageToken       string                `json:"nextPageToken"`
	Unreachable         []string              `json:"unreachable"`
	WorkstationClusters []*WorkstationCluster `json:"workstationClusters"`
	WorkstationConfigs  []*WorkstationConfig  `json:"workstationConfigs"`
	Workstations        []*Workstation        `json:"workstations"`
}
