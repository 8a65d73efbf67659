package table

import bolt "go.etcd.io/bbolt"

// releaseAfter is the number of operations after which mapped pages are released, and releaseFrom the size of a file
// from which that is worth it.
const (
	releaseAfter = 64
	releaseFrom  = 128 << 20
)

// releaseMapped gives up the pages of a large file that are mapped into the process. They stay in the system's cache,
// from where the next operation maps those that it needs. Otherwise the process would grow by all of the file that it
// ever read or wrote. It calls for the file to stay open; an error leaves the pages mapped.
func (e *Embedded) releaseMapped() {
	_ = e.db.View(func(tx *bolt.Tx) error { // the transaction keeps the mapping where it is
		if tx.Size() < releaseFrom {
			return nil
		}
		return adviseUnneeded(e.db.Info().Data, tx.Size())
	})
}
