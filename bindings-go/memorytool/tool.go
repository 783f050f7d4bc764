// Package memorytool makes a memory a tool, for the tool runner of Anthropic's SDK.
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

// Tool is a memory as a tool of the SDK. The runner may execute calls in parallel.
type Tool struct {
	memory *memdir.Memory

	// OnFailure is called with the cause of each reply that has one: the store itself failed, a hook failed, or the context was
	// done. The model reads no details. If OnFailure is nil, the cause goes to the default logger.
	OnFailure func(ctx context.Context, cause error)
}

var _ anthropic.BetaTool = (*Tool)(nil)

// New makes a memory a tool. Close the memory when you no longer use the tool.
func New(memory *memdir.Memory) *Tool { return &Tool{memory: memory} }

// Param returns the entry of the tool in a request: memory_20250818. Claude knows the tool by this type, and needs no
// description.
func Param() anthropic.BetaToolUnionParam {
	return anthropic.BetaToolUnionParam{OfMemoryTool20250818: &anthropic.BetaMemoryTool20250818Param{}}
}

// Declare replaces the entry named "memory", which a runner made from a [Tool], by [Param]. Pass the Params.Tools of the
// runner before its first request. It reports whether it found the entry.
func Declare(tools []anthropic.BetaToolUnionParam) bool {
	for i, tool := range tools {
		if tool.OfTool != nil && tool.OfTool.Name == Name {
			tools[i] = Param()
			return true
		}
	}
	return false
}

// Name returns "memory".
func (t *Tool) Name() string { return Name }

// Description returns the description for a runner whose tools are not declared with [Declare].
func (t *Tool) Description() string { return t.definition().Description }

// InputSchema returns the schema for a runner whose tools are not declared with [Declare].
func (t *Tool) InputSchema() anthropic.BetaToolInputSchemaParam { return t.definition().inputSchema() }

func (d definition) inputSchema() anthropic.BetaToolInputSchemaParam {
	schema := d.InputSchema
	delete(schema.others, "type")
	return anthropic.BetaToolInputSchemaParam{
		Properties:  schema.Properties,
		Required:    schema.Required,
		ExtraFields: schema.others,
	}
}

// definition is the declaration of the memory as a custom tool.
type definition struct {
	Description string `json:"description"`
	InputSchema schema `json:"input_schema"`
}

type schema struct {
	Properties any      `json:"properties"`
	Required   []string `json:"required"`
	others     map[string]any
}

func (s *schema) UnmarshalJSON(data []byte) error {
	type fields schema
	if err := json.Unmarshal(data, (*fields)(s)); err != nil {
		return err
	}
	err := json.Unmarshal(data, &s.others)
	delete(s.others, "properties")
	delete(s.others, "required")
	return err
}

// definition is empty if the memory is closed. The calls then return that error.
func (t *Tool) definition() definition {
	var made definition
	if written, err := t.memory.ToolDefinition("anthropic-custom"); err == nil {
		_ = json.Unmarshal(written, &made)
	}
	return made
}

// Execute executes one call for the runner, which writes "Error: " before the text of an error. If the text already begins
// with that prefix, the prefix is not repeated. [Tool.Result] never adds it.
func (t *Tool) Execute(ctx context.Context, input json.RawMessage) ([]anthropic.BetaToolResultBlockParamContentUnion, error) {
	return forRunner(t.reply(ctx, input))
}

func forRunner(reply memdir.Reply) ([]anthropic.BetaToolResultBlockParamContentUnion, error) {
	if reply.IsError {
		return nil, errors.New(strings.TrimPrefix(reply.Text, "Error: "))
	}
	return content(reply), nil
}

// Result executes one call for a loop of your own, and returns the block that answers it, with the exact text.
func (t *Tool) Result(ctx context.Context, id string, input json.RawMessage) anthropic.BetaContentBlockParamUnion {
	return result(id, t.reply(ctx, input))
}

func result(id string, reply memdir.Reply) anthropic.BetaContentBlockParamUnion {
	return anthropic.BetaContentBlockParamUnion{OfToolResult: &anthropic.BetaToolResultBlockParam{
		ToolUseID: id,
		Content:   content(reply),
		IsError:   anthropic.Bool(reply.IsError),
	}}
}

func (t *Tool) reply(ctx context.Context, input json.RawMessage) memdir.Reply {
	reply := t.memory.Execute(ctx, input)
	report(ctx, reply.Cause, t.OnFailure)
	return reply
}

func report(ctx context.Context, cause error, onFailure func(ctx context.Context, cause error)) {
	switch {
	case cause == nil:
	case onFailure != nil:
		onFailure(ctx, cause)
	case isCancelled(cause):
		slog.InfoContext(ctx, "the memory tool was cancelled")
	default:
		slog.ErrorContext(ctx, "the memory tool failed", "error", cause)
	}
}

func isCancelled(cause error) bool {
	var failure *memdir.Error
	return errors.As(cause, &failure) && failure.Kind == memdir.KindCancelled
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
