package table_test

import (
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestDynoxideContract(t *testing.T) {
	endpoint := tabletest.StartDynoxide(t)
	tabletest.Run(t, func(t *testing.T) table.Store {
		t.Helper()
		return table.NewDynamoDB(tabletest.NewTable(t, endpoint))
	})
}

func TestMotoContract(t *testing.T) {
	endpoint := tabletest.StartMoto(t)
	tabletest.Run(t, func(t *testing.T) table.Store {
		t.Helper()
		return table.NewDynamoDB(tabletest.NewTable(t, endpoint))
	}, tabletest.MotoSkips)
}
