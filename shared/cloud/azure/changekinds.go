package azure

import "lamplighter.dev/shared/cloud/definition"

// changedKinds are the kinds that remediation changes. A new kind is a line here and a line in the catalogue.
var changedKinds = []changedKind{
	{
		kind: disk, arm: "Microsoft.Compute/disks", version: "2024-03-02", check: needsIdleDisk,
		users: []string{"managedBy", "managedByExtended"},
		values: []definition.Value{
			text("sku", "sku.name"), amount("tier_iops", "properties.diskIOPSReadWrite"),
			amount("size_gb", "properties.diskSizeGB"),
			{Name: "public_access", Path: "properties.publicNetworkAccess", On: "Enabled", Off: "Disabled", Or: "true"},
		},
	},
	{kind: "azure-snapshot", arm: snapshotsType, version: snapshotsVersion, noRestore: true},
	{
		kind: "azure-publicip", arm: "Microsoft.Network/publicIPAddresses", version: networkVersion,
		users:  []string{"properties.ipConfiguration", "properties.natGateway"},
		values: []definition.Value{text("address", "properties.ipAddress")},
	},
	{
		kind: "azure-loadbalancer", arm: "Microsoft.Network/loadBalancers", version: networkVersion, users: []string{
			"properties.backendAddressPools[].properties.backendIPConfigurations",
			"properties.backendAddressPools[].properties.loadBalancerBackendAddresses",
			"properties.inboundNatRules[].properties.backendIPConfiguration",
		},
	},
	{
		kind: "azure-nic", arm: "Microsoft.Network/networkInterfaces", version: networkVersion, users: []string{
			"properties.virtualMachine", "properties.privateEndpoint", "properties.privateLinkService",
			"properties.hostedWorkloads",
		},
	},
	{
		kind: "azure-nsg", arm: "Microsoft.Network/networkSecurityGroups", version: networkVersion,
		users: []string{"properties.networkInterfaces", "properties.subnets"},
	},
	{
		kind: "azure-natgateway", arm: "Microsoft.Network/natGateways", version: networkVersion,
		users: []string{"properties.subnets"},
	},
	{
		kind: "azure-ddos-plan", arm: "Microsoft.Network/ddosProtectionPlans", version: networkVersion,
		users: []string{"properties.virtualNetworks", "properties.publicIPAddresses"},
	},
	{
		kind: "azure-frontdoor-waf", arm: "Microsoft.Network/frontDoorWebApplicationFirewallPolicies",
		version: "2024-02-01", users: []string{"properties.frontendEndpointLinks", "properties.securityPolicyLinks"},
	},
	{
		kind: "azure-trafficmanager", arm: "Microsoft.Network/trafficManagerProfiles", version: "2022-04-01",
		users: []string{"properties.endpoints"},
	},
	{
		kind: "azure-availability-set", arm: "Microsoft.Compute/availabilitySets", version: "2024-07-01",
		users: []string{"properties.virtualMachines"},
	},
	{
		kind: "azure-dedicated-host", arm: "Microsoft.Compute/hostGroups/hosts", version: "2024-07-01",
		users: []string{"properties.virtualMachines"},
	},
	{
		kind: "azure-appserviceplan", arm: "Microsoft.Web/serverfarms", version: "2023-12-01",
		users: []string{"properties.numberOfSites"},
	},
	{
		kind: "azure-vm", arm: "Microsoft.Compute/virtualMachines", version: "2024-07-01", check: needsStoppedMachine,
		values: []definition.Value{
			text("class", "properties.hardwareProfile.vmSize"),
			flag("encryption_at_host", "properties.securityProfile.encryptionAtHost"),
		},
	},
	{
		kind: "azure-storage", arm: "Microsoft.Storage/storageAccounts", version: "2023-05-01",
		values: []definition.Value{text("sku", "sku.name"), flag("sftp", "properties.isSftpEnabled")},
	},
	{
		kind: "azure-appservice", arm: "Microsoft.Web/sites", version: "2023-12-01",
		values: []definition.Value{flag("https_only", "properties.httpsOnly")},
	},
	{
		kind: "azure-functionapp", arm: "Microsoft.Web/sites", version: "2023-12-01",
		values: []definition.Value{flag("https_only", "properties.httpsOnly")},
	},
	{
		kind: "azure-sql-database", arm: "Microsoft.Sql/servers/databases", version: "2023-08-01",
		values: []definition.Value{
			{Name: "auto_pause_min", Path: "properties.autoPauseDelay", Number: true, Or: "-1"},
			flag("zone_redundant", "properties.zoneRedundant"),
			{Name: "max_gb", Path: "properties.maxSizeBytes", Number: true, Unit: 1 << 30},
			{
				Name: "backup_redundancy", Path: "properties.currentBackupStorageRedundancy",
				Write: "properties.requestedBackupStorageRedundancy",
			},
		},
	},
	{
		kind: "azure-sql-mi", arm: "Microsoft.Sql/managedInstances", version: "2023-08-01",
		values: []definition.Value{
			amount("vcores", "properties.vCores"), amount("storage_gb", "properties.storageSizeInGB"),
		},
	},
	{
		kind: "azure-sql-elasticpool", arm: "Microsoft.Sql/servers/elasticPools", version: "2023-08-01",
		values: []definition.Value{amount("capacity", "sku.capacity")},
	},
	{
		kind: "azure-postgresql-flexible", arm: "Microsoft.DBforPostgreSQL/flexibleServers", version: "2024-08-01",
		values: []definition.Value{
			{Name: "ha_mode", Path: "properties.highAvailability.mode", Or: "Disabled"},
			{Name: "auto_grow", Path: "properties.storage.autoGrow", On: "Enabled", Off: "Disabled", Or: "false"},
		},
	},
	{
		kind: "azure-mysql-flexible", arm: "Microsoft.DBforMySQL/flexibleServers", version: "2023-12-30",
		values: []definition.Value{
			{Name: "ha_mode", Path: "properties.highAvailability.mode", Or: "Disabled"},
			{Name: "auto_io", Path: "properties.storage.autoIoScaling", On: "Enabled", Off: "Disabled", Or: "false"},
		},
	},
	{
		kind: "azure-search", arm: "Microsoft.Search/searchServices", version: "2023-11-01",
		values: []definition.Value{amount("replicas", "properties.replicaCount")},
	},
	{
		kind: "azure-eventhub", arm: "Microsoft.EventHub/namespaces", version: "2024-01-01",
		values: []definition.Value{amount("capacity", "sku.capacity")},
	},
	{
		kind: "azure-servicebus", arm: "Microsoft.ServiceBus/namespaces", version: "2022-10-01-preview",
		values: []definition.Value{amount("capacity", "sku.capacity")},
	},
	{
		kind: "azure-acr", arm: "Microsoft.ContainerRegistry/registries", version: "2023-07-01",
		values: []definition.Value{text("sku", "sku.name")},
	},
	{
		kind: "azure-loganalytics", arm: "Microsoft.OperationalInsights/workspaces", version: "2023-09-01",
		values: []definition.Value{
			amount("retention_days", "properties.retentionInDays"),
			{Name: "daily_cap_gb", Path: "properties.workspaceCapping.dailyQuotaGb", Number: true, Or: "-1"},
		},
	},
	{
		kind: "azure-adx", arm: "Microsoft.Kusto/clusters", version: "2023-08-15",
		values: []definition.Value{flag("auto_stop", "properties.enableAutoStop")},
	},
	{
		kind: "azure-fabric-capacity", arm: "Microsoft.Fabric/capacities", version: "2023-11-01",
		values: []definition.Value{text("sku", "sku.name")},
	},
	{
		kind: "azure-openai-deployment", arm: "Microsoft.CognitiveServices/accounts/deployments", version: "2024-10-01",
		values: []definition.Value{amount("capacity", "sku.capacity")},
	},
	{
		kind: "azure-netapp-pool", arm: "Microsoft.NetApp/netAppAccounts/capacityPools", version: "2024-07-01",
		values: []definition.Value{{Name: "size_tib", Path: "properties.size", Number: true, Unit: 1 << 40}},
	},
}

const networkVersion = "2024-05-01"

func text(name, path string) definition.Value { return definition.Value{Name: name, Path: path} }

func amount(name, path string) definition.Value {
	return definition.Value{Name: name, Path: path, Number: true}
}

func flag(name, path string) definition.Value {
	return definition.Value{Name: name, Path: path, Bool: true, Or: "false"}
}
