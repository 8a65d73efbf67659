package pricing

import "lamplighter.dev/shared/foundation/money"

// snapshotKeys are the price keys of a GiB of snapshots for a month, by the type of the disk.
var snapshotKeys = map[string]string{
	"aws-ebs": "ebs/snapshot", "azure-disk": "disk/snapshot", "gcp-disk": "disk/snapshot",
}

// MonthlySnapshot returns the price of a month of a full snapshot of a disk: the most that its snapshot costs, since
// providers charge the used blocks only. It returns false if the table has no such price, or the type is no disk.
func MonthlySnapshot(t *Table, diskType string, gib int64) (money.Amount, bool) {
	price, known := t.Price(snapshotKeys[diskType])
	if !known || gib <= 0 {
		return money.Amount{}, false
	}
	return price.USD.MulInt(gib), true
}
