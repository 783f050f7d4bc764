package frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicServerTool;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.memdir.MemdirException;
import dev.memdir.Memory;
import dev.memdir.MemoryOptions;
import dev.memdir.examples.MemoryToolExecutor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Conversations through the AI services of LangChain4j, set up as docs/integrations/frameworks-jvm.md recommends. */
class LangChain4jTest {
    private static final Findings FINDINGS = new Findings("LangChain4j", "langchain4j");

    interface Assistant {
        String chat(String question);
    }

    private static AnthropicChatModel.AnthropicChatModelBuilder builder(Standin standin) {
        return AnthropicChatModel.builder().baseUrl(standin.address + "/v1/").apiKey("none");
    }

    private static Assistant assistant(ChatModel model, Memory memory) throws MemdirException {
        Assistant assistant =
                AiServices.builder(Assistant.class)
                        .chatModel(model)
                        .tools(Map.of(ToolSpecification.fromJson(memory.toolDefinition()), new MemoryToolExecutor(memory)))
                        .build();
        return assistant;
    }

    private static Assistant claudesAssistant(AnthropicChatModel.AnthropicChatModelBuilder builder, Memory memory)
            throws MemdirException {
        AnthropicServerTool declared = AnthropicServerTool.builder().type("memory_20250818").name("memory").build();
        Assistant assistant =
                AiServices.builder(Assistant.class)
                        .chatModel(builder.modelName("claude-sonnet-5-5").serverTools(declared).build())
                        .tools(Map.of(ToolSpecification.fromJson(memory.toolDefinition()), new MemoryToolExecutor(memory)))
                        .chatRequestTransformer(MemoryToolExecutor::undeclared)
                        .build();
        return assistant;
    }

    @ParameterizedTest
    @ValueSource(strings = {"release-notes", "parallel"})
    void playsWithClaudesOwnTool(String name, @TempDir Path place) throws Exception {
        ObjectNode script = Standin.conversation(name);
        Path store = Standin.layOut(script, place);
        try (Standin standin = new Standin(script, place)) {
            for (JsonNode session : script.get("sessions")) {
                try (Memory memory = new Memory(store)) {
                    String said = claudesAssistant(builder(standin), memory).chat(session.get("user").textValue());
                    assertEquals(Standin.lastWord(session), said);
                }
            }
            standin.finish();
        }
        Standin.assertEnd(script, store);
        // The stand-in asserts the flag of every result.
        FINDINGS.record(Map.of("tool", "Claude's own", "sync", true, "errors", true));
    }

    @ParameterizedTest
    @ValueSource(strings = {"release-notes", "parallel"})
    void playsWithAToolForAnyModel(String name, @TempDir Path place) throws Exception {
        ObjectNode script = Standin.conversation(name);
        Path store = Standin.layOut(script, place);
        try (Memory memory = new Memory(store)) {
            script.set("tool", Standin.customTool(memory));
        }
        try (Standin standin = new Standin(script, place)) {
            for (JsonNode session : script.get("sessions")) {
                try (Memory memory = new Memory(store)) {
                    ChatModel model = builder(standin).modelName("a-model").build();
                    assertEquals(Standin.lastWord(session), assistant(model, memory).chat(session.get("user").textValue()));
                }
            }
            standin.finish();
        }
        Standin.assertEnd(script, store);
    }

    private static String askAs(ChatModel model, Path memories, String user, String question) throws Exception {
        try (Memory memory = new Memory(Users.memoryOf(memories, user))) {
            return assistant(model, memory).chat(question);
        }
    }

    @Test
    void givesEachUserAMemory(@TempDir Path place) throws Exception {
        Path memories = place.resolve("memories");
        Users.check(place, memories, (address, user) -> {
            ChatModel model = AnthropicChatModel.builder().baseUrl(address + "/v1/").apiKey("none").modelName("a-model").build();
            return askAs(model, memories, user, "Go on.");
        });
    }

    @Test
    void losesNoEditOfCallsThatRunConcurrently(@TempDir Path place) throws Exception {
        ObjectNode script = Standin.conversation("parallel");
        Path store = Standin.layOut(script, place);
        try (Memory memory = new Memory(store)) {
            script.set("tool", Standin.customTool(memory));
            try (Standin standin = new Standin(script, place)) {
                Assistant assistant =
                        AiServices.builder(Assistant.class)
                                .chatModel(builder(standin).modelName("a-model").build())
                                .tools(Map.of(ToolSpecification.fromJson(memory.toolDefinition()), new MemoryToolExecutor(memory)))
                                .executeToolsConcurrently()
                                .build();
                assistant.chat(script.at("/sessions/0/user").textValue());
                standin.finish();
            }
        }
        Standin.assertEnd(script, store);
    }

    @Test
    void sendsAnImageAsAnImage(@TempDir Path place) throws Exception {
        byte[] png = Files.readAllBytes(Standin.ROOT.resolve("bindings-uniffi/tests/plan.png"));
        Path store = place.resolve("memory");
        Files.createDirectories(store.resolve("memories"));
        Files.write(store.resolve("memories/plan.png"), png);
        ObjectNode call = Standin.JSON.createObjectNode().put("is_error", false);
        call.putObject("input").put("command", "view").put("path", "/memories/plan.png");
        call.putObject("result").put("$image", "image/png").put("$base64", Base64.getEncoder().encodeToString(png));
        ObjectNode script = Standin.conversation(call);
        MemoryOptions options = MemoryOptions.builder().maxImageBytes(100_000L).build();
        try (Memory memory = new Memory(store, options);
                Standin standin = new Standin(script, place)) {
            assertEquals("Done.", claudesAssistant(builder(standin), memory).chat("Go on."));
            standin.finish();
            FINDINGS.record(Map.of("images", true));
        }
    }

