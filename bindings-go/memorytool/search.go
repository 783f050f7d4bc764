package memorytool

import (
	"context"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"

	memdir "github.com/memdir/memdir/bindings-go"
)

// SearchName is the name of the search.
const SearchName = "memory_search"

// SearchTool is a second tool beside a [Tool], with which Claude searches the files by their words. Its answer has the paths of
// the best files, and their best passages with the line numbers that a view shows.
type SearchTool struct {
	memory *memdir.Memory

	// OnFailure is called with the cause of each reply that has one, as for [Tool.OnFailure].
	OnFailure func(ctx context.Context, cause error)
}

var _ anthropic.BetaTool = (*SearchTool)(nil)

// NewSearch makes a tool that searches a memory. Its runner declares it by itself: it needs no [Declare].
func NewSearch(memory *memdir.Memory) *SearchTool { return &SearchTool{memory: memory} }

// Name returns "memory_search".
func (t *SearchTool) Name() string { return SearchName }

// Description returns the description for the model.
func (t *SearchTool) Description() string { return t.definition().Description }

// InputSchema returns the schema of the input.
func (t *SearchTool) InputSchema() anthropic.BetaToolInputSchemaParam {
	return t.definition().inputSchema()
}

// definition is empty if the memory is closed. The calls then return that error.
func (t *SearchTool) definition() definition {
	var made definition
	if written, err := t.memory.SearchToolDefinition("anthropic-custom", "memory_"); err == nil {
		_ = json.Unmarshal(written, &made)
	}
	return made
}

// Execute executes one call for the runner, as [Tool.Execute] does.
func (t *SearchTool) Execute(ctx context.Context, input json.RawMessage) ([]anthropic.BetaToolResultBlockParamContentUnion, error) {
	return forRunner(t.reply(ctx, input))
}

// Result executes one call for a loop of your own, as [Tool.Result] does.
func (t *SearchTool) Result(ctx context.Context, id string, input json.RawMessage) anthropic.BetaContentBlockParamUnion {
	return result(id, t.reply(ctx, input))
}

func (t *SearchTool) reply(ctx context.Context, input json.RawMessage) memdir.Reply {
	reply := t.memory.ExecuteSearch(ctx, input)
	report(ctx, reply.Cause, t.OnFailure)
	return reply
}
