package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxSeconds limits every duration, as in Step Functions: a little over three years.
const maxSeconds = 99_999_999

// reader parses the fields of one state into it.
type reader struct {
	parser *parser
	fields map[string]json.RawMessage
	state  *state
	self   int    // index of the state's level in parser.levels
	at     string // the names of the states around it, for messages: "Outer."
}

func (r *reader) readFields() error {
	err := errors.Join(r.readFlow(), r.readData())
	if err != nil {
		return err
	}
	switch r.state.kind {
	case kindTask:
		return errors.Join(r.readTask(), r.readRecovery())
	case kindChoice:
		return r.readChoices()
	case kindWait:
		return r.readWait()
	case kindMap:
		return errors.Join(r.readIteration(), r.readRecovery())
	case kindParallel:
		return errors.Join(r.readBranches(), r.readRecovery())
	case kindFail:
		return r.readFail()
	case kindPass, kindSucceed:
	}
	return nil
}

// readFlow parses Next and End, or Default.
func (r *reader) readFlow() error {
	s := r.state
	next, err1 := decodeField[string](r.fields, "Next")
	end, err2 := decodeField[bool](r.fields, "End")
	def, err3 := decodeField[string](r.fields, "Default")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	s.next = next
	switch s.kind {
	case kindChoice:
		s.next = def
	case kindSucceed, kindFail:
	case kindPass, kindTask, kindWait, kindMap, kindParallel:
		if (next == "") != end {
			return errors.New("exactly one of the fields \"Next\" and \"End\" must be given")
		}
	}
	return nil
}

// readData parses the fields for the input, the output and the variables.
func (r *reader) readData() error {
	s := r.state
	var errs [8]error
	s.inputPath, s.noInput, errs[0] = r.optionalPath("InputPath", parsePath)
	s.outputPath, s.noOutput, errs[1] = r.optionalPath("OutputPath", parsePath)
	s.resultPath, s.noResult, errs[2] = r.optionalPath("ResultPath", parseResultPath)
	s.parameters, errs[3] = r.readTemplate("Parameters")
	s.selector, errs[4] = r.readTemplate("ResultSelector")
	s.assign, errs[5] = parseAssign(r.fields)
	if raw, ok := r.fields["Result"]; ok {
		v, err := decodeJSON(raw)
		s.result, errs[6] = constant{v}, err
	}
	if s.selector != nil && !isObject(s.selector) {
		errs[7] = errors.New("field \"ResultSelector\" must be an object")
	}
	return errors.Join(errs[:]...)
}

// optionalPath parses a path field, which may be null.
func (r *reader) optionalPath(name string, parse func(string) (*path, error)) (p *path, null bool, err error) {
	raw, ok := r.fields[name]
	if !ok {
		return nil, false, nil
	}
	if string(raw) == "null" {
		return nil, true, nil
	}
	p, err = r.readPath(name, parse)
	return p, false, err
}

// readPath parses a path field. It returns nil if the field is absent.
func (r *reader) readPath(name string, parse func(string) (*path, error)) (*path, error) {
	text, err := decodeField[string](r.fields, name)
	if err != nil {
		return nil, err
	}
	if _, ok := r.fields[name]; !ok {
		return nil, nil //nolint:nilnil // an absent path is no path
	}
	p, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", name, err)
	}
	return p, nil
}

// parseReference parses a path that must refer to a single place.
func parseReference(text string) (*path, error) {
	p, err := parsePath(text)
	if err == nil && !p.isReference() {
		err = fmt.Errorf("path %q must name one place, without [*]", text)
	}
	return p, err
}

func (r *reader) readTemplate(name string) (expr, error) {
	raw, ok := r.fields[name]
	if !ok {
		return nil, nil //nolint:nilnil // an absent template is no template
	}
	e, err := parseTemplate(raw)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", name, err)
	}
	return e, nil
}

func isObject(e expr) bool {
	if c, ok := e.(constant); ok {
		_, ok = c.v.(map[string]any)
		return ok
	}
	_, ok := e.(members)
	return ok
}

// parseAssign parses an Assign field.
func parseAssign(fields map[string]json.RawMessage) (expr, error) {
	r := reader{fields: fields}
	e, err := r.readTemplate("Assign")
	if e == nil || err != nil {
		return nil, err
	}
	if !isObject(e) {
		return nil, errors.New("field \"Assign\" must be an object")
	}
	for _, name := range assignedNames(e) {
		if !isIdentifier(name) {
			return nil, fmt.Errorf("field \"Assign\": %q cannot name a variable", name)
		}
	}
	return e, nil
}

