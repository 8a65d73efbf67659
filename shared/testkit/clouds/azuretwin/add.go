package azuretwin

import (
	"fmt"
	"strconv"
	"strings"
)

// AddVM adds a running machine; change, if not nil, changes its body.
func (c *Cloud) AddVM(name, region string, change func(*Resource)) *Resource {
	r := c.addResource(typeMachine, name, region, map[string]any{
		"tags": map[string]any{"app": name},
		"properties": map[string]any{
			"provisioningState": "Succeeded", "timeCreated": "2026-01-02T03:04:05Z",
			"hardwareProfile": map[string]any{"vmSize": "Standard_D2s_v5"},
			"storageProfile":  map[string]any{"osDisk": map[string]any{"osType": "Linux"}},
		},
	})
	r.Power = "running"
	return r.changed(change)
}

func (r *Resource) changed(change func(*Resource)) *Resource {
	if change != nil {
		change(r)
	}
	return r
}

// AddScaleSet adds a scale set of so many instances; a capacity below 0 is a set without one.
func (c *Cloud) AddScaleSet(name, region string, capacity int, change func(*Resource)) *Resource {
	body := map[string]any{"properties": map[string]any{
		"provisioningState": "Succeeded",
		"orchestrationMode": "Uniform",
	}}
	if capacity >= 0 {
		body["sku"] = map[string]any{"name": "Standard_D2s_v5", "tier": "Standard", "capacity": capacity}
	}
	return c.addResource(typeScaleSet, name, region, body).changed(change)
}

// AddSetting adds an enabled autoscale setting of the target, with two profiles of the same bounds.
func (c *Cloud) AddSetting(target *Resource, region string, least, most int) *Resource {
	profile := func(name string) any {
		return map[string]any{"name": name, "rules": []any{}, "capacity": map[string]any{
			"minimum": strconv.Itoa(least), "maximum": strconv.Itoa(most), "default": strconv.Itoa(least),
		}}
	}
	return c.addResource(typeSetting, "scale-"+fmt.Sprint(target.Body["name"]), region, map[string]any{
		"tags": map[string]any{"team": "web"},
		"properties": map[string]any{
			"enabled": true, "targetResourceUri": target.ID, "profiles": []any{profile("default"), profile("night")},
			"notifications": []any{map[string]any{"operation": "Scale"}},
		},
	})
}

// AddCluster adds a running cluster without pools.
func (c *Cloud) AddCluster(name, region string, change func(*Resource)) *Resource {
	return c.addResource(typeCluster, name, region, map[string]any{"properties": map[string]any{
		"provisioningState": "Succeeded", "powerState": map[string]any{"code": "Running"},
		"currentKubernetesVersion": "1.33.2",
	}}).changed(change)
}

// AddPool adds a user pool of the cluster; most is 0 where it has no autoscaler.
func (c *Cloud) AddPool(cluster *Resource, name string, count, least, most int) *Resource {
	p := map[string]any{
		"provisioningState": "Succeeded", "powerState": map[string]any{"code": "Running"}, "mode": "User",
		"type":   "VirtualMachineScaleSets",
		"vmSize": "Standard_D4s_v5", "count": count, "enableAutoScaling": most > 0, "eTag": "etag-1",
		"orchestratorVersion": "1.33",
		"nodeLabels":          map[string]any{"team": "web"},
	}
	if most > 0 {
		p["minCount"], p["maxCount"] = least, most
	}
	return c.addResource(typePool, fmt.Sprint(cluster.Body["name"])+"/"+name, "", map[string]any{"properties": p})
}

// AddServer adds a flexible server that is ready; engine is "PostgreSQL" or "MySQL".
func (c *Cloud) AddServer(engine, name, region string) *Resource {
	return c.addResource("Microsoft.DBfor"+engine+"/flexibleServers", name, region, map[string]any{
		"sku":        map[string]any{"name": "Standard_D2ds_v5", "tier": "GeneralPurpose"},
		"properties": map[string]any{"state": "Ready", "version": "16"},
	})
}

// AddManagedInstance adds a managed instance of SQL that is ready.
func (c *Cloud) AddManagedInstance(name, region, tier string) *Resource {
	return c.addResource(typeInstance, name, region, map[string]any{
		"sku":        map[string]any{"name": "GP_Gen5", "tier": tier, "family": "Gen5", "capacity": 4},
		"properties": map[string]any{"state": "Ready", "provisioningState": "Succeeded"},
	})
}

// AddDatabase adds a database of a server; kind is as Azure has it: "v12.0,user,vcore".
func (c *Cloud) AddDatabase(name, region, kind string, sku map[string]any) *Resource {
	return c.addResource(typeDatabase, "server-1/"+name, region, map[string]any{
		"kind": kind, "sku": sku,
		"properties": map[string]any{"status": "Online", "creationDate": "2026-01-02T03:04:05Z"},
	})
}

// AddSQLPool adds a dedicated pool of Synapse that is online.
func (c *Cloud) AddSQLPool(name, region string) *Resource {
	return c.addResource(typeSQLPool, "workspace-1/"+name, region, map[string]any{
		"sku":        map[string]any{"name": "DW100c", "capacity": 0},
		"properties": map[string]any{"status": "Online", "provisioningState": "Succeeded"},
	})
}

// AddContainerApp adds an app that runs, with its replicas.
func (c *Cloud) AddContainerApp(name, region string, least, most int, change func(*Resource)) *Resource {
	return c.addResource(typeContainerApp, name, region, map[string]any{"properties": map[string]any{
		"runningStatus": "Running", "provisioningState": "Succeeded", "workloadProfileName": "Consumption",
		"configuration": map[string]any{"activeRevisionsMode": "Single"},
		"template":      map[string]any{"scale": map[string]any{"minReplicas": least, "maxReplicas": most}},
	}}).changed(change)
}

// AddSite adds a web app that runs; App Service writes regions with a space.
func (c *Cloud) AddSite(name, region string) *Resource {
	return c.addResource(typeSite, name, strings.Replace(region, "europe", " Europe", 1), map[string]any{
		"kind": "app,linux", "properties": map[string]any{"state": "Running", "serverFarmId": "plan-1"},
	})
}

// AddFunctionApp adds a Function app that runs.
func (c *Cloud) AddFunctionApp(name, region string) *Resource {
	return c.addResource(typeSite, name, region,
		map[string]any{"kind": "functionapp,linux", "properties": map[string]any{"state": "Running"}})
}

// AddPlan adds an App Service plan.
func (c *Cloud) AddPlan(name, region, tier string, workers int) *Resource {
	return c.addResource(typePlan, name, region, map[string]any{
		"kind": "linux", "sku": map[string]any{
			"name": "P1v3", "tier": tier, "size": "P1v3", "family": "Pv3", "capacity": workers,
		},
		"properties": map[string]any{"status": "Ready", "reserved": true},
	})
}

// AddOther adds a resource of any type.
func (c *Cloud) AddOther(armType, name, region string, body map[string]any) *Resource {
	return c.addResource(armType, name, region, body)
}
