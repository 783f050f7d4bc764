package memdir_test

import (
	"testing"

	memdir "github.com/memdir/memdir/bindings-go"
	"github.com/memdir/memdir/bindings-go/examples/mapstore"
)

func init() {
	memdir.SetOwnStore(func() memdir.Store { return mapstore.New() })
}

func TestMyStoreKeepsTheContract(t *testing.T) {
	if err := memdir.CheckContract(func() (memdir.Store, error) { return mapstore.New(), nil }); err != nil {
		t.Fatal(err)
	}
}
