package azure

import (
	"strings"

	"lamplighter.dev/shared/cloud"
)

// kindFacts are, by type, the facts of facts.csv in its rows of the Resource Graph. They need no calls.
var kindFacts = map[string]map[string]fact{
	cloud.AzureVM: {
		"power_state": powerOf, "os_type": requiredTextFact("storageProfile.osDisk.osType"),
		"license_type": textFact("licenseType"),
		"priority":     textOr("priority", "Regular"), "zone_count": zoneCount,
		"vmss_id":            referenceFact("virtualMachineScaleSet.id"),
		"managed_disk":       presenceFact("storageProfile.osDisk.managedDisk"),
		"encryption_at_host": flagFact("securityProfile.encryptionAtHost"),
		"availability_set":   referenceFact("availabilitySet.id"),
		"ephemeral_os_disk":  presenceFact("storageProfile.osDisk.diffDiskSettings"),
		"burstable":          burstable, "public_ip": hasPublicAddress, "sql_edition": sqlEdition,
		"sql_license": sqlLicense,
	},
	cloud.AzureVMSS: {
		"capacity": skuCount, "zone_count": zoneCount, "aks_owned": hasTag("aks-managed-poolName"),
		"autoscaled": autoscaled,
		"priority":   textOr("virtualMachineProfile.priority", "Regular"), "health_probe": probed,
		"autoscale_min": autoscaleMin,
	},
	cloud.AzureAKS: {
		"power_state": requiredTextFact("powerState.code"), "tier": skuTier,
		"support_plan":      textOr("supportPlan", "KubernetesOfficial"),
		"private":           flagFact("apiServerAccessProfile.enablePrivateCluster"),
		"authorized_ranges": listFact("apiServerAccessProfile.authorizedIPRanges"),
		"local_accounts":    negatedFact("disableLocalAccounts"), "entra": flagFact("aadProfile.managed"),
		"monitoring": flagFact("addonProfiles.omsagent.enabled"),
	},
	cloud.AzureAKSNodepool: {
		"mode": requiredTextFact("mode"), "count": numberFact("count"), "autoscaling": flagFact("enableAutoScaling"),
		"min_count": numberOr("minCount", 0),
		"spot":      wordIsFact("scaleSetPriority", "Spot"), "os_disk": requiredTextFact("osDiskType"),
		"zone_count": lengthFact("availabilityZones"),
		"version_lag": func(r row) (any, bool) {
			return minorLag(r.textAt("currentOrchestratorVersion"), r.textAt(clusterVersionOf))
		},
	},
	cloud.AzurePostgreSQL: {
		"state": requiredTextFact("state"), "tier": skuTier, "vcores": coresOf,
		"ha_mode":    textOr("highAvailability.mode", "Disabled"),
		"storage_gb": numberFact("storage.storageSizeGB"), "auto_grow": wordIsFact("storage.autoGrow", "Enabled"),
		"geo_backup": wordIsFact("backup.geoRedundantBackup", "Enabled"), "replica_role": textFact("replicationRole"),
		"public_access":  wordIsFact("network.publicNetworkAccess", "Enabled"),
		"engine_version": requiredTextFact("version"),
	},
	cloud.AzureMySQL: {
		"state": requiredTextFact("state"), "tier": skuTier, "vcores": coresOf,
		"ha_mode": textOr("highAvailability.mode", "Disabled"),
		"iops":    numberFact("storage.iops"), "auto_io": wordIsFact("storage.autoIoScaling", "Enabled"),
		"replica_role": textFact("replicationRole"),
	},
	cloud.AzureContainerApp: {
		"running_status": requiredTextFact("runningStatus"), "min_replicas": numberOr("template.scale.minReplicas", 0),
		"cpu_cores": appCores,
		"insecure":  flagFact("configuration.ingress.allowInsecure"), "ingress": presenceFact("configuration.ingress"),
	},
	cloud.AzureAppService: {
		"state": requiredTextFact("state"), "https_only": flagFact("httpsOnly"),
		"min_tls": requiredTextFact("siteConfig.minTlsVersion"),
	},
	cloud.AzureFunctionApp: {
		"state": requiredTextFact("state"), "https_only": flagFact("httpsOnly"), "plan_tier": planTier,
	},
	cloud.AzureAppServicePlan: {
		"tier": skuTier, "workers": skuCount, "app_count": numberFact("numberOfSites"),
		"zone_redundant": flagFact("zoneRedundant"),
		"autoscaled": func(r row) (any, bool) {
			return r.setting.isActive() || r.valueAt("elasticScaleEnabled") == true, true
		},
		"running_apps": runningApps,
	},
	cloud.AzureSynapseSQLPool: {"status": requiredTextFact("status"), "dwu": warehouseUnits},
	cloud.AzureSQLMI: {
		"state": requiredTextFact("state"), "tier": skuTier, "vcores": numberFact("vCores"),
		"storage_gb":   numberFact("storageSizeInGB"),
		"license_type": textFact("licenseType"), "public_endpoint": flagFact("publicDataEndpointEnabled"),
	},
	cloud.AzureSQLDatabase: {
		"status": requiredTextFact("status"), "sku_tier": skuTier, "capacity": skuCount,
		"auto_pause_min": numberOr("autoPauseDelay", -1),
		"license_type":   textFact("licenseType"), "pool_id": referenceFact("elasticPoolId"),
		"max_gb":         scaledFact("maxSizeBytes", 1.0/(1<<30)),
		"zone_redundant": flagFact("zoneRedundant"), "backup_redundancy": textFact("currentBackupStorageRedundancy"),
		"serverless": func(r row) (any, bool) {
			return r.SKU != nil && strings.Contains(r.SKU.Name, "_S_"), r.SKU != nil
		},
		"is_master": func(r row) (any, bool) {
			return strings.EqualFold(r.Name, "master"), true
		}, "sibling_count": siblings,
	},
	"azure-aci": {"restart_policy": textOr("restartPolicy", "Always")},
	"azure-adx": {
		"state": requiredTextFact("state"), "instances": skuCount,
		"autoscale": flagFact("optimizedAutoscale.isEnabled"),
		"auto_stop": flagFact("enableAutoStop"),
	},
	"azure-appgateway": {
		"sku": requiredTextFact("sku.name"), "backend_count": gatewayBackends,
		"autoscale_min": numberOr("autoscaleConfiguration.minCapacity", -1),
		"capacity":      numberOr("sku.capacity", 0), "state": requiredTextFact("operationalState"),
		"min_tls": textFact("sslPolicy.minProtocolVersion"),
	},
	"azure-fabric-capacity":   {"state": requiredTextFact("state"), "sku": skuOf},
	"azure-analysis-services": {"state": requiredTextFact("state"), "sku_tier": skuTier},
	"azure-disk": {
		"asr": replicaDisk, "public_access": openDisk, "vm_state": ownerState,
	},
}

