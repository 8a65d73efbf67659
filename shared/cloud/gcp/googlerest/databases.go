package googlerest

// DatabaseInstance is an instance of Cloud SQL.
type DatabaseInstance struct {
	CreateTime         string            `json:"createTime"`
	DatabaseVersion    string            `json:"databaseVersion"`
	GceZone            string            `json:"gceZone"`
	InstanceType       string            `json:"instanceType"`
	MasterInstanceName string            `json:"masterInstanceName"`
	Name               string            `json:"name"`
	Region             string            `json:"region"`
	ReplicaNames       []string          `json:"replicaNames"`
	Settings           *DatabaseSettings `json:"settings"`
	State              string            `json:"state"`
	SuspensionReason   []string          `json:"suspensionReason"`
}

// DatabaseSettings are the settings of an instance of Cloud SQL. SettingsVersion changes with each change of them.
type DatabaseSettings struct {
	ActivationPolicy    string `json:"activationPolicy"`
	AvailabilityType    string `json:"availabilityType"`
	BackupConfiguration *struct {
		BackupRetentionSettings struct {
			RetainedBackups int64 `json:"retainedBackups"`
		} `json:"backupRetentionSettings"`
		Enabled bool `json:"enabled"`
	} `json:"backupConfiguration"`
	DataDiskSizeGb            int64  `json:"dataDiskSizeGb,string"`
	DataDiskType              string `json:"dataDiskType"`
	DeletionProtectionEnabled bool   `json:"deletionProtectionEnabled"`
	Edition                   string `json:"edition"`
	IPConfiguration           *struct {
		AuthorizedNetworks []struct {
			Value string `json:"value"`
		} `json:"authorizedNetworks"`
		Ipv4Enabled bool   `json:"ipv4Enabled"`
		SslMode     string `json:"sslMode"`
	} `json:"ipConfiguration"`
	SettingsVersion   int64             `json:"settingsVersion,string"`
	StorageAutoResize *bool             `json:"storageAutoResize"`
	Tier              string            `json:"tier"`
	UserLabels        map[string]string `json:"userLabels"`
}

// DatabaseChange is the body of a request that sets the activation policy of an instance of Cloud SQL, in the version
// of its settings that was read.
type DatabaseChange struct {
	Settings struct {
		ActivationPolicy string `json:"activationPolicy"`
		SettingsVersion  int64  `json:"settingsVersion,omitempty,string"`
	} `json:"settings"`
}

// DatabaseInstanceList is a page of instances of Cloud SQL.
type DatabaseInstanceList struct {
	Items         []*DatabaseInstance `json:"items"`
	NextPageToken string              `json:"nextPageToken"`
	Warnings      []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Region  string `json:"region"`
	} `json:"warnings"`
}

// DatabaseOperation is a change of an instance of Cloud SQL.
type DatabaseOperation struct {
	Error struct {
		Errors []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"errors"`
	} `json:"error"`
	OperationType string `json:"operationType"`
	Status        string `json:"status"`
}

// DatabaseOperationList is the newest operations of an instance, newest first.
type DatabaseOperationList struct {
	Items []*DatabaseOperation `json:"items"`
}

// AlloyInstance is an instance of AlloyDB.
type AlloyInstance struct {
	ActivationPolicy string            `json:"activationPolicy"`
	AvailabilityType string            `json:"availabilityType"`
	CreateTime       string            `json:"createTime"`
	Etag             string            `json:"etag"`
	GceZone          string            `json:"gceZone"`
	InstanceType     string            `json:"instanceType"`
	Labels           map[string]string `json:"labels"`
	MachineConfig    *struct {
		CPUCount    int64  `json:"cpuCount"`
		MachineType string `json:"machineType"`
	} `json:"machineConfig"`
	Name           string `json:"name"`
	ReadPoolConfig struct {
		NodeCount int64 `json:"nodeCount"`
	} `json:"readPoolConfig"`
	Reconciling bool   `json:"reconciling"`
	State       string `json:"state"`
}

// AlloyChange is the body of a request that sets the activation policy of an instance of AlloyDB, in the version that
// was read.
type AlloyChange struct {
	ActivationPolicy string `json:"activationPolicy"`
	Etag             string `json:"etag,omitempty"`
}

// AlloyInstanceList is a page of instances of AlloyDB.
type AlloyInstanceList struct {
	Instances     []*AlloyInstance `json:"instances"`
	NextPageToken string           `json:"nextPageToken"`
	Unreachable   []string         `json:"unreachable"`
}
