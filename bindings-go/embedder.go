package memdir

/*
#include "library.h"

extern void memdirGoServe(uint64_t store, uint64_t request, memdir_go_text *asked, memdir_go_bytes *content, size_t length);
extern void memdirGoRelease(uint64_t store);

static uint64_t with_embedder(uint64_t memory, uint64_t embedder, char **error) {
	memdir_host host = {memdirGoServe, memdirGoRelease};
	return memdir_with_embedder(memory, &host, embedder, error);
}
*/
import "C"

import (
	"context"
	"runtime"
)

// Embedder is your own model, which turns texts into vectors: one for each text, in their order, all of the same length. Their
// directions are compared.
//
// isQuery is true for the words of a question, and false for passages of files. Many models have an instruction or a parameter
// for each. There is one text, or up to 64. Several goroutines may call it at once. Its context is never done: a search that no
// longer waits uses the vectors when they come.
type Embedder func(ctx context.Context, texts []string, isQuery bool) ([][]float32, error)

// WithEmbedder returns the same memory with an embedder, so [Memory.Search] also finds files by their meaning. It requires the
// option EmbedderName. A search embeds the question, and each passage that has no vector yet, and joins both rankings. If the
// embedder fails or takes longer than EmbedderTimeout, the answer is by words alone, and [SearchResults.WordsOnly] says why.
//
// Close the result as well. The error is an [*Error] if EmbedderName is missing, or the memory is closed.
func (m *Memory) WithEmbedder(embedder Embedder) (*Memory, error) {
	if err := m.unopened(); err != nil {
		return nil, err
	}
	if embedder == nil {
		return nil, &Error{Kind: KindConfig, Message: "the embedder is nil"}
	}
	defer runtime.KeepAlive(m)
	var failed *C.char
	number := C.with_embedder(m.number, C.uint64_t(serveEmbedder(embedder)), &failed)
	if err := failure(failed); err != nil {
		return nil, err
	}
	return newMemory(number, m.shared), nil
}
