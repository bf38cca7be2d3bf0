package store_test

import (
	"testing"

	"go.uber.org/goleak"

	"bellhop/core"
	"bellhop/core/store"
	"bellhop/core/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, store.Options{}) })
}
