// Package memorytool makes a tool of a memory, for the tool runner of Anthropic's SDK.
//
//	tool := memorytool.New(memory)
//	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, params)
//	memorytool.Declare(runner.Params.Tools)
//	message, err := runner.RunToCompletion(ctx)
package memorytool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	memdir "github.com/memdir/memdir/bindings-go"
)

// Name is the name of the tool.
const Name = "memory"

// Tool is a memory as a tool of the SDK. Calls may run in parallel, as the runner makes them.
type Tool struct {
	memory *memdir.Memory

	// OnFailure is called with the cause of each reply that has one: the store itself failed, a hook failed, or the context
	// was done. The model reads no details. If it is nil, the cause goes to the default logger.
	OnFailure func(ctx context.Context, cause error)
}

var _ anthropic.BetaTool = (*Tool)(nil)

// New makes a tool of a memory. Close the memory when the tool is not used any more.
func New(memory *memdir.Memory) *Tool { return &Tool{memory: memory} }

// Param is the entry of the tool in a request: memory_20250818. Claude knows the tool by it, and needs no description.
func Param() anthropic.BetaToolUnionParam {
	return anthropic.BetaToolUnionParam{OfMemoryTool20250818: &anthropic.BetaMemoryTool20250818Param{}}
}

// Declare replaces the entry named "memory", which a runner made from a [Tool], by [Param]. Pass the Params.Tools of the
// runner before its first request. It reports whether there was such an entry.
func Declare(tools []anthropic.BetaToolUnionParam) bool {
	for i, tool := range tools {
		if tool.OfTool != nil && tool.OfTool.Name == Name {
			tools[i] = Param()
			return true
		}
	}
	return false
}

// Name is "memory".
func (t *Tool) Name() string { return Name }

// Description is for a runner whose tools are not declared with [Declare].
func (t *Tool) Description() string {
	return "Keeps files below /memories between conversations. View the directory before you begin."
}

// InputSchema is for a runner whose tools are not declared with [Declare].
func (t *Tool) InputSchema() anthropic.BetaToolInputSchemaParam {
	text := map[string]any{"type": "string"}
	integer := map[string]any{"type": "integer"}
	return anthropic.BetaToolInputSchemaParam{
		Properties: map[string]any{
			"command": map[string]any{
				"type": "string",
				"enum": []string{"view", "create", "str_replace", "insert", "delete", "rename"},
			},
			"path":        text,
			"view_range":  map[string]any{"type": "array", "items": integer, "minItems": 2, "maxItems": 2},
			"file_text":   text,
			"old_str":     text,
			"new_str":     text,
			"insert_line": integer,
			"insert_text": text,
			"old_path":    text,
			"new_path":    text,
		},
		Required: []string{"command"},
	}
}

// Execute executes one call for the runner, which writes "Error: " before the text of an error. A text that begins so has
// it once. [Tool.Result] has no such prefix.
func (t *Tool) Execute(ctx context.Context, input json.RawMessage) ([]anthropic.BetaToolResultBlockParamContentUnion, error) {
	reply := t.reply(ctx, input)
	if reply.IsError {
		return nil, errors.New(strings.TrimPrefix(reply.Text, "Error: "))
	}
	return content(reply), nil
}

// Result executes one call for a loop of your own, and returns the block that answers it, with the exact text.
func (t *Tool) Result(ctx context.Context, id string, input json.RawMessage) anthropic.BetaContentBlockParamUnion {
	reply := t.reply(ctx, input)
	return anthropic.BetaContentBlockParamUnion{OfToolResult: &anthropic.BetaToolResultBlockParam{
		ToolUseID: id,
		Content:   content(reply),
		IsError:   anthropic.Bool(reply.IsError),
	}}
}

func (t *Tool) reply(ctx context.Context, input json.RawMessage) memdir.Reply {
	reply := t.memory.Execute(ctx, input)
	switch {
	case reply.Cause == nil:
	case t.OnFailure != nil:
		t.OnFailure(ctx, reply.Cause)
	default:
		slog.ErrorContext(ctx, "the memory tool failed", "error", reply.Cause)
	}
	return reply
}

func content(reply memdir.Reply) []anthropic.BetaToolResultBlockParamContentUnion {
	block := anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: reply.Text}}
	if image := reply.Image; image != nil {
		source := &anthropic.BetaBase64ImageSourceParam{
			Data:      image.Data,
			MediaType: anthropic.BetaBase64ImageSourceMediaType(image.MediaType),
		}
		block = anthropic.BetaToolResultBlockParamContentUnion{OfImage: &anthropic.BetaImageBlockParam{
			Source: anthropic.BetaImageBlockParamSourceUnion{OfBase64: source},
		}}
	}
	return []anthropic.BetaToolResultBlockParamContentUnion{block}
}
