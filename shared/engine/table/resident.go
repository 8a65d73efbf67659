package table

import bolt "go.etcd.io/bbolt"

// residentWrites is how much is committed before the process gives back the pages of the file that it has mapped.
const residentWrites = 6 << 20

// giveBack lets the operating system take the mapped pages of the file out of this process's memory: what is read again
// comes back from the system's cache, and a process that has written or walked the whole file does not keep all of it
// resident. It is only an advice, and a failure changes nothing. The read transaction keeps the file from being mapped
// anew meanwhile.
func (e *Embedded) giveBack() {
	_ = e.db.View(func(tx *bolt.Tx) error {
		release(e.db.Info().Data, uintptr(tx.Size()))
		return nil
	})
}

// written tells whether so much was committed since the last time that the mapped pages should be given back.
func (e *Embedded) written() bool {
	stats := e.db.Stats()
	total := stats.TxStats.GetPageAlloc()
	if total-e.given < residentWrites {
		return false
	}
	e.given = total
	return true
}
