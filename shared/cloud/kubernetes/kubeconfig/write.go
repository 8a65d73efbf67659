package kubeconfig

import (
	"encoding/json"
	"fmt"
)

type named struct {
	Name    string            `json:"name"`
	Cluster map[string]any    `json:"cluster,omitempty"`
	User    map[string]any    `json:"user,omitempty"`
	Context map[string]string `json:"context,omitempty"`
}

// Kubeconfig returns a kubeconfig that contains only a, as JSON, which is also YAML. Other programs can read it.
func (a Access) Kubeconfig() (string, error) {
	const only = "cluster"
	b, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": only,
		"contexts": []named{{Name: only, Context: map[string]string{"cluster": only, "user": only}}},
		"clusters": []named{{Name: only, Cluster: present(map[string]any{
			"server": a.Server, "tls-server-name": a.ServerName, "certificate-authority-data": a.Authority,
		})}},
		"users": []named{{Name: only, User: present(map[string]any{
			"token": a.Token, "client-certificate-data": a.Certificate, "client-key-data": a.Key,
		})}},
	})
	if err != nil {
		return "", fmt.Errorf("write kubeconfig of %s: %w", a.Server, err)
	}
	return string(b), nil
}

// present leaves out the fields without a value. Bytes are written as base64, as kubeconfigs have them.
func present(fields map[string]any) map[string]any {
	for name, v := range fields {
		if b, ok := v.([]byte); v == "" || ok && len(b) == 0 {
			delete(fields, name)
		}
	}
	return fields
}
