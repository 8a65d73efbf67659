package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

// budgetColumns are members of the status of a budget.
var budgetColumns = []column{
	{"NAME", "name"},
	{"SIGNAL", "signal"},
	{"USD", "amountUSD"},
	{"SPENT", "spentUSD"},
	{"PERCENT", "percentUsed"},
	{"LEFT", "remainingUSD"},
	{"FORECAST", "forecastUSD.mean"},
	{"PERIOD", "period"},
	{"to", "to"},
	{"id", "budgetID"},
}

// budgetSummary is the status of all budgets.
type budgetSummary struct {
	Items []json.RawMessage `json:"items"`
}

func (a *app) budgetsCommand() *cobra.Command {
	c := &cobra.Command{Use: "budgets", Aliases: []string{"budget"}, Short: "Show whether budgets will hold"}
	c.AddCommand(&cobra.Command{
		Use: "status [NAME]", Short: "Show spending and forecast of all budgets, or of one",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeNames(mustKind("budgets")),
		RunE: func(c *cobra.Command, args []string) error {
			to, err := a.client()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return a.budgetStatus(c.Context(), to, args[0])
			}
			return a.allBudgets(c.Context(), to)
		},
	})
	return c
}

func (a *app) allBudgets(ctx context.Context, to *client.Client) error {
	var s budgetSummary
	err := to.Call(ctx, client.Request{Method: http.MethodGet, Path: "/budgets/summary"}, &s)
	if err != nil {
		return err
	}
	rows := make([]record, len(s.Items))
	for i, raw := range s.Items {
		if rows[i], err = parseRecord(raw); err != nil {
			return err
		}
	}
	return a.show(budgetColumns, rows)
}

func (a *app) budgetStatus(ctx context.Context, to *client.Client, name string) error {
	b, err := resolve(ctx, to, mustKind("budgets"), name)
	if err != nil {
		return err
	}
	status, err := fetch(ctx, to, client.Path("/budgets/{budgetID}/status", b.text("id")))
	if err != nil {
		return err
	}
	return a.show(budgetColumns, []record{status})
}

// judgement is the change of an anomaly.
type judgement struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

func (a *app) anomaliesCommand() *cobra.Command {
	var expected, acknowledged, open bool
	var reason string
	judge := &cobra.Command{
		Use: "judge ID", Short: "Mark an anomaly as expected, acknowledge it, or open it again",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeNames(mustKind("anomalies")),
	}
	judge.Flags().BoolVar(&expected, "expected", false, "it is expected; give a reason")
	judge.Flags().BoolVar(&acknowledged, "acknowledge", false, "somebody looks into it")
	judge.Flags().BoolVar(&open, "open", false, "take either back")
	judge.Flags().StringVar(&reason, "reason", "", "why, for those who come across it")
	judge.MarkFlagsMutuallyExclusive("expected", "acknowledge", "open")
	judge.MarkFlagsOneRequired("expected", "acknowledge", "open")
	judge.RunE = func(c *cobra.Command, args []string) error {
		status := "open"
		switch {
		case expected && reason == "":
			return misused("an expected anomaly needs a reason: add --reason")
		case expected:
			status = "expected"
		case acknowledged:
			status = "acknowledged"
		}
		return a.judge(c.Context(), args[0], judgement{status, reason})
	}
	c := &cobra.Command{Use: "anomalies", Aliases: []string{"anomaly"}, Short: "Judge anomalies of costs"}
	c.AddCommand(judge)
	return c
}

func (a *app) judge(ctx context.Context, id string, j judgement) error {
	to, err := a.client()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	path := client.Path("/reports/anomalies/{anomalyID}", id)
	if err = to.Call(ctx, client.Request{Method: http.MethodPatch, Path: path, Body: j}, &raw); err != nil {
		return err
	}
	r, err := parseRecord(raw)
	if err != nil {
		return err
	}
	return a.show(mustKind("anomalies").columns, []record{r})
}
