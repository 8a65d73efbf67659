package gcp

import (
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// assetResource holds the fields that are read of a resource as its own API returns it, under the names of that API.
type assetResource struct {
	Users               []string `json:"users"`
	Type                string   `json:"type"`
	SizeGB              int64    `json:"sizeGb,string"`
	ProvisionedIOPS     int64    `json:"provisionedIops,string"`
	LastDetachTimestamp string   `json:"lastDetachTimestamp"`
	LastAttachTimestamp string   `json:"lastAttachTimestamp"`
	Region              string   `json:"region"`
	Status              any      `json:"status"` // a word of Compute Engine, an object of Dataproc
	AddressType         string   `json:"addressType"`
	AutoCreated         bool     `json:"autoCreated"`
	StorageBytes        int64    `json:"storageBytes,string"`
	SnapshotType        string   `json:"snapshotType"`
	LoadBalancingScheme string   `json:"loadBalancingScheme"`
	Description         string   `json:"description"`
	ResourcePolicies    []string `json:"resourcePolicies"`
	SourceDisk          string   `json:"sourceDisk"`
	CreationTimestamp   string   `json:"creationTimestamp"`
	LastStopTimestamp   string   `json:"lastStopTimestamp"`
	State               string   `json:"state"`
	Tier                string   `json:"tier"`
	MemorySizeGB        float64  `json:"memorySizeGb"`
	AuthEnabled         bool     `json:"authEnabled"`
}

// word returns the state of a resource. Some APIs call it status, others state.
func (t assetResource) word() string {
	switch s := t.Status.(type) {
	case string:
		return s
	case map[string]any:
		state, _ := s["state"].(string)
		return state
	}
	return t.State
}

// factsOf holds, by type, the function that returns the facts that the waste rules read, under the rules' names and
// units.
var factsOf = map[string]func(t assetResource, a *googlerest.Asset, n neighbours) cloud.Facts{
	"gcp-disk": diskFacts,
	"gcp-address": func(t assetResource, _ *googlerest.Asset, n neighbours) cloud.Facts {
		f := cloud.Facts{
			"state": t.word(), "address_type": t.AddressType, "unused_since": cloud.Never,
			"instance_state": "",
		}
		if t.word() == "RESERVED" {
			f["unused_since"] = cloud.Since{}
		}
		addUser(f, t.Users, n)
		return f
	},
	"gcp-snapshot": func(t assetResource, _ *googlerest.Asset, _ neighbours) cloud.Facts {
		return cloud.Facts{
			"auto_created": t.AutoCreated, "storage_gb": float64(t.StorageBytes) / (1 << 30),
			"snapshot_type": t.SnapshotType,
		}
	},
	"gcp-forwarding-rule": func(t assetResource, _ *googlerest.Asset, _ neighbours) cloud.Facts {
		return cloud.Facts{"scheme": t.LoadBalancingScheme}
	},
	"gcp-memorystore": func(t assetResource, _ *googlerest.Asset, _ neighbours) cloud.Facts {
		return cloud.Facts{"tier": t.Tier, "memory_gb": t.MemorySizeGB, "auth": t.AuthEnabled}
	},
}

func diskFacts(t assetResource, a *googlerest.Asset, n neighbours) cloud.Facts {
	_, labelled := a.Labels["goog-gke-volume"]
	f := cloud.Facts{
		"users": append([]string{}, t.Users...), "disk_type": lastPart(t.Type), "size_gb": float64(t.SizeGB),
		"provisioned_iops": float64(t.ProvisionedIOPS), "regional": t.Region != "",
		"snapshot_policy":     len(t.ResourcePolicies) > 0,
		"pvc":                 labelled || strings.Contains(t.Description, "kubernetes.io/created-for/pvc"),
		"instance_state":      "",
		"instance_stopped_at": cloud.Never,
	}
	switch {
	case t.LastDetachTimestamp != "":
		f["last_detached_at"] = timeOf(t.LastDetachTimestamp)
	case t.LastAttachTimestamp == "" && a.CreateTime != "":
		f["last_detached_at"] = timeOf(a.CreateTime) // it was never attached
	}
	addUser(f, t.Users, n)
	if at, told := n.snapshots[a.Name]; told || n.told {
		f["last_snapshot_at"] = cloud.Epoch
		if told {
			f["last_snapshot_at"] = at
		}
	}
	return f
}

// addUser adds the state of the instance that uses something. Of a user that is none, or of another region, it is not
// known.
func addUser(f cloud.Facts, users []string, n neighbours) {
	if len(users) == 0 {
		return
	}
	_, tellsStop := f["instance_stopped_at"]
	delete(f, "instance_state")
	delete(f, "instance_stopped_at")
	i, known := n.instances[fullName("compute.googleapis.com", users[0])]
	if !known {
		return
	}
	if f["instance_state"] = i.word(); !tellsStop {
		return
	}
	switch {
	case i.word() != "TERMINATED":
		f["instance_stopped_at"] = cloud.Never
	case i.LastStopTimestamp != "":
		f["instance_stopped_at"] = timeOf(i.LastStopTimestamp)
	}
}
