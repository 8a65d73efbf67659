package awstwin

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Function is a Lambda function. Reserved is its reserved concurrency, nil when there is none. Provisioned is its
// provisioned concurrency by alias or version.
type Function struct {
	Name, Region string
	MemoryMB     int
	Tags         map[string]string
	Reserved     *int
	Provisioned  map[string]int

	making map[string]bool // provisioned concurrency that is not ready yet
}

// AddFunction adds a function.
func (c *Cloud) AddFunction(f Function) *Function {
	c.ChangeLocked(func() { c.functions = append(c.functions, &f) })
	return &f
}

// ARN returns the ARN of the function.
func (f *Function) ARN() string {
	return "arn:aws:lambda:" + f.Region + ":" + Account + ":function:" + f.Name
}

func (f *Function) settleState() { f.making = nil }

// functionOp finds the operation of Lambda by its method and path: /<version>/functions/<name>/concurrency,
// /<version>/tags/<arn>.
func functionOp(method string, path []string) string {
	last := path[len(path)-1]
	switch {
	case len(path) > 2 && path[1] == "tags":
		return map[string]string{
			http.MethodGet: "ListTags", http.MethodPost: "TagResource",
			http.MethodDelete: "UntagResource",
		}[method]
	case last == "concurrency":
		return map[string]string{http.MethodGet: "Get", http.MethodPut: "Put", http.MethodDelete: "Delete"}[method] +
			"FunctionConcurrency"
	case last == "provisioned-concurrency" && method == http.MethodGet:
		return "ListProvisionedConcurrencyConfigs"
	case last == "provisioned-concurrency":
		return map[string]string{http.MethodPut: "Put", http.MethodDelete: "Delete"}[method] +
			"ProvisionedConcurrencyConfig"
	case last == "list", last == "event-invoke-config":
		return "ListFunctionEventInvokeConfigs"
	}
	return "ListFunctions"
}

func (c *Cloud) listFunctions(q request) (any, *failure) {
	found := slices.DeleteFunc(slices.Clone(c.functions), func(f *Function) bool { return f.Region != q.region })
	from, to, next := c.cutPage(q, len(found), "MaxItems", "Marker")
	all := make([]map[string]any, 0, to-from)
	for _, f := range found[from:to] {
		all = append(all, map[string]any{
			"FunctionName": f.Name, "FunctionArn": f.ARN(), "Runtime": "python3.12",
			"MemorySize": f.MemoryMB, "Timeout": 30, "Architectures": []string{"arm64"},
			"LastModified": "2026-01-02T03:04:05.000+0000",
		})
	}
	return withToken(map[string]any{"Functions": all}, "NextMarker", next), nil
}

// function finds the function whose name or ARN is in the path.
func (c *Cloud) function(q request) (*Function, *failure) {
	name, _ := url.PathUnescape(strings.Join(q.path[2:], "/"))
	for _, f := range c.functions {
		if f.Region == q.region &&
			(name == f.ARN() || strings.HasPrefix(name, f.ARN()+"/") || strings.HasPrefix(name, f.Name+"/")) {
			return f, nil
		}
	}
	return nil, newFailure(http.StatusNotFound, "ResourceNotFoundException", "Function not found: %s", name)
}

func (c *Cloud) listFunctionTags(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed != nil {
		return nil, failed
	}
	return map[string]any{"Tags": f.Tags}, nil
}

func (c *Cloud) tagFunction(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed != nil {
		return nil, failed
	}
	f.Tags = maps.Clone(f.Tags)
	tags, _ := q.body["Tags"].(map[string]any)
	for k, v := range tags {
		f.Tags[k], _ = v.(string)
	}
	return map[string]any{}, nil
}

func (c *Cloud) untagFunction(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed != nil {
		return nil, failed
	}
	f.Tags = maps.Clone(f.Tags)
	for _, k := range q.form["tagKeys"] {
		delete(f.Tags, k)
	}
	return map[string]any{}, nil
}

func (c *Cloud) getReserved(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed != nil {
		return nil, failed
	}
	if f.Reserved == nil {
		return map[string]any{}, nil
	}
	return map[string]any{"ReservedConcurrentExecutions": *f.Reserved}, nil
}

// putReserved sets the reserved concurrency. It refuses less than the provisioned concurrency.
func (c *Cloud) putReserved(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed != nil {
		return nil, failed
	}
	n, _ := q.getNumber("ReservedConcurrentExecutions")
	if total := f.total(); n < total {
		return nil, newFailure(http.StatusBadRequest, "InvalidParameterValueException",
			"ReservedConcurrentExecutions for function should not be lower than function's total provisioned "+
				"concurrency [%d].", total)
	}
	f.Reserved = &n
	return map[string]any{"ReservedConcurrentExecutions": n}, nil
}

func (f *Function) total() (n int) {
	for _, p := range f.Provisioned {
		n += p
	}
	return n
}

func (c *Cloud) deleteReserved(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed == nil {
		f.Reserved = nil
	}
	return map[string]any{}, failed
}

func (c *Cloud) listProvisioned(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed != nil {
		return nil, failed
	}
	all := []map[string]any{}
	for _, qualifier := range slices.Sorted(maps.Keys(f.Provisioned)) {
		status, ready := "READY", f.Provisioned[qualifier]
		if f.making[qualifier] {
			status, ready = "IN_PROGRESS", 0
		}
		all = append(all, map[string]any{
			"FunctionArn": f.ARN() + ":" + qualifier, "Status": status,
			"RequestedProvisionedConcurrentExecutions": f.Provisioned[qualifier],
			"AllocatedProvisionedConcurrentExecutions": ready,
		})
	}
	return map[string]any{"ProvisionedConcurrencyConfigs": all}, nil
}

// putProvisioned sets the provisioned concurrency. It refuses more than the reserved concurrency.
func (c *Cloud) putProvisioned(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed != nil {
		return nil, failed
	}
	n, _ := q.getNumber("ProvisionedConcurrentExecutions")
	qualifier := q.getString("Qualifier")
	if total := f.total() - f.Provisioned[qualifier] + n; f.Reserved != nil && total > *f.Reserved {
		return nil, newFailure(http.StatusBadRequest, "InvalidParameterValueException",
			"Requested Provisioned Concurrency should not be greater than the reservedConcurrentExecution for function")
	}
	f.Provisioned, f.making = maps.Clone(f.Provisioned), maps.Clone(f.making)
	if f.Provisioned == nil {
		f.Provisioned = map[string]int{}
	}
	if f.making == nil {
		f.making = map[string]bool{}
	}
	f.Provisioned[qualifier], f.making[qualifier] = n, true
	return map[string]any{"Status": "IN_PROGRESS"}, nil
}

func (c *Cloud) deleteProvisioned(q request) (any, *failure) {
	f, failed := c.function(q)
	if failed == nil {
		f.Provisioned = maps.Clone(f.Provisioned)
		delete(f.Provisioned, q.getString("Qualifier"))
	}
	return map[string]any{}, failed
}
