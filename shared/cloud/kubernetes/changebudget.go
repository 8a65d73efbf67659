package kubernetes

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"lamplighter.dev/shared/cloud"
)

// budgetBeside is true if a disruption budget covers the pods of a workload.
func budgetBeside() changedValue {
	return changedValue{name: "pdb", beside: &besideValue{read: readBudget, set: setBudget}, check: checkSelector}
}

func checkSelector(_ context.Context, k *objectChange, text string) ([]string, error) {
	if k.now.at("spec", "selector") == nil || text != "true" {
		return nil, cloud.ErrInvalid("pdb %.40q: only true is set, for a workload with a selector", text)
	}
	return []string{"a drain of nodes waits for its pods: one at a time is disrupted"}, nil
}

func readBudget(ctx context.Context, k *objectChange) (string, error) {
	covered := false
	err := eachIn(ctx, k.c, pdbsOf, k.at.ns, func(b *budget) {
		covered = covered || b.covers(k.o.templateLabels())
	})
	return strconv.FormatBool(covered), err
}

// budgetName is the name of the budget that a change makes for a workload.
func (k *objectChange) budgetName() string {
	name := "lamplighter-" + k.at.name
	return name[:min(len(name), 253)]
}

// setBudget makes the budget of a workload, or deletes the one that was made here.
func setBudget(ctx context.Context, k *objectChange, text string) error {
	if text != "true" {
		return k.deleteBudget(ctx)
	}
	err := k.c.callResource(ctx, http.MethodPost, pdbsOf, ref{ns: k.at.ns}, request{
		query: url.Values{"fieldManager": {fieldManager}}, body: map[string]any{
			"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
			"metadata": map[string]any{
				"name": k.budgetName(), "namespace": k.at.ns,
				"labels": map[string]any{autoscalerLabel: autoscalerMaker},
			},
			"spec": map[string]any{"maxUnavailable": 1, "selector": k.now.at("spec", "selector")},
		},
	})
	return classifyError(permissionName("create", pdbsOf), err)
}

func (k *objectChange) deleteBudget(ctx context.Context) error {
	var uid string
	err := eachIn(ctx, k.c, pdbsOf, k.at.ns, func(o *object) {
		if o.Name == k.budgetName() && o.Labels[autoscalerLabel] == autoscalerMaker {
			uid = o.UID
		}
	})
	if err != nil {
		return err
	}
	if uid == "" {
		return cloud.ErrUnsupported("the disruption budget %s is not there, or is not ours: another one covers its "+
			"pods", k.budgetName())
	}
	err = k.c.callResource(ctx, http.MethodDelete, pdbsOf, ref{k.at.ns, k.budgetName()}, request{body: map[string]any{
		"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": map[string]any{"uid": uid},
	}})
	return ignoreNotFound(classifyError(permissionName("delete", pdbsOf), err))
}
