package memdir

// Stores of the program's own.

// newOwnStore makes one. The external tests set it: a package that implements Store imports this one.
var newOwnStore func() Store

// SetOwnStore is for them.
func SetOwnStore(make func() Store) { newOwnStore = make }
