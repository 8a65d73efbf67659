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
	// retention is how long an execution is kept after its end, and its name taken: 90 days, as in Step Functions.
	retention = 90 * 24 * time.Hour
	// maxLife is when frames that a crash left behind expire; Step Functions lets an execution run for a year.
	maxLife = 400 * 24 * time.Hour
	// packAbove is the size in bytes above which a record is stored compressed. The store counts sizes by DynamoDB's
	// rules, by which JSON of many small values is larger than its text; a compressed text is one string.
	packAbove = 60_000
	// besideInput is how large input and output may be together to stand in one item: 4/3 of it, the worst that packing
	// makes of it, fits into 400,000 bytes.
	besideInput = 290_000
)

// ref names an execution.
type ref struct{ machine, name string }

func (r ref) partitionKey() string        { return executionPK + r.machine + "#" + r.name }
func (r ref) itemKey(sk string) table.Key { return table.Key{PK: r.partitionKey(), SK: sk} }
func (r ref) runningKey() table.Key       { return table.Key{PK: runningPK, SK: r.machine + "#" + r.name} }
func (r ref) String() string              { return r.machine + " " + r.name }

// parseRef reads the sort key of the list of running executions.
func parseRef(sk string) (ref, error) {
	machine, name, ok := strings.Cut(sk, "#")
	if !ok {
		return ref{}, fmt.Errorf("%q does not name an execution", sk)
	}
	return ref{machine, name}, nil
}

var nameRule = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// checkName refuses names that Step Functions would refuse, or that we do not use.
func checkName(name string) error {
	if !nameRule.MatchString(name) {
		return fault.New(fault.Invalid, "the execution name %.100q must be 1 to 80 letters, digits, _ and -", name)
	}
	return nil
}

// encodeInput writes what an execution is started with.
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

// header is the item of an execution. The fields that a stop changes stand beside the rest, which may be packed.
type header struct {
	Status  Status    `json:"status"`
	Error   string    `json:"error,omitempty"`
	Cause   string    `json:"cause,omitempty"`
	Stopped time.Time `json:"stopped,omitzero"`
	Apart   bool      `json:"apart,omitempty"` // the output is an item of its own
	packed
}

// body is what of an execution does not change, and its output.
type body struct {
	Input   json.RawMessage `json:"in"`
	Output  json.RawMessage `json:"out,omitempty"`
	Started time.Time       `json:"started"`
}

// frameItem is the item of a frame; Token stands beside it for Signal's condition.
type frameItem struct {
	Token string `json:"token,omitempty"`
	packed
}

// packed is a JSON text, as it is or compressed.
type packed struct {
	Plain  json.RawMessage `json:"v,omitempty"`
	Packed []byte          `json:"z,omitempty"`
}

// form says how a record is to be stored.
type form uint8

const (
	bySize form = iota // plain when it is small
	opaque             // compressed in any case
)

// writePacked does a write, and when the store refuses it as invalid does it again with what it holds compressed: JSON may
// be deeper, and have longer numbers, than an item of the store.
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

// encodeItem makes the item of v under k.
func encodeItem(k table.Key, v any, expires time.Time) (table.Item, error) {
	raw, err := asl.Encode(v)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode %s %s: %w", k.PK, k.SK, err)
	}
	return table.Item{Key: k, Data: raw, Expires: expires}, nil
}

// decodeExecution reads an item of an execution; an output that stands apart is left out.
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

// executionItems makes the items of an execution: one, or two when the output stands apart.
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
