package workflow

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/fault"
)

// The embedded engine's part of the table:
//
//	WF#RUN                     <machine>#<name>  an execution that has not ended, for Resume
//	WF#X#<machine>#<name>      E                 the execution
//	                           O                 its output, when it is too large to stand beside the input
//	                           F<path>           the frame of a fiber (package asl)
//	                           T<nonce>          the answer to a task token
const (
	scopePrefix  = "WF#"
	runningPK    = scopePrefix + "RUN"
	executionPK  = scopePrefix + "X#"
	executionSK  = "E"
	outputSK     = "O"
	framePrefix  = "F"
	answerPrefix = "T"
)

const (
	// retention is how long an execution is kept after its end; its name stays taken. It is 90 days, as in Step
	// Functions.
	retention = 90 * 24 * time.Hour
	// maxLife is the time after which frames left by a crash expire. Step Functions lets an execution run for a year.
	maxLife = 400 * 24 * time.Hour
	// packAbove is the size in bytes above which a record is stored compressed. The store measures sizes by DynamoDB's
	// rules, so that JSON with many small values is larger than its text. A compressed text is one string.
	packAbove = 60_000
	// besideInput is the largest size of input and output together that is stored in one item. In the worst case
	// compression makes it 4/3 as large, which still fits into 400,000 bytes.
	besideInput = 290_000
)

// ref identifies an execution.
type ref struct{ machine, name string }

func (r ref) partitionKey() string        { return executionPK + r.machine + "#" + r.name }
func (r ref) itemKey(sk string) table.Key { return table.Key{PK: r.partitionKey(), SK: sk} }
func (r ref) runningKey() table.Key       { return table.Key{PK: runningPK, SK: r.machine + "#" + r.name} }
func (r ref) String() string              { return r.machine + " " + r.name }

// parseRef parses the sort key of the list of running executions.
func parseRef(sk string) (ref, error) {
	machine, name, ok := strings.Cut(sk, "#")
	if !ok {
		return ref{}, fmt.Errorf("%q does not name an execution", sk)
	}
	return ref{machine, name}, nil
}

var nameRule = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// checkName returns an error for names that Step Functions would refuse, and for characters that this service does not
// use.
func checkName(name string) error {
	if !nameRule.MatchString(name) {
		return fault.New(fault.Invalid, "the execution name %.100q must be 1 to 80 letters, digits, _ and -", name)
	}
	return nil
}

// encodeInput returns the input of an execution as JSON.
func encodeInput(input any) (json.RawMessage, error) {
	raw, err := asl.Encode(input)
	if err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "the input of an execution must be JSON")
	}
	if len(raw) > asl.MaxPayload {
		return nil, fault.New(
			fault.Invalid, "the input of an execution has %d bytes; %d are allowed", len(raw), asl.MaxPayload)
	}
	return raw, nil
}

// header is the item of an execution. The fields that a stop changes are not part of the packed rest.
type header struct {
	Status  Status    `json:"status"`
	Error   string    `json:"error,omitempty"`
	Cause   string    `json:"cause,omitempty"`
	Stopped time.Time `json:"stopped,omitzero"`
	Apart   bool      `json:"apart,omitempty"` // the output is in a separate item
	packed
}

// body is the immutable part of an execution, and its output.
type body struct {
	Input   json.RawMessage `json:"in"`
	Output  json.RawMessage `json:"out,omitempty"`
	Started time.Time       `json:"started"`
}

// frameItem is the item of a frame. Token is not packed, so that Signal can use it in a condition.
type frameItem struct {
	Token string `json:"token,omitempty"`
	packed
}

// packed is a JSON text, possibly compressed.
type packed struct {
	Plain  json.RawMessage `json:"v,omitempty"`
	Packed []byte          `json:"z,omitempty"`
}

// form is the form of a stored record.
type form uint8

const (
	bySize form = iota // compressed if it is large
	opaque             // always compressed
)

// writePacked does a write. If the store refuses it as invalid, it does it again with compressed data: JSON may be
// nested deeper, and have longer numbers, than an item of the store allows.
func writePacked(write func(form) error) error {
	err := write(bySize)
	if fault.Is(err, fault.Invalid) {
		return write(opaque)
	}
	return err
}

// packValue encodes v.
func packValue(v any, as form) (packed, error) {
	raw, err := asl.Encode(v)
	if err != nil || as == bySize && len(raw) <= packAbove {
		return packed{Plain: raw}, err
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return packed{}, fmt.Errorf("pack: %w", err)
	}
	_, errW := w.Write(raw)
	if err := errors.Join(errW, w.Close()); err != nil {
		return packed{}, fmt.Errorf("pack: %w", err)
	}
	return packed{Packed: b.Bytes()}, nil
}

// unpackInto decodes into v.
func (p packed) unpackInto(v any) error {
	raw := []byte(p.Plain)
	if p.Packed != nil {
		var err error
		if raw, err = io.ReadAll(flate.NewReader(bytes.NewReader(p.Packed))); err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return nil
}

// encodeItem returns the item of v with the key k.
func encodeItem(k table.Key, v any, expires time.Time) (table.Item, error) {
	raw, err := asl.Encode(v)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode %s %s: %w", k.PK, k.SK, err)
	}
	return table.Item{Key: k, Data: raw, Expires: expires}, nil
}

// decodeExecution decodes the item of an execution, without an output in a separate item.
func decodeExecution(r ref, it table.Item) (Execution, header, error) {
	h, err := table.Decode[header](it)
	if err != nil {
		return Execution{}, h, err
	}
	var b body
	if err := h.unpackInto(&b); err != nil {
		return Execution{}, h, fmt.Errorf("read execution %s: %w", r, err)
	}
	return Execution{
		Machine: r.machine, Name: r.name, Status: h.Status, Input: b.Input, Output: b.Output,
		Error: h.Error, Cause: h.Cause, Started: b.Started, Stopped: h.Stopped,
	}, h, nil
}

// executionItems returns the items of an execution: one, or two if the output is separate.
func executionItems(x Execution, as form) ([]table.Item, error) {
	r := ref{x.Machine, x.Name}
	h := header{Status: x.Status, Error: x.Error, Cause: x.Cause, Stopped: x.Stopped}
	b := body{Input: x.Input, Output: x.Output, Started: x.Started}
	var expires time.Time
	if x.Status != Running {
		expires = x.Stopped.Add(retention)
	}
	var out []table.Item
	if h.Apart = len(x.Input)+len(x.Output) > besideInput; h.Apart {
		b.Output = nil
		p, err := packValue(x.Output, as)
		if err != nil {
			return nil, err
		}
		it, err := encodeItem(r.itemKey(outputSK), p, expires)
		if err != nil {
			return nil, err
		}
		out = append(out, it)
	}
	var err error
	if h.packed, err = packValue(b, as); err != nil {
		return nil, err
	}
	it, err := encodeItem(r.itemKey(executionSK), h, expires)
	return append([]table.Item{it}, out...), err
}
