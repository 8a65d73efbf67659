package cloud

import "context"

// Metrics returns the Conn's; class Unsupported when the Conn has none.
func (d discreet) Metrics(ctx context.Context, r MetricRequest) (MetricAnswer, error) {
	m, ok := d.conn.(Metered)
	if !ok {
		return MetricAnswer{},
			&Error{Class: Unsupported, Message: "metrics of " + r.Type + " are not read from this provider yet"}
	}
	a, err := m.Metrics(ctx, r)
	return a, d.s.hide(err)
}

var _ Metered = discreet{}
