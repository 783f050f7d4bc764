//go:build !cgo

package memdir

// Without cgo most of the package is not built. This is the first error that the compiler shows then, so it says why.
type disabled struct {
	memdir_needs_cgo_so_set_CGO_ENABLED_to_1_and_install_a_C_compiler
}
