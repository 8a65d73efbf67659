package asl

import (
	"encoding/json"
	"errors"
	"fmt"
)

// readIteration parses the iteration of a Map.
func (r *reader) readIteration() error {
	e := &r.state.each
	var errs [5]error
	e.items, errs[0] = r.readPath("ItemsPath", parseReference)
	e.selector, errs[1] = r.readTemplate("ItemSelector")
	e.concurrency, errs[2] = decodeField[int](r.fields, "MaxConcurrency")
	e.tolerated, errs[3] = decodeField[int](r.fields, "ToleratedFailureCount")
	e.tolerance, errs[4] = decodeField[float64](r.fields, "ToleratedFailurePercentage")
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if e.concurrency < 0 || e.tolerated < 0 || e.tolerance < 0 || e.tolerance > 100 {
		return errors.New("MaxConcurrency and ToleratedFailureCount are at least 0, ToleratedFailurePercentage " +
			"is 0 to 100")
	}
	if err := r.readProcessor(); err != nil {
		return fmt.Errorf("field \"ItemProcessor\": %w", err)
	}
	return e.limitConcurrency()
}

// limitConcurrency applies the quota of concurrent items, and refuses options that are only for a distributed Map.
func (e *each) limitConcurrency() error {
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

// readProcessor parses the ItemProcessor of a Map.
func (r *reader) readProcessor() error {
	fields, err := decodeObject(r.fields["ItemProcessor"])
	if err != nil {
		return err
	}
	if err := allowFields(fields, "Comment", "ProcessorConfig", "StartAt", "States"); err != nil {
		return err
	}
	outer := r.self
	if raw, ok := fields["ProcessorConfig"]; ok {
		if r.state.each.distributed, err = parseMode(raw); err != nil {
			return fmt.Errorf("field \"ProcessorConfig\": %w", err)
		}
	}
	if r.state.each.distributed {
		outer = -1 // a child execution cannot read the variables of its parent
	}
	l, err := r.parser.parseLevel(fields, outer, r.at+r.state.name+".")
	r.state.levels = []*level{l}
	return err
}

// parseMode parses a ProcessorConfig, and reports whether the Map is distributed.
func parseMode(raw json.RawMessage) (distributed bool, err error) {
	fields, err := decodeObject(raw)
	if err != nil {
		return false, err
	}
	if err := allowFields(fields, "Mode", "ExecutionType"); err != nil {
		return false, err
	}
	m, err1 := decodeField[string](fields, "Mode")
	typ, err2 := decodeField[string](fields, "ExecutionType")
	if err := errors.Join(err1, err2); err != nil {
		return false, err
	}
	switch {
	case (m == "INLINE" || m == "") && typ == "":
		return false, nil
	case m == "DISTRIBUTED" && typ == "STANDARD":
		return true, nil
	}
	return false, fmt.Errorf("mode %q with execution type %q is outside the subset: INLINE, or DISTRIBUTED "+
		"with STANDARD", m, typ)
}

// readBranches parses the Branches of a Parallel.
func (r *reader) readBranches() error {
	list, err := decodeField[[]json.RawMessage](r.fields, "Branches")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("field \"Branches\" must have at least one branch")
	}
	for i, raw := range list {
		l, err := r.readBranch(raw)
		if err != nil {
			return fmt.Errorf("branch %d: %w", i, err)
		}
		r.state.levels = append(r.state.levels, l)
	}
	return nil
}

func (r *reader) readBranch(raw json.RawMessage) (*level, error) {
	fields, err := decodeObject(raw)
	if err != nil {
		return nil, err
	}
	if err := allowFields(fields, "Comment", "StartAt", "States"); err != nil {
		return nil, err
	}
	return r.parser.parseLevel(fields, r.self, r.at+r.state.name+".")
}
