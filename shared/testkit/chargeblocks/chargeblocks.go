// Package chargeblocks makes blocks of charges, as tests have them.
package chargeblocks

import "lamplighter.dev/shared/domain/bill"

// perBlock is small, so that most tests have several blocks.
const perBlock = 3

// FromCharges returns a function that passes the charges to take in blocks of all columns, until take returns an error.
func FromCharges(charges ...bill.Charge) func(take func(*bill.Block) error) error {
	return func(take func(*bill.Block) error) error {
		k := bill.NewCollector(bill.Columns())
		for i := range charges {
			k.Add(&charges[i])
			if k.Len() < perBlock && i < len(charges)-1 {
				continue
			}
			if err := take(k.Block()); err != nil {
				return err
			}
		}
		return nil
	}
}
