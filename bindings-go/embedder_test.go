package memdir

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// meanings are vectors that know a vehicle and a drink.
func meanings(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	var vectors [][]float32
	for _, text := range texts {
		vector := []float32{0, 0}
		for at, words := range [][]string{{"car", "automobile"}, {"tea", "drink"}} {
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) }) {
				vector[at] = 1
			}
		}
		vectors = append(vectors, vector)
	}
	return vectors, nil
}

func openGarage(t *testing.T, options MemoryOptions) *Memory {
	t.Helper()
	memory := must[*Memory](t)(Open("memory:", options))
	t.Cleanup(func() { memory.Close() })
	for path, text := range map[string]string{"/memories/garage.md": "The car is red.", "/memories/kitchen.md": "Anna likes tea."} {
		if err := memory.Write(context.Background(), path, text); err != nil {
			t.Fatal(err)
		}
	}
	return memory
}

func withEmbedder(t *testing.T, memory *Memory, embedder Embedder) *Memory {
	t.Helper()
	with := must[*Memory](t)(memory.WithEmbedder(embedder))
	t.Cleanup(func() { with.Close() })
	return with
}

func foundPaths(results SearchResults) []string {
	var paths []string
	for _, hit := range results.Hits {
		paths = append(paths, hit.Path)
	}
	return paths
}

func TestAnEmbedderFindsWhatIsMeant(t *testing.T) {
	ctx := context.Background()
	words := openGarage(t, MemoryOptions{EmbedderName: "meanings-1"})
	var mutex sync.Mutex
	asked := map[string]bool{}
	memory := withEmbedder(t, words, func(ctx context.Context, texts []string, isQuery bool) ([][]float32, error) {
		mutex.Lock()
		defer mutex.Unlock()
		for _, text := range texts {
			asked[text] = isQuery
		}
		return meanings(ctx, texts, isQuery)
	})
	found := must[SearchResults](t)(memory.Search(ctx, "an automobile", SearchOptions{}))
	if paths := foundPaths(found); !slices.Equal(paths, []string{"/memories/garage.md"}) || found.WordsOnly != "" {
		t.Error(paths, found.WordsOnly)
	}
	isQuery, isAsked := asked["an automobile"]
	if len(asked) != 3 || !isAsked || !isQuery || asked["garage.md\nThe car is red."] {
		t.Error(asked)
	}
	if found := must[SearchResults](t)(words.Search(ctx, "an automobile", SearchOptions{})); len(found.Hits) != 0 {
		t.Error(foundPaths(found))
	}
}

func TestAnEmbedderThatFailsLeavesTheWords(t *testing.T) {
	ctx := context.Background()
	words := openGarage(t, MemoryOptions{EmbedderName: "meanings-1", EmbedderTimeout: Of(50 * time.Millisecond)})
	gate := make(chan struct{})
	defer close(gate)
	for reason, embedder := range map[string]Embedder{
		"the service is away": func(context.Context, []string, bool) ([][]float32, error) {
			return nil, errors.New("the service is away")
		},
		"a mistake": func(context.Context, []string, bool) ([][]float32, error) { panic("a mistake") },
		"it returned 0 vectors for 1 text": func(context.Context, []string, bool) ([][]float32, error) {
			return [][]float32{}, nil
		},
		"took more than 0.05 seconds": func(context.Context, []string, bool) ([][]float32, error) {
			<-gate
			return nil, errors.New("late")
		},
	} {
		memory := withEmbedder(t, words, embedder)
		found := must[SearchResults](t)(memory.Search(ctx, "tea", SearchOptions{}))
		if !strings.Contains(found.WordsOnly, reason) {
			t.Error(reason, found.WordsOnly)
		}
		if paths := foundPaths(found); !slices.Equal(paths, []string{"/memories/kitchen.md"}) {
			t.Error(reason, paths)
		}
	}
}

func TestAnEmbedderNeedsAName(t *testing.T) {
	// A late call of another test may still have its embedder.
	kept := keptEmbedders()
	memory := openGarage(t, MemoryOptions{})
	for _, embedder := range []Embedder{nil, meanings} {
		with, err := memory.WithEmbedder(embedder)
		var config *Error
		if with != nil || !errors.As(err, &config) || config.Kind != KindConfig {
			t.Error(err)
		}
	}
	for number := range keptEmbedders() {
		if !kept[number] {
			t.Error("an embedder that was not taken is kept:", number)
		}
	}
}

// keptEmbedders are the numbers of the embedders that the library knows.
func keptEmbedders() map[any]bool {
	kept := map[any]bool{}
	servedStores.Range(func(number, value any) bool {
		if value.(*servedStore).embedder != nil {
			kept[number] = true
		}
		return true
	})
	return kept
}
