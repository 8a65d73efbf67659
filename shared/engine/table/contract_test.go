package table_test

import (
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestEmbeddedContract(t *testing.T) {
	tabletest.Run(t, func(t *testing.T) table.Store {
		t.Helper()
		return tabletest.New(t)
	})
}
