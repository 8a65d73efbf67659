package azuretwin

// AddContainerGroup adds a group of containers that runs.
func (c *Cloud) AddContainerGroup(name, region string) *Resource {
	return c.addResource(typeGroup, name, region, map[string]any{"properties": map[string]any{
		"provisioningState": "Succeeded", "restartPolicy": "Always", "osType": "Linux",
		"instanceView": map[string]any{"state": "Running", "events": []any{}},
	}})
}

// AddDataExplorer adds a cluster of Data Explorer that runs.
func (c *Cloud) AddDataExplorer(name, region string) *Resource {
	return c.addResource(typeExplorer, name, region, map[string]any{
		"sku":        map[string]any{"name": "Standard_E2ads_v5", "tier": "Standard", "capacity": 2},
		"properties": map[string]any{"state": "Running", "provisioningState": "Succeeded"},
	})
}

// AddGateway adds an application gateway that runs.
func (c *Cloud) AddGateway(name, region string) *Resource {
	return c.addResource(typeGateway, name, region, map[string]any{"properties": map[string]any{
		"operationalState": "Running", "provisioningState": "Succeeded",
		"sku": map[string]any{"name": "Standard_v2", "tier": "Standard_v2", "capacity": 2},
	}})
}

// AddAnalysisServer adds a server of Analysis Services that runs.
func (c *Cloud) AddAnalysisServer(name, region string) *Resource {
	return c.addResource(typeAnalysis, name, region, map[string]any{
		"sku":        map[string]any{"name": "S1", "tier": "Standard", "capacity": 1},
		"properties": map[string]any{"state": "Succeeded", "provisioningState": "Succeeded"},
	})
}

// AddFabricCapacity adds a capacity of Fabric that runs.
func (c *Cloud) AddFabricCapacity(name, region string) *Resource {
	return c.addResource(typeFabric, name, region, map[string]any{
		"sku":        map[string]any{"name": "F2", "tier": "Fabric"},
		"properties": map[string]any{"state": "Active", "provisioningState": "Succeeded"},
	})
}

// AddStreamJob adds a job of Stream Analytics that runs, and had output at the time; "" is a job that never had any.
func (c *Cloud) AddStreamJob(name, region, lastOutput string) *Resource {
	p := map[string]any{"jobState": "Running", "provisioningState": "Succeeded", "createdDate": "2026-01-02T03:04:05Z"}
	if lastOutput != "" {
		p["lastOutputEventTime"] = lastOutput
	}
	return c.addResource(typeJob, name, region, map[string]any{"properties": p})
}

// AddWorkspace adds a workspace of Machine Learning.
func (c *Cloud) AddWorkspace(name, region string) *Resource {
	return c.addResource(typeWorkspace, name, region,
		map[string]any{"kind": "Default", "properties": map[string]any{"provisioningState": "Succeeded"}})
}

// AddCompute adds a compute of a type, "ComputeInstance" for one, to a workspace.
func (c *Cloud) AddCompute(workspace *Resource, name, computeType string) *Resource {
	region, _ := workspace.Body["location"].(string)
	own := map[string]any{"vmSize": "STANDARD_DS3_V2"}
	if computeType == "ComputeInstance" {
		own["state"] = "Running"
	}
	return c.addResource(typeCompute, textOf(workspace.Body, "name")+"/"+name, region,
		map[string]any{"properties": map[string]any{
			"computeType": computeType, "provisioningState": "Succeeded", "properties": own,
		}})
}
