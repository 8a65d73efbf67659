package compute

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire/lambda"
)

// stoppedTag is on a function from before its stop until all is restored. It holds the former values, in case our own
// record is lost, and marks that something must be restored.
const stoppedTag = "lamplighter:stopped"

// functionMemory is the concurrency that a stop removes: Reserved, nil without a reservation, and Provisioned by alias
// or version.
type functionMemory struct {
	Reserved    *int32           `json:"reserved"`
	Provisioned map[string]int32 `json:"provisioned,omitempty"`
}

// words returns the memory as text: "3 reserved, 2 provisioned for live".
func (m functionMemory) words() string {
	said := []string{"unreserved"}
	if m.Reserved != nil {
		said[0] = fmt.Sprintf("%d reserved", *m.Reserved)
	}
	for _, q := range slices.Sorted(maps.Keys(m.Provisioned)) {
		said = append(said, fmt.Sprintf("%d provisioned for %s", m.Provisioned[q], q))
	}
	return strings.Join(said, ", ")
}

// mark returns the memory as the value of a tag: "reserved=3 live=2". It is class Unsupported if the value is too long
// for a tag.
func (m functionMemory) mark() (string, error) {
	said := []string{"reserved=none"}
	if m.Reserved != nil {
		said[0] = fmt.Sprintf("reserved=%d", *m.Reserved)
	}
	for _, q := range slices.Sorted(maps.Keys(m.Provisioned)) {
		said = append(said, fmt.Sprintf("%s=%d", q, m.Provisioned[q]))
	}
	value := strings.Join(said, " ")
	if len(value) > 256 {
		return "", cloud.ErrUnsupported(
			"its provisioned concurrency is of %d aliases: more than a tag can remember", len(m.Provisioned))
	}
	return value, nil
}

// parseFunctionMark reads a mark. A malformed mark is class Invalid.
func parseFunctionMark(value string) (functionMemory, error) {
	m := functionMemory{Provisioned: map[string]int32{}}
	for i, field := range strings.Fields(value) {
		name, count, _ := strings.Cut(field, "=")
		if i == 0 && field == "reserved=none" {
			continue
		}
		n, err := strconv.ParseInt(count, 10, 32)
		if err != nil || n < 0 || i == 0 && name != "reserved" {
			return m, cloud.ErrInvalid("its tag %s says %q, which is none of ours: set its concurrency by hand and "+
				"remove the tag", stoppedTag, value)
		}
		if size := int32(n); i == 0 {
			m.Reserved = &size
		} else {
			m.Provisioned[name] = size
		}
	}
	return m, nil
}

// qualifierOf returns the alias or version at the end of an ARN.
func qualifierOf(arn string) string { return arn[strings.LastIndex(arn, ":")+1:] }

func actFunction(ctx context.Context, c lambdaClient, v cloud.Verb, t cloud.Target) error {
	f, err := readFunction(ctx, c.Client, t.UID)
	switch {
	case err != nil:
		return err
	case !f.allowed:
		return cloud.ErrUnsupported("%s", notAllowed)
	case v == cloud.Stop:
		return f.stop(ctx, c.Client)
	}
	m, known, err := cloud.DecodeSnapshot[functionMemory](t.Snapshot, "size")
	if err != nil {
		return err
	}
	switch {
	case !known && f.was != nil:
		m = *f.was
	case !known && !f.off():
		return nil // it runs: there is nothing to restore, and its owner has chosen its reservation
	}
	return f.start(ctx, c.Client, m)
}

// stop marks the function first. It removes the provisioned concurrency before it lowers the reserved one, which may
// not be less.
func (f function) stop(ctx context.Context, c *lambda.Client) error {
	if f.was == nil {
		mark, err := f.mark()
		if err != nil {
			return err
		}
		if _, err := c.TagResource(ctx,
			&lambda.TagResourceInput{Resource: &f.uid, Tags: map[string]string{stoppedTag: mark}}); err != nil {
			return err
		}
	}
	for _, q := range slices.Sorted(maps.Keys(f.Provisioned)) {
		_, err := c.DeleteProvisionedConcurrencyConfig(ctx,
			&lambda.DeleteProvisionedConcurrencyConfigInput{FunctionName: &f.uid, Qualifier: &q})
		if err != nil {
			return err
		}
	}
	none := int32(0)
	_, err := c.PutFunctionConcurrency(ctx,
		&lambda.PutFunctionConcurrencyInput{FunctionName: &f.uid, ReservedConcurrentExecutions: &none})
	return err
}

// start restores the values of m; an empty m removes the reservation. It removes the mark last.
func (f function) start(ctx context.Context, c *lambda.Client, m functionMemory) error {
	if f.off() { // else the reservation was changed since
		if err := f.reserve(ctx, c, m.Reserved); err != nil {
			return err
		}
	}
	for _, q := range slices.Sorted(maps.Keys(m.Provisioned)) {
		n := m.Provisioned[q]
		if _, there := f.Provisioned[q]; there {
			continue
		}
		_, err := c.PutProvisionedConcurrencyConfig(ctx, &lambda.PutProvisionedConcurrencyConfigInput{
			FunctionName: &f.uid, Qualifier: &q, ProvisionedConcurrentExecutions: &n,
		})
		if err != nil {
			return err
		}
	}
	if f.was == nil {
		return nil
	}
	_, err := c.UntagResource(ctx, &lambda.UntagResourceInput{Resource: &f.uid, TagKeys: []string{stoppedTag}})
	return err
}

// reserve sets the reserved concurrency. nil removes the reservation, which is not the same as 0.
func (f function) reserve(ctx context.Context, c *lambda.Client, n *int32) error {
	if n == nil {
		_, err := c.DeleteFunctionConcurrency(ctx, &lambda.DeleteFunctionConcurrencyInput{FunctionName: &f.uid})
		return err
	}
	_, err := c.PutFunctionConcurrency(ctx,
		&lambda.PutFunctionConcurrencyInput{FunctionName: &f.uid, ReservedConcurrentExecutions: n})
	return err
}
