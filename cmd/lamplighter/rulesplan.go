package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"text/tabwriter"
	"time"

	"lamplighter.dev/functions/recommendations"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
)

const (
	rulesPath = "/recommendations/rules"
	plansPath = rulesPath + "/plans/"
)

// planChoices are the settings of `lamplighter rules plan`.
type planChoices struct {
	ruleService
	prune   bool
	restore int
	files   []string
}

// planRules sends files or a version, waits for the plan, and prints it.
func planRules(ctx context.Context, args []string, stdout io.Writer) error {
	c, err := parsePlan(args, stdout)
	if err != nil {
		return ignoreHelp(err)
	}
	body := recommendations.NewRulePlan{Prune: c.prune}
	if c.restore >= 0 {
		body.RestoreVersion = &c.restore
	} else {
		d, err := readRuleFiles(c.files)
		if err != nil {
			return err
		}
		body.Rules, body.Overrides = d.Rules, d.Overrides
	}
	if err = c.open(); err != nil {
		return err
	}
	var job rest.Job
	if err = c.call(ctx, "POST "+rulesPath+"/plan", body, &job); err != nil {
		return err
	}
	p, err := c.await(ctx, job.JobID)
	if err != nil {
		return err
	}
	return printPlan(stdout, &p)
}

func parsePlan(args []string, stdout io.Writer) (planChoices, error) {
	var c planChoices
	f := newCommandFlags("lamplighter rules plan")
	f.operands = "FILE..."
	c.flags(f.FlagSet)
	f.BoolVar(&c.prune, "prune", false, "remove own rules and overrides that the files do not have")
	f.IntVar(&c.restore, "restore", -1, "instead of files: plan the way back to this version; 0 has no own rules")
	if err := f.parseArgs(args, stdout); err != nil {
		return c, err
	}
	c.files = f.Args()
	switch {
	case c.restore >= 0 && (len(c.files) > 0 || c.prune):
		return c, errors.New("-restore takes the place of files and -prune: run lamplighter rules plan -help")
	case c.restore < 0 && len(c.files) == 0:
		return c, errors.New("rules plan wants files of rules, or -restore: run lamplighter rules plan -help")
	}
	return c, nil
}

// planPolled is the time between two questions for a plan.
const planPolled = time.Second

// await asks for a plan until it has ended.
func (s *ruleService) await(ctx context.Context, planID string) (p recommendations.RulePlan, err error) {
	for {
		p, err = s.readPlan(ctx, planID)
		switch {
		case err != nil:
			return p, err
		case p.Status == recommendation.PlanFailed && p.Error != nil:
			return p, fmt.Errorf("plan %s has failed: %s", planID, *p.Error)
		case p.Status == recommendation.PlanFailed:
			return p, fmt.Errorf("plan %s has failed: plan again", planID)
		case p.Status != recommendation.PlanRunning:
			return p, nil
		}
		if err = s.clock.Sleep(ctx, planPolled); err != nil {
			return p, fmt.Errorf("wait for plan %s: %w", planID, err)
		}
	}
}

// readPlan reads a plan with all of its rules.
func (s *ruleService) readPlan(ctx context.Context, planID string) (p recommendations.RulePlan, err error) {
	for page := 1; ; page++ {
		var part recommendations.RulePlan
		path := fmt.Sprintf("GET %s%s?limit=100&page=%d", plansPath, url.PathEscape(planID), page)
		if err = s.call(ctx, path, nil, &part); err != nil {
			return p, err
		}
		part.Rules = append(p.Rules, part.Rules...)
		if p = part; len(p.Rules) >= p.Total {
			return p, nil
		}
	}
}

// printPlan prints the results of a plan.
func printPlan(stdout io.Writer, p *recommendations.RulePlan) error {
	w := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "Plan %s, compared with version %d, %d resources evaluated\n\n", p.ID, p.BaseVersion, p.Resources)
	fmt.Fprintln(w, "RULE\tCHANGE\tMATCHES\tOPENED\tCLOSED\tCHANGED\tUNKNOWN\tUSD A MONTH")
	for i := range p.Rules {
		r := &p.Rules[i]
		fmt.Fprintf(w, "%s\t%s\t%d > %d\t%d\t%d\t%d\t%d\t%s > %s\n", r.RuleID, r.Change, r.Before, r.After, r.Opened,
			r.Closed, r.Changed, r.Unknown, r.SavingsUSD.BeforeUSD, r.SavingsUSD.AfterUSD)
	}
	_ = w.Flush() // the last write tells
	for i := range p.Rules {
		printSamples(stdout, &p.Rules[i])
	}
	printBacktest(stdout, p)
	_, err := fmt.Fprintf(stdout, "\nApply it within 24 hours: lamplighter rules apply %s\n", p.ID)
	return err
}

// printSamples prints samples of a rule, and why it is unknown.
func printSamples(out io.Writer, r *recommendations.RulePlanRule) {
	if len(r.Samples)+len(r.Missing) > 0 {
		fmt.Fprintf(out, "\n%s\n", r.RuleID)
	}
	for i := range r.Samples {
		s := &r.Samples[i]
		fmt.Fprintf(out, "  %s %s (%s), %s, %s USD: %s\n", s.Effect, s.ResourceUID, s.ResourceName, s.Severity,
			s.SavingsUSD, s.Reason)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(out, "  unknown for %d: %s %s\n", m.Resources, m.Fact, m.Reason)
	}
}

// printBacktest prints the earlier days and months.
func printBacktest(out io.Writer, p *recommendations.RulePlan) {
	since := "no stored metrics were read"
	if p.Backtest.MeasuredSince != nil {
		since = "metrics since " + *p.Backtest.MeasuredSince
	}
	fmt.Fprintf(out, "\nBacktest of %d resources on %d days (%s) and %d months of bills\n", p.Backtest.Resources,
		len(p.Backtest.Days), since, len(p.Backtest.Months))
	for i := range p.Rules {
		r := &p.Rules[i]
		for _, d := range r.Days {
			fmt.Fprintf(out, "  %s %s: %d matches, %d unknown\n", r.RuleID, d.Day, d.Matches, d.Unknown)
		}
		for _, m := range r.Months {
			fmt.Fprintf(out, "  %s %s: cost %s USD, saving %s USD\n", r.RuleID, m.Month, m.CostUSD, m.SavingsUSD)
		}
	}
}

// applyRules puts a plan into force.
func applyRules(ctx context.Context, args []string, stdout io.Writer) error {
	var s ruleService
	f := newCommandFlags("lamplighter rules apply")
	f.operands = "PLAN"
	s.flags(f.FlagSet)
	if err := f.parseArgs(args, stdout); err != nil {
		return ignoreHelp(err)
	}
	if f.NArg() != 1 {
		return errors.New("rules apply wants the id of one plan, which rules plan prints: " +
			"run lamplighter rules apply -help")
	}
	if err := s.open(); err != nil {
		return err
	}
	var done recommendations.AppliedPlan
	if err := s.call(ctx, "POST "+plansPath+url.PathEscape(f.Arg(0))+"/apply", nil, &done); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "Version %d of the rules is in force; %d rules have changed.\n"+
		"To undo it: lamplighter rules plan -restore %d\n", done.Version, len(done.Rules), done.PreviousVersion)
	return err
}
