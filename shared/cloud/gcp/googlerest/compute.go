package googlerest

// Instance is an instance of Compute Engine.
type Instance struct {
	CreationTimestamp string `json:"creationTimestamp"`
	Disks             []struct {
		Boot     bool     `json:"boot"`
		Licenses []string `json:"licenses"`
		Type     string   `json:"type"`
	} `json:"disks"`
	GuestAccelerators []struct {
		AcceleratorCount int64 `json:"acceleratorCount"`
	} `json:"guestAccelerators"`
	Labels                 map[string]string `json:"labels"`
	LastStartTimestamp     string            `json:"lastStartTimestamp"`
	LastStopTimestamp      string            `json:"lastStopTimestamp"`
	LastSuspendedTimestamp string            `json:"lastSuspendedTimestamp"`
	MachineType            string            `json:"machineType"`
	Metadata               struct {
		Items []struct {
			Key   string  `json:"key"`
			Value *string `json:"value"`
		} `json:"items"`
	} `json:"metadata"`
	Name              string `json:"name"`
	NetworkInterfaces []struct {
		AccessConfigs []struct {
			NatIP string `json:"natIP"`
		} `json:"accessConfigs"`
	} `json:"networkInterfaces"`
	ResourcePolicies []string `json:"resourcePolicies"`
	Scheduling       *struct {
		AutomaticRestart  *bool  `json:"automaticRestart"`
		Preemptible       bool   `json:"preemptible"`
		ProvisioningModel string `json:"provisioningModel"`
	} `json:"scheduling"`
	ServiceAccounts []struct {
		Email  string   `json:"email"`
		Scopes []string `json:"scopes"`
	} `json:"serviceAccounts"`
	ShieldedInstanceConfig struct {
		EnableIntegrityMonitoring bool `json:"enableIntegrityMonitoring"`
		EnableVtpm                bool `json:"enableVtpm"`
	} `json:"shieldedInstanceConfig"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage"`
	Zone          string `json:"zone"`
}

// InstanceAggregatedList is a page of the instances of all zones, by zone.
type InstanceAggregatedList struct {
	Items map[string]struct {
		Instances []*Instance `json:"instances"`
	} `json:"items"`
	NextPageToken string   `json:"nextPageToken"`
	Unreachables  []string `json:"unreachables"`
}

// InstanceList is a page of the instances of a zone.
type InstanceList struct {
	Items []*Instance `json:"items"`
}

// InstanceGroupManager is a managed instance group.
type InstanceGroupManager struct {
	AutoHealingPolicies []struct{}                          `json:"autoHealingPolicies"`
	BaseInstanceName    string                              `json:"baseInstanceName"`
	CreationTimestamp   string                              `json:"creationTimestamp"`
	CurrentActions      *InstanceGroupManagerActionsSummary `json:"currentActions"`
	InstanceTemplate    string                              `json:"instanceTemplate"`
	Name                string                              `json:"name"`
	SelfLink            string                              `json:"selfLink"`
	Status              *struct {
		Autoscaler string `json:"autoscaler"`
		IsStable   bool   `json:"isStable"`
		Stateful   struct {
			HasStatefulConfig bool `json:"hasStatefulConfig"`
		} `json:"stateful"`
	} `json:"status"`
	TargetSize int64  `json:"targetSize"`
	Zone       string `json:"zone"`
}

// InstanceGroupManagerActionsSummary counts the instances of a group by the action that the group takes on them; None
// means no action.
type InstanceGroupManagerActionsSummary struct {
	Abandoning             int64 `json:"abandoning"`
	Creating               int64 `json:"creating"`
	CreatingWithoutRetries int64 `json:"creatingWithoutRetries"`
	Deleting               int64 `json:"deleting"`
	None                   int64 `json:"none"`
	Recreating             int64 `json:"recreating"`
	Refreshing             int64 `json:"refreshing"`
	Restarting             int64 `json:"restarting"`
	Resuming               int64 `json:"resuming"`
	Starting               int64 `json:"starting"`
	Stopping               int64 `json:"stopping"`
	Suspending             int64 `json:"suspending"`
	Verifying              int64 `json:"verifying"`
}

// InstanceGroupManagerAggregatedList is a page of the groups of all zones, by zone.
type InstanceGroupManagerAggregatedList struct {
	Items map[string]struct {
		InstanceGroupManagers []*InstanceGroupManager `json:"instanceGroupManagers"`
	} `json:"items"`
	NextPageToken string   `json:"nextPageToken"`
	Unreachables  []string `json:"unreachables"`
}

// RegionInstanceGroupManagerList is a page of the groups of a region.
type RegionInstanceGroupManagerList struct {
	Items         []*InstanceGroupManager `json:"items"`
	NextPageToken string                  `json:"nextPageToken"`
}

