package cloud

import "slices"

// azureChanges returns the changes of Azure. Values are set by a PATCH; a removal is a DELETE, and a PUT of the stored
// definition gives the resource back under its name.
func azureChanges() []KindChange {
	return slices.Concat([]KindChange{
		{
			Type: "azure-disk", Verb: Delete, Copies: true, Call: "DELETE Microsoft.Compute/disks",
			Undo:   "a disk of the same name is made of the snapshot",
			Limits: []string{"a restored disk has the same name and ID, and is another disk: attach it again"},
			Needs: append(azureNeeds("Microsoft.Compute/disks", "read", "write", "delete"),
				"Microsoft.Authorization/locks/read", "Microsoft.Compute/disks/beginGetAccess/action",
				"Microsoft.Compute/snapshots/read", "Microsoft.Compute/snapshots/write"),
		},
		{
			Type: "azure-snapshot", Verb: Delete, Call: "DELETE Microsoft.Compute/snapshots", Undo: noUndo,
			Limits: []string{lostForGood},
			Needs: append(azureNeeds("Microsoft.Compute/snapshots", "read", "write", "delete"),
				"Microsoft.Authorization/locks/read"),
		},
		{
			Type: "azure-publicip", Verb: Release, Call: "DELETE Microsoft.Network/publicIPAddresses",
			Undo:   "a public IP address of the same name is made",
			Limits: []string{"the address itself does not come back: the new one has another"},
			Needs:  azureNeeds("Microsoft.Network/publicIPAddresses", "read", "write", "delete"),
		},
		azureDelete("azure-loadbalancer", "Microsoft.Network/loadBalancers"),
		azureDelete("azure-nic", "Microsoft.Network/networkInterfaces", "a dynamic private address may be another one"),
		azureDelete("azure-nsg", "Microsoft.Network/networkSecurityGroups"),
		azureDelete("azure-natgateway", "Microsoft.Network/natGateways"),
		azureDelete("azure-ddos-plan", "Microsoft.Network/ddosProtectionPlans"),
		azureDelete("azure-frontdoor-waf", "Microsoft.Network/frontDoorWebApplicationFirewallPolicies"),
		azureDelete("azure-trafficmanager", "Microsoft.Network/trafficManagerProfiles",
			"its DNS name comes back only while nobody else has it"),
		azureDelete("azure-availability-set", "Microsoft.Compute/availabilitySets"),
		azureDelete("azure-dedicated-host", "Microsoft.Compute/hostGroups/hosts", "Azure may lack a host of this type"),
		azureDelete("azure-appserviceplan", "Microsoft.Web/serverfarms"),
	}, azureSettings())
}

// azureSettings returns the changes that set values.
func azureSettings() []KindChange {
	const (
		compute = "Microsoft.Compute/"
		sql     = "Microsoft.Sql/"
	)
	vm := azureSet("azure-vm", Resize, compute+"virtualMachines", "class")
	vm.Limits = []string{"Azure may lack capacity for the size before"}
	host := azureSet("azure-vm", Guard, compute+"virtualMachines", "encryption_at_host")
	host.Holds = []string{"stopped"}
	disk := azureSet("azure-disk", ChangeStorage, compute+"disks", "sku", "tier_iops", "public_access")
	disk.Holds, disk.Needs = []string{"stopped"}, append(disk.Needs, compute+"virtualMachines/read",
		compute+"snapshots/read", "Microsoft.Authorization/locks/read")
	return []KindChange{
		disk, vm, host,
		azureSet("azure-storage", ChangeStorage, "Microsoft.Storage/storageAccounts", "sku"),
		azureSet("azure-storage", Setting, "Microsoft.Storage/storageAccounts", "sftp"),
		azureSet("azure-appservice", Guard, "Microsoft.Web/sites", "https_only"),
		azureSet("azure-functionapp", Guard, "Microsoft.Web/sites", "https_only"),
		azureSet("azure-sql-database", Resize, sql+"servers/databases", "auto_pause_min", "zone_redundant"),
		azureSet("azure-sql-database", ChangeStorage, sql+"servers/databases", "max_gb", "backup_redundancy"),
		azureSet("azure-sql-mi", Resize, sql+"managedInstances", "vcores"),
		azureSet("azure-sql-mi", ChangeStorage, sql+"managedInstances", "storage_gb"),
		azureSet("azure-sql-elasticpool", Resize, sql+"servers/elasticPools", "capacity"),
		azureSet("azure-postgresql-flexible", Resize, "Microsoft.DBforPostgreSQL/flexibleServers", "ha_mode"),
		azureSet("azure-postgresql-flexible", Guard, "Microsoft.DBforPostgreSQL/flexibleServers", "ha_mode"),
		azureSet("azure-postgresql-flexible", ChangeStorage, "Microsoft.DBforPostgreSQL/flexibleServers", "auto_grow"),
		azureSet("azure-mysql-flexible", Resize, "Microsoft.DBforMySQL/flexibleServers", "ha_mode"),
		azureSet("azure-mysql-flexible", ChangeStorage, "Microsoft.DBforMySQL/flexibleServers", "auto_io"),
		azureSet("azure-search", Resize, "Microsoft.Search/searchServices", "replicas"),
		azureSet("azure-eventhub", Resize, "Microsoft.EventHub/namespaces", "capacity"),
		azureSet("azure-servicebus", Resize, "Microsoft.ServiceBus/namespaces", "capacity"),
		azureSet("azure-acr", Resize, "Microsoft.ContainerRegistry/registries", "sku"),
		azureSet("azure-loganalytics", SetLifecycle, "Microsoft.OperationalInsights/workspaces", "retention_days"),
		azureSet("azure-loganalytics", Guard, "Microsoft.OperationalInsights/workspaces", "daily_cap_gb"),
		azureSet("azure-adx", SetLifecycle, "Microsoft.Kusto/clusters", "auto_stop"),
		azureSet("azure-fabric-capacity", Resize, "Microsoft.Fabric/capacities", "sku"),
		azureSet("azure-openai-deployment", Resize, "Microsoft.CognitiveServices/accounts/deployments", "capacity"),
		azureSet("azure-netapp-pool", ChangeStorage, "Microsoft.NetApp/netAppAccounts/capacityPools", "size_tib"),
	}
}

// azureSet describes a PATCH of some values.
func azureSet(kind string, verb ChangeVerb, arm string, values ...string) KindChange {
	return KindChange{
		Type: kind, Verb: verb, Sets: values, Call: "PATCH " + arm, Undo: "a PATCH sets the values before",
		Needs: azureNeeds(arm, "read", "write"),
	}
}

// azureDelete describes a DELETE that a PUT of the stored definition gives back.
func azureDelete(kind, arm string, limits ...string) KindChange {
	return KindChange{
		Type: kind, Verb: Delete, Call: "DELETE " + arm, Limits: limits,
		Undo:  "a PUT of the stored definition makes it again, under the same name",
		Needs: append(azureNeeds(arm, "read", "write", "delete"), "Microsoft.Authorization/locks/read"),
	}
}

func azureNeeds(arm string, actions ...string) []string {
	out := make([]string, len(actions))
	for i, a := range actions {
		out[i] = arm + "/" + a
	}
	return out
}