    interface StreamingAssistant {
        TokenStream chat(String question);
    }

    @Test
    void streams() throws Exception {
        try (Memory memory = new Memory("memory:");
                StreamedStandin standin = new StreamedStandin(StreamedStandin.CALLS)) {
            AnthropicServerTool declared = AnthropicServerTool.builder().type("memory_20250818").name("memory").build();
            StreamingAssistant assistant =
                    AiServices.builder(StreamingAssistant.class)
                            .streamingChatModel(
                                    AnthropicStreamingChatModel.builder()
                                            .baseUrl(standin.address + "/v1/")
                                            .apiKey("none")
                                            .modelName("a-model")
                                            .serverTools(declared)
                                            .build())
                            .tools(Map.of(ToolSpecification.fromJson(memory.toolDefinition()), new MemoryToolExecutor(memory)))
                            .chatRequestTransformer(MemoryToolExecutor::undeclared)
                            .build();
            CompletableFuture<ChatResponse> answer = new CompletableFuture<>();
            assistant.chat("Go on.").onCompleteResponse(answer::complete).onError(answer::completeExceptionally).start();
            assertEquals("Done.", answer.get(1, TimeUnit.MINUTES).aiMessage().text());
            assertEquals("ünï 🫖\n", memory.read("/memories/a.md"));
            assertEquals(StreamedStandin.CREATED, standin.result(1).get("content").textValue());
            assertEquals(StreamedStandin.MISSING, standin.result(2).get("content").textValue());
            assertTrue(standin.result(2).get("is_error").booleanValue());
            for (JsonNode request : standin.requests) {
                assertEquals("[{\"name\":\"memory\",\"type\":\"memory_20250818\"}]", request.get("tools").toString());
            }
            FINDINGS.record(Map.of("streaming", true));
        }
    }

    @Test
    void givesEachCommandAToolOfItsOwn() throws Exception {
        try (Memory memory = new Memory("memory:");
                StreamedStandin standin = new StreamedStandin("memory_", StreamedStandin.EACH_COMMAND)) {
            var model =
                    AnthropicStreamingChatModel.builder()
                            .baseUrl(standin.address + "/v1/")
                            .apiKey("none")
                            .modelName("a-model")
                            .build();
            StreamingAssistant assistant =
                    AiServices.builder(StreamingAssistant.class)
                            .streamingChatModel(model)
                            .tools(MemoryToolExecutor.forEachCommand(memory, "memory_"))
                            .build();
            CompletableFuture<ChatResponse> answer = new CompletableFuture<>();
            assistant.chat("Go on.").onCompleteResponse(answer::complete).onError(answer::completeExceptionally).start();
            assertEquals("Done.", answer.get(1, TimeUnit.MINUTES).aiMessage().text());
            for (int at = 0; at < StreamedStandin.EACH_RESULT.size(); at++) {
                String text = StreamedStandin.EACH_RESULT.get(at);
                assertEquals(text, standin.result(at + 1).get("content").textValue());
                assertEquals(text.startsWith("Error"), standin.result(at + 1).path("is_error").booleanValue());
            }
            assertEquals("# Drinks\nünï 🫖\n", memory.read("/memories/b.md"));
            standin.assertDeclares(memory.toolDefinitions(null, "memory_"));
            // Input that is not an object reaches memdir unchanged.
            ToolExecutor view = MemoryToolExecutor.forEachCommand(memory, "").values().iterator().next();
            for (String wrong : List.of("[]", "{", "")) {
                ToolExecutionRequest request = ToolExecutionRequest.builder().name("view").arguments(wrong).build();
                assertEquals(memory.execute(wrong).getContent(), view.execute(request, null));
            }
        }
    }

    @Test
    void keepsTheRestOfARequest() throws Exception {
        try (Memory memory = new Memory("memory:")) {
            ToolSpecification clock = ToolSpecification.builder().name("clock").build();
            ChatRequest request =
                    ChatRequest.builder()
                            .messages(UserMessage.from("Go on."))
                            .temperature(0.5)
                            .toolSpecifications(clock, ToolSpecification.fromJson(memory.toolDefinition()))
                            .build();
            ChatRequest left =
                    ChatRequest.builder().messages(UserMessage.from("Go on.")).temperature(0.5).toolSpecifications(clock).build();
            assertEquals(left, MemoryToolExecutor.undeclared(request));
        }
    }

    @Test
    void logsABrokenStoreAndTellsTheModelLittle() throws Exception {
        Memory memory = new Memory("memory:");
        memory.close();
        String cause = memory.execute("{\"command\": \"view\", \"path\": \"/memories\"}").getCause();
        ToolExecutionRequest request =
                ToolExecutionRequest.builder().name("memory").arguments("{\"command\": \"view\", \"path\": \"/memories\"}").build();
        try (Log log = new Log()) {
            var result = new MemoryToolExecutor(memory).executeWithContext(request, null);
            assertTrue(result.isError());
            assertFalse(result.resultText().contains(cause));
            assertEquals(cause, log.warnings.get(0));
        }
    }
}