// Autoscaler is the autoscaler of a managed instance group.
type Autoscaler struct {
	AutoscalingPolicy *AutoscalingPolicy `json:"autoscalingPolicy"`
	Description       string             `json:"description"`
	Name              string             `json:"name"`
	StatusDetails     []struct {
		Message string `json:"message"`
	} `json:"statusDetails"`
	Target string `json:"target"`
}

// AutoscalingPolicy is the bounds and the rules of an autoscaler.
type AutoscalingPolicy struct {
	CoolDownPeriodSec int64           `json:"coolDownPeriodSec"`
	CPUUtilization    *CPUUtilization `json:"cpuUtilization"`
	MaxNumReplicas    int64           `json:"maxNumReplicas"`
	MinNumReplicas    int64           `json:"minNumReplicas"`
	Mode              string          `json:"mode"`
}

// CPUUtilization is the rule of an autoscaler that keeps the load of the processors at a share, 1 being all of them.
type CPUUtilization struct {
	PredictiveMethod  string `json:"predictiveMethod,omitempty"`
	UtilizationTarget Float  `json:"utilizationTarget,omitempty"`
}

// AutoscalerChange is the body of a request that makes or changes an autoscaler. A field that is left out stays as it
// is.
type AutoscalerChange struct {
	AutoscalingPolicy AutoscalingPolicyChange `json:"autoscalingPolicy"`
	Description       *string                 `json:"description,omitempty"`
	Name              string                  `json:"name,omitempty"`
	Target            string                  `json:"target,omitempty"`
}

// AutoscalingPolicyChange changes the policy of an autoscaler. A pointer to a nil rule removes the rule.
type AutoscalingPolicyChange struct {
	CoolDownPeriodSec *int64           `json:"coolDownPeriodSec,omitempty"`
	CPUUtilization    **CPUUtilization `json:"cpuUtilization,omitempty"`
	MaxNumReplicas    *int64           `json:"maxNumReplicas,omitempty"`
	MinNumReplicas    *int64           `json:"minNumReplicas,omitempty"`
	Mode              string           `json:"mode,omitempty"`
}

// AutoscalerAggregatedList is a page of the autoscalers of all zones, by zone.
type AutoscalerAggregatedList struct {
	Items map[string]struct {
		Autoscalers []*Autoscaler `json:"autoscalers"`
	} `json:"items"`
	NextPageToken string   `json:"nextPageToken"`
	Unreachables  []string `json:"unreachables"`
}

// RegionAutoscalerList is a page of the autoscalers of a region.
type RegionAutoscalerList struct {
	Items         []*Autoscaler `json:"items"`
	NextPageToken string        `json:"nextPageToken"`
}

// Operation is a change that Compute Engine continues after its answer.
type Operation struct {
	Error struct {
		Errors []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"errors"`
	} `json:"error"`
	HTTPErrorStatusCode int64  `json:"httpErrorStatusCode"`
	InsertTime          string `json:"insertTime"`
	Name                string `json:"name"`
	Status              string `json:"status"`
	TargetLink          string `json:"targetLink"`
}

// OperationList is a page of operations.
type OperationList struct {
	Items []*Operation `json:"items"`
}

// Region is a region of Compute Engine; its zones are links.
type Region struct {
	Name   string   `json:"name"`
	Status string   `json:"status"`
	Zones  []string `json:"zones"`
}

// RegionList is a page of regions.
type RegionList struct {
	Items         []*Region `json:"items"`
	NextPageToken string    `json:"nextPageToken"`
}

// ResourcePolicy is a policy of instances or disks. It has an instance schedule when it starts and stops instances.
type ResourcePolicy struct {
	InstanceSchedulePolicy *struct{} `json:"instanceSchedulePolicy"`
}

// MachineType is a machine type in a zone.
type MachineType struct {
	Accelerators []struct {
		Count int64 `json:"guestAcceleratorCount"`
	} `json:"accelerators"`
	Architecture string `json:"architecture"`
	Deprecated   *struct {
		State string `json:"state"`
	} `json:"deprecated"`
	GuestCPUs    int64  `json:"guestCpus"`
	IsSharedCPU  bool   `json:"isSharedCpu"`
	MaximumDisks int64  `json:"maximumPersistentDisks"`
	MemoryMB     int64  `json:"memoryMb"`
	Name         string `json:"name"`
	Zone         string `json:"zone"`
}

// MachineTypeAggregatedList is a page of the machine types of all zones, by zone.
type MachineTypeAggregatedList struct {
	Items map[string]struct {
		MachineTypes []*MachineType `json:"machineTypes"`
	} `json:"items"`
	NextPageToken string   `json:"nextPageToken"`
	Unreachables  []string `json:"unreachables"`
}
