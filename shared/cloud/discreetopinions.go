package cloud

import "context"

// ReadOpinions returns the Conn's; class Unsupported when the Conn has none.
func (d discreet) ReadOpinions(ctx context.Context, r OpinionRequest, take func(Opinion)) (OpinionAnswer, error) {
	o, ok := d.conn.(OpinionReader)
	if !ok {
		return OpinionAnswer{}, &Error{Class: Unsupported, Message: "this provider has no recommendations of its own " +
			"that are read"}
	}
	a, err := o.ReadOpinions(ctx, r, func(one Opinion) {
		one.Current, one.Recommended = d.s.Replace(one.Current), d.s.Replace(one.Recommended)
		take(one)
	})
	a.Message = d.s.Replace(a.Message)
	return a, d.s.hide(err)
}

var _ OpinionReader = discreet{}
