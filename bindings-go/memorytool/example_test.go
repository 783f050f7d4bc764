package memorytool_test

// The code of docs/languages/go.md: a test of the package memdir compares it. It calls the hosted API, so it is compiled and not run.
// The conversations of tool_test.go are run.

import (
	"context"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"

	memdir "github.com/memdir/memdir/bindings-go"
	"github.com/memdir/memdir/bindings-go/memorytool"
)

func Example() {
	ctx := context.Background()
	client := anthropic.NewClient()
	memory, err := memdir.Open("./memory", memdir.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	defer memory.Close()

	tool := memorytool.New(memory)
	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, anthropic.BetaToolRunnerParams{
		BetaMessageNewParams: anthropic.BetaMessageNewParams{
			Model:     "claude-sonnet-5-5",
			MaxTokens: 2048,
			Messages:  []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("What do you know of me?"))},
		},
	})
	// As memory_20250818, which Claude knows. Without it the tool is a custom one.
	memorytool.Declare(runner.Params.Tools)
	message, err := runner.RunToCompletion(ctx)
	fmt.Println(message, err)
}
