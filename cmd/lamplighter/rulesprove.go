package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"lamplighter.dev/functions/recommendations"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/fault"
)

// proveChoices are the settings of `lamplighter rules prove`.
type proveChoices struct {
	ruleService
	rules string // a file of own rules
	of    string // the id of a recommendation, or a file
}

// proveRule evaluates the rule of a recommendation on its evidence.
func proveRule(ctx context.Context, args []string, stdout io.Writer) error {
	var c proveChoices
	f := newCommandFlags("lamplighter rules prove")
	f.operands = "RECOMMENDATION"
	c.flags(f.FlagSet)
	f.StringVar(&c.rules, "rules", "", "file with the own rules, instead of asking the service for their version")
	if err := f.parseArgs(args, stdout); err != nil {
		return ignoreHelp(err)
	}
	if f.NArg() != 1 {
		return errors.New("rules prove wants one id of a recommendation, or one file: " +
			"run lamplighter rules prove -help")
	}
	c.of = f.Arg(0)
	rec, err := c.recommendation(ctx)
	if err != nil {
		return err
	}
	r, err := c.ruleOf(ctx, &rec.Evidence)
	if err != nil {
		return err
	}
	proof, err := condition.NewCatalogue().Prove(r, condition.Evidence{
		Values: rec.Evidence.Values, Thresholds: rec.Evidence.Thresholds, At: rec.Evidence.At,
	})
	if err != nil {
		return errors.New(fault.Message(err))
	}
	return printProof(stdout, &rec, r, proof)
}

// recommendation reads the recommendation from the service or from the file.
func (c *proveChoices) recommendation(ctx context.Context) (out recommendations.Recommendation, err error) {
	if strings.HasPrefix(c.of, "rec_") {
		if err = c.open(); err != nil {
			return out, err
		}
		return out, c.call(ctx, "GET /recommendations/"+url.PathEscape(c.of), nil, &out)
	}
	answer, err := os.ReadFile(c.of)
	if err != nil {
		return out, fmt.Errorf("read a recommendation: %w", err)
	}
	if err = decodeAnswer(c.of, answer, &out); err == nil && out.Evidence.Rule == "" {
		err = fmt.Errorf("%s has no evidence: give the answer of GET /recommendations/{recID}", c.of)
	}
	return out, err
}

// ruleOf returns the version of the rule that the evidence is of.
func (c *proveChoices) ruleOf(ctx context.Context, e *recommendations.RecommendationEvidence) (*rule.Rule, error) {
	if !rule.IsOwnID(e.Rule) {
		r := rule.ByID(e.Rule)
		if r == nil || r.Version != e.RuleVersion {
			return nil, fmt.Errorf("the evidence is of version %d of rule %.80s, which this program does not have: "+
				"use the version of the program that made the recommendation", e.RuleVersion, e.Rule)
		}
		return r, nil
	}
	d, err := c.ownRules(ctx, e.RuleVersion)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(d.Rules, func(o rule.OwnRule) bool { return o.ID == e.Rule })
	if i < 0 {
		return nil, fmt.Errorf("rule %.80s of version %d is not there: name the file that has it with -rules", e.Rule,
			e.RuleVersion)
	}
	r, err := d.Rules[i].Rule(e.RuleVersion)
	if err != nil {
		return nil, errors.New(fault.Message(err))
	}
	return r, nil
}

// ownRules returns the own rules of a version, from the file or the service.
func (c *proveChoices) ownRules(ctx context.Context, version int) (rule.Document, error) {
	if c.rules != "" {
		return readRuleFiles([]string{c.rules})
	}
	var d rule.Document
	if c.http == nil {
		if err := c.open(); err != nil {
			return d, fmt.Errorf("the recommendation is of an own rule; name its file with -rules, or: %w", err)
		}
	}
	return d, c.call(ctx, fmt.Sprintf("GET %s/export?format=json&version=%d", rulesPath, version), nil, &d)
}

// printProof prints the evidence and the result. A result that is not true is an error.
func printProof(
	out io.Writer, rec *recommendations.Recommendation, r *rule.Rule, proof condition.Proof,
) error {
	e := &rec.Evidence
	fmt.Fprintf(out, "%s version %d for %s at %s\n  %s\n", r.ID, r.Version, rec.ResourceUID,
		e.At.UTC().Format("2006-01-02T15:04:05Z"), r.Condition)
	for _, some := range []map[string]any{e.Values, e.Thresholds} {
		for _, name := range slices.Sorted(maps.Keys(some)) {
			fmt.Fprintf(out, "  %s = %v\n", name, some[name])
		}
	}
	if len(proof.NoPoints) > 0 {
		fmt.Fprintf(out, "  without points: %s\n", strings.Join(proof.NoPoints, ", "))
	}
	if proof.Truth != condition.True {
		missing := ""
		if len(proof.Missing) > 0 {
			missing = ", without " + strings.Join(proof.Missing, ", ")
		}
		return fmt.Errorf("the condition is %s with the stored evidence%s: the recommendation is not proved",
			proof.Truth, missing)
	}
	_, err := fmt.Fprintln(out, "proved: the condition is true with the stored evidence")
	return err
}
