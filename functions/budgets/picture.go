package budgets

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/money"
)

type statusInput struct {
	BudgetInput
	rest.Pictured
}

func (s *service) statusOrPicture(ctx context.Context, in *statusInput) (out rest.Drawn[BudgetStatus], err error) {
	if out.Data, err = s.status(ctx, &in.BudgetInput); err != nil || !in.WantsPicture() {
		return out, err
	}
	c := burnDown(&out.Data)
	out.Picture, err = chart.Draw(ctx, s.p.Workers, &c)
	return out, err
}

func (s *service) picture(ctx context.Context, in *BudgetInput) (rest.Raw, error) {
	st, err := s.status(ctx, in)
	if err != nil {
		return rest.Raw{}, err
	}
	c := burnDown(&st)
	svg, err := chart.Draw(ctx, s.p.Workers, &c)
	return rest.PictureOf(svg), err
}

// burnDown draws three lines: the spending by day with its forecast, an even spending of the amount, and the amount.
func burnDown(st *BudgetStatus) chart.Chart {
	amount := money.MustParse(st.AmountUSD)
	c := chart.Chart{
		Kind: chart.Lines, Title: "Budget " + st.Name,
		Subtitle: fmt.Sprintf("%s of %s spent, %s; %s expected by %s", chart.Dollars(st.SpentUSD),
			chart.Dollars(st.AmountUSD), st.Signal, chart.Dollars(st.ForecastUSD.Mean), st.To),
		Series: []chart.Series{{Name: "Spent, then expected"}, {Name: "Planned"}, {Name: "Amount"}},
	}
	for i := range st.BurnDown {
		d := &st.BurnDown[i]
		c.Labels = append(c.Labels, d.Date)
		for n, a := range []money.Amount{
			money.MustParse(d.SpentUSD), amount.Sub(money.MustParse(d.PlannedUSD)),
			amount,
		} {
			c.Series[n].Amounts = append(c.Series[n].Amounts, a)
		}
	}
	return c
}
