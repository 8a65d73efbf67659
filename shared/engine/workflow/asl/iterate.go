package asl

import (
	"encoding/json"
	"errors"
	"fmt"
)

// each reads how a Map goes over its items.
func (r *reader) each() error {
	e := &r.state.each
	var errs [5]error
	e.items, errs[0] = r.path("ItemsPath", reference)
	e.selector, errs[1] = r.template("ItemSelector")
	e.concurrency, errs[2] = read[int](r.fields, "MaxConcurrency")
	e.tolerated, errs[3] = read[int](r.fields, "ToleratedFailureCount")
	e.tolerance, errs[4] = read[float64](r.fields, "ToleratedFailurePercentage")
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if e.concurrency < 0 || e.tolerated < 0 || e.tolerance < 0 || e.tolerance > 100 {
		return errors.New("MaxConcurrency and ToleratedFailureCount are at least 0, ToleratedFailurePercentage is 0 to 100")
	}
	if err := r.processor(); err != nil {
		return fmt.Errorf("field \"ItemProcessor\": %w", err)
	}
	return e.bound()
}

// bound applies the quota on concurrency, and refuses what only a distributed Map may have.
func (e *each) bound() error {
	limit := MaxInlineItems
	if e.distributed {
		limit = MaxChildren
	}
	if e.concurrency == 0 || e.concurrency > limit {
		e.concurrency = limit
	}
	if !e.distributed && (e.tolerated > 0 || e.tolerance > 0) {
		return errors.New("failures can be tolerated in a Map of mode DISTRIBUTED only")
	}
	return nil
}

// processor reads the ItemProcessor of a Map.
func (r *reader) processor() error {
	fields, err := object(r.fields["ItemProcessor"])
	if err != nil {
		return err
	}
	if err := only(fields, "Comment", "ProcessorConfig", "StartAt", "States"); err != nil {
		return err
	}
	outer := r.self
	if raw, ok := fields["ProcessorConfig"]; ok {
		if r.state.each.distributed, err = mode(raw); err != nil {
			return fmt.Errorf("field \"ProcessorConfig\": %w", err)
		}
	}
	if r.state.each.distributed {
		outer = -1 // a child execution does not see the variables of its parent
	}
	l, err := r.parser.level(fields, outer, r.at+r.state.name+".")
	r.state.levels = []*level{l}
	return err
}

// mode reads a ProcessorConfig and tells whether the Map is distributed.
func mode(raw json.RawMessage) (distributed bool, err error) {
	fields, err := object(raw)
	if err != nil {
		return false, err
	}
	if err := only(fields, "Mode", "ExecutionType"); err != nil {
		return false, err
	}
	m, err1 := read[string](fields, "Mode")
	typ, err2 := read[string](fields, "ExecutionType")
	if err := errors.Join(err1, err2); err != nil {
		return false, err
	}
	switch {
	case (m == "INLINE" || m == "") && typ == "":
		return false, nil
	case m == "DISTRIBUTED" && typ == "STANDARD":
		return true, nil
	}
	return false, fmt.Errorf("mode %q with execution type %q is outside the subset: INLINE, or DISTRIBUTED with STANDARD", m, typ)
}

// branches reads the Branches of a Parallel.
func (r *reader) branches() error {
	list, err := read[[]json.RawMessage](r.fields, "Branches")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("field \"Branches\" must have at least one branch")
	}
	for i, raw := range list {
		l, err := r.branch(raw)
		if err != nil {
			return fmt.Errorf("branch %d: %w", i, err)
		}
		r.state.levels = append(r.state.levels, l)
	}
	return nil
}

func (r *reader) branch(raw json.RawMessage) (*level, error) {
	fields, err := object(raw)
	if err != nil {
		return nil, err
	}
	if err := only(fields, "Comment", "StartAt", "States"); err != nil {
		return nil, err
	}
	return r.parser.level(fields, r.self, r.at+r.state.name+".")
}