var powerOf fact = func(r row) (any, bool) {
	m, err := decodeProperties[machine](r.resource)
	state := m.powerState()
	return state, err == nil && state != ""
}

// burstable reports whether the size is of family B, which collects credits for bursts.
var burstable fact = func(r row) (any, bool) {
	size := strings.ToLower(r.textAt("hardwareProfile.vmSize"))
	return strings.HasPrefix(size, "standard_b") || strings.HasPrefix(size, "basic_b"), size != ""
}

// probed reports whether the set hears of sick machines: by a probe of its load balancer, or by an extension.
var probed fact = func(r row) (any, bool) {
	if r.valueAt("virtualMachineProfile.networkProfile.healthProbe") != nil {
		return true, true
	}
	for _, e := range r.objectsAt("virtualMachineProfile.extensionProfile.extensions") {
		p, _ := e["properties"].(map[string]any)
		if kind, _ := p["type"].(string); strings.HasPrefix(kind, "ApplicationHealth") {
			return true, true
		}
	}
	return false, true
}

var autoscaleMin fact = func(r row) (any, bool) {
	if !r.setting.isActive() {
		return 0.0, true
	}
	return float64(r.setting.bounds.Min), true
}

var appCores fact = func(r row) (any, bool) {
	sum := 0.0
	for _, c := range r.objectsAt("template.containers") {
		resources, _ := c["resources"].(map[string]any)
		cpu, _ := resources["cpu"].(float64)
		sum += cpu
	}
	return sum, sum > 0
}

// warehouseUnits reads "DW100c".
var warehouseUnits fact = func(r row) (any, bool) {
	if r.SKU == nil {
		return nil, false
	}
	r.whole = map[string]any{"properties": map[string]any{"n": strings.Trim(strings.ToUpper(r.SKU.Name), "DWC")}}
	return numberFact("n")(r)
}

var gatewayBackends fact = func(r row) (any, bool) {
	sum := 0
	for _, pool := range r.objectsAt("backendAddressPools") {
		p, _ := pool["properties"].(map[string]any)
		addresses, _ := p["backendAddresses"].([]any)
		interfaces, _ := p["backendIPConfigurations"].([]any)
		sum += len(addresses) + len(interfaces)
	}
	return float64(sum), true
}

// replicaDisk: Site Recovery names the disks that it copies to so.
var replicaDisk fact = func(r row) (any, bool) {
	tagged, _ := hasTag("ASR-ReplicaDisk")(r)
	return tagged == true || strings.Contains(strings.ToLower(r.Name), "asrreplica"), true
}

var openDisk fact = func(r row) (any, bool) {
	return strings.EqualFold(r.textAt("publicNetworkAccess"), "Enabled") &&
		strings.EqualFold(r.textAt("networkAccessPolicy"), "AllowAll"), true
}
