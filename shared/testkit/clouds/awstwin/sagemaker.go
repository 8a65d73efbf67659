package awstwin

import (
	"net/http"
	"slices"
)

// Notebook is a notebook instance of SageMaker. Status "" is InService.
type Notebook struct {
	Name, Region, Status string
}

// AddNotebook adds a notebook instance.
func (c *Cloud) AddNotebook(n Notebook) *Notebook {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.Status == "" {
		n.Status = "InService"
	}
	c.notebooks = append(c.notebooks, &n)
	return &n
}

// ARN returns the ARN of the notebook.
func (n *Notebook) ARN() string {
	return "arn:aws:sagemaker:" + n.Region + ":" + Account + ":notebook-instance/" + n.Name
}

func (n *Notebook) settleState() {
	switch n.Status {
	case "Pending", "Updating":
		n.Status = "InService"
	case "Stopping":
		n.Status = "Stopped"
	}
}

func (n *Notebook) json() map[string]any {
	return map[string]any{
		"NotebookInstanceName": n.Name, "NotebookInstanceArn": n.ARN(), "NotebookInstanceStatus": n.Status,
		"InstanceType": "ml.t3.medium", "CreationTime": 1767323045.0,
	}
}

func (c *Cloud) listNotebooks(q request) (any, *failure) {
	found := slices.DeleteFunc(slices.Clone(c.notebooks), func(n *Notebook) bool { return n.Region != q.region })
	from, to, next := c.cutPage(q, len(found), "MaxResults", "NextToken")
	list := []map[string]any{}
	for _, n := range found[from:to] {
		list = append(list, n.json())
	}
	out := map[string]any{"NotebookInstances": list}
	if next != "" {
		out["NextToken"] = next
	}
	return out, nil
}

func (c *Cloud) describeNotebook(q request) (any, *failure) {
	n, f := c.notebook(q)
	if f != nil {
		return nil, f
	}
	return n.json(), nil
}

func (c *Cloud) listNotebookTags(request) (any, *failure) {
	return map[string]any{"Tags": []map[string]string{{"Key": "team", "Value": "science"}}}, nil
}

func (c *Cloud) notebook(q request) (*Notebook, *failure) {
	name := q.getString("NotebookInstanceName")
	at := slices.IndexFunc(c.notebooks, func(n *Notebook) bool { return n.Name == name && n.Region == q.region })
	if at < 0 {
		return nil, newFailure(http.StatusBadRequest, "ValidationException", "RecordNotFound")
	}
	return c.notebooks[at], nil
}

func (c *Cloud) startNotebook(q request) (any, *failure) {
	return c.turnNotebook(q, "Stopped", "Pending")
}

func (c *Cloud) stopNotebook(q request) (any, *failure) {
	return c.turnNotebook(q, "InService", "Stopping")
}

// turnNotebook moves a notebook from one state to another, and refuses other states as strictly as SageMaker.
func (c *Cloud) turnNotebook(q request, from, to string) (any, *failure) {
	n, f := c.notebook(q)
	switch {
	case f != nil:
		return nil, f
	case n.Status != from:
		return nil, newFailure(http.StatusBadRequest, "ValidationException",
			"Status (%s) not in ([%s]). Unable to transition to (%s) for Notebook Instance (%s).", n.Status, from, to,
			n.ARN())
	}
	n.Status = to
	return map[string]any{}, nil
}
