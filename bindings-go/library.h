/* The library's header, and what to do where it is not installed. */
#ifndef MEMDIR_GO_LIBRARY_H
#define MEMDIR_GO_LIBRARY_H

#ifdef __has_include
#if !__has_include(<memdir.h>)
#error "memdir.h is missing: install memdir's library for C with `make install-c PREFIX=/usr/local` in a checkout of memdir, or name its directories in CGO_CFLAGS and CGO_LDFLAGS (docs/languages/go.md)"
#endif
#endif

#include <memdir.h>
#include <stdlib.h>

/* Go's functions that the library calls have no const: these types have it. */
typedef const char memdir_go_text;
typedef const uint8_t memdir_go_bytes;

#endif
