//go:build !cgo

package memdir

// Without cgo most of the package is not built. The compiler then shows this error first, so its name says what to do.
type disabled struct {
	memdir_needs_cgo_so_set_CGO_ENABLED_to_1_and_install_a_C_compiler
}