// readTask parses the resource and the timeout of a Task.
func (r *reader) readTask() error {
	s := r.state
	resource, err := decodeField[string](r.fields, "Resource")
	if err != nil {
		return err
	}
	seconds, err := decodeField[int64](r.fields, "TimeoutSeconds")
	if err != nil {
		return err
	}
	if _, given := r.fields["TimeoutSeconds"]; given && (seconds < 1 || seconds > maxSeconds) {
		return fmt.Errorf("field \"TimeoutSeconds\" must be between 1 and %d", maxSeconds)
	}
	s.task.timeout = time.Duration(seconds) * time.Second
	s.task.resource, s.task.callback = strings.CutSuffix(resource, tokenSuffix)
	s.task.invoke = s.task.resource == lambdaInvoke
	if s.task.invoke {
		return r.checkInvocation()
	}
	if s.task.callback || !functionARN(resource) {
		return fmt.Errorf("field \"Resource\": %q is outside the subset: a function's ARN, %s and %s",
			resource, lambdaInvoke, lambdaInvoke+tokenSuffix)
	}
	return nil
}

func functionARN(s string) bool {
	parts := strings.Split(s, ":")
	return len(parts) >= 7 && parts[0] == "arn" && strings.HasPrefix(parts[1], "aws") && parts[2] == "lambda" &&
		parts[5] == "function" && parts[6] != ""
}

// checkInvocation checks the Parameters of arn:aws:states:::lambda:invoke.
func (r *reader) checkInvocation() error {
	raw, ok := r.fields["Parameters"]
	if !ok {
		return errors.New("field \"Parameters\" is missing: lambda:invoke needs FunctionName")
	}
	fields, err := decodeObject(raw)
	if err != nil {
		return fmt.Errorf("field \"Parameters\": %w", err)
	}
	if err := allowFields(fields, "FunctionName", "FunctionName.$", "Payload", "Payload.$"); err != nil {
		return fmt.Errorf("field \"Parameters\" of lambda:invoke: %w", err)
	}
	_, computed := fields["FunctionName.$"]
	if !computed && r.state.functionName() == "" {
		return errors.New("field \"Parameters\" of lambda:invoke: \"FunctionName\" must be a string")
	}
	return nil
}

// readFail parses the error and the cause of a Fail.
func (r *reader) readFail() error {
	var err1, err2 error
	r.state.fail.name, err1 = r.textOrPath("Error")
	r.state.fail.cause, err2 = r.textOrPath("Cause")
	return errors.Join(err1, err2)
}

// textOrPath parses a text field or its Path variant, which may be an intrinsic.
func (r *reader) textOrPath(name string) (expr, error) {
	text, err1 := decodeField[string](r.fields, name)
	from, err2 := decodeField[string](r.fields, name+"Path")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if _, ok := r.fields[name+"Path"]; !ok {
		return constant{text}, nil
	}
	if _, both := r.fields[name]; both {
		return nil, fmt.Errorf("fields %q and %q are both given", name, name+"Path")
	}
	e, err := parseExpr(from)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", name+"Path", err)
	}
	return e, nil
}

// readWait parses the end of a Wait.
func (r *reader) readWait() error {
	forms := []string{"Seconds", "SecondsPath", "Timestamp", "TimestampPath"}
	given := slices.DeleteFunc(slices.Clone(forms), func(f string) bool { _, ok := r.fields[f]; return !ok })
	if len(given) != 1 {
		return fmt.Errorf("exactly one of %s must be given", strings.Join(forms, ", "))
	}
	w := &r.state.wait
	seconds, err1 := decodeField[int64](r.fields, "Seconds")
	stamp, err2 := decodeField[string](r.fields, "Timestamp")
	var err3, err4 error
	w.secondsPath, err3 = r.readPath("SecondsPath", parseReference)
	w.timestampPath, err4 = r.readPath("TimestampPath", parseReference)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	if seconds < 0 || seconds > maxSeconds {
		return fmt.Errorf("field \"Seconds\" must be between 0 and %d", maxSeconds)
	}
	w.seconds = time.Duration(seconds) * time.Second
	if given[0] == "Timestamp" {
		t, ok := parseTimestamp(stamp)
		if !ok {
			return fmt.Errorf("field \"Timestamp\": %q is not an RFC 3339 time", stamp)
		}
		w.timestamp = t
	}
	return nil
}
