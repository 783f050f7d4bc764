package frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.memdir.MemdirException;
import dev.memdir.Memory;
import dev.memdir.examples.MemoryToolCallback;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.ToolCallback;

/**
 * Conversations through the chat client of Spring AI, set up as docs/integrations/frameworks-jvm.md recommends.
 */
class SpringAiTest {
    private static final Findings FINDINGS = new Findings("Spring AI", "spring-ai");

    private static ChatModel model(String address) {
        return AnthropicChatModel.builder()
                .options(AnthropicChatOptions.builder().baseUrl(address).apiKey("none").model("a-model").build())
                .build();
    }

    private static String ask(ChatModel model, Memory memory, String question) throws MemdirException {
        ChatClient client = ChatClient.builder(model).defaultTools(new MemoryToolCallback(memory)).build();
        String answer = client.prompt().user(question).call().content();
        return answer;
    }

    @ParameterizedTest
    @ValueSource(strings = {"release-notes", "parallel"})
    void plays(String name, @TempDir Path place) throws Exception {
        ObjectNode script = Standin.conversation(name);
        withoutFlags(script);
        Path store = Standin.layOut(script, place);
        try (Memory memory = new Memory(store)) {
            script.set("tool", Standin.customTool(memory));
        }
        try (Standin standin = new Standin(script, place)) {
            for (JsonNode session : script.get("sessions")) {
                try (Memory memory = new Memory(store)) {
                    assertEquals(Standin.lastWord(session), ask(model(standin.address), memory, session.get("user").textValue()));
                }
            }
            standin.finish();
        }
        Standin.assertEnd(script, store);
        FINDINGS.record(Map.of("tool", "declared", "sync", true, "errors", false));
    }

    /**
     * Unless configured otherwise, Spring AI ends a turn after a limited number of calls of one
     * tool.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void endsATurnAfterFortyCallsUnlessToldOtherwise(boolean told, @TempDir Path place) throws Exception {
        ObjectNode call = Standin.JSON.createObjectNode().put("is_error", false).put("result", "");
        call.putObject("input").put("command", "view").put("path", "/memories");
        JsonNode[] calls = new JsonNode[41];
        Arrays.fill(calls, call);
        try (Memory memory = new Memory(place.resolve("memory"))) {
            call.put("result", memory.view("/memories"));
            ObjectNode script = Standin.conversation(calls);
            script.set("tool", Standin.customTool(memory));
            try (Standin standin = new Standin(script, place)) {
                ChatModel model = model(standin.address);
                String answer = told ? askWithoutLimit(model, memory, "Go on.") : ask(model, memory, "Go on.");
                if (told) {
                    assertEquals("Done.", answer);
                    standin.finish();
                } else {
                    assertTrue(answer.contains("memory") && answer.contains("40"), answer);
                }
            }
        }
    }

    private static String askWithoutLimit(ChatModel model, Memory memory, String question) throws MemdirException {
        var manager = ToolCallingManager.builder().excludeToolFromLimit("memory").build();
        ChatClient client =
                ChatClient.builder(model)
                        .defaultTools(new MemoryToolCallback(memory))
                        .defaultAdvisors(ToolCallingAdvisor.builder().toolCallingManager(manager).build())
                        .build();
        return client.prompt().user(question).call().content();
    }

    private static String askAs(ChatClient client, Path memories, String user, String question) throws Exception {
        try (Memory memory = new Memory(Users.memoryOf(memories, user))) {
            return client.prompt().user(question).tools(new MemoryToolCallback(memory)).call().content();
        }
    }

    @Test
    void givesEachUserAMemory(@TempDir Path place) throws Exception {
        Path memories = place.resolve("memories");
        Users.check(place, memories, (address, user) -> askAs(ChatClient.create(model(address)), memories, user, "Go on."));
    }

    @Test
    void streams() throws Exception {
        try (Memory memory = new Memory("memory:");
                StreamedStandin standin = new StreamedStandin(StreamedStandin.CALLS)) {
            ChatClient client = ChatClient.builder(model(standin.address)).defaultTools(new MemoryToolCallback(memory)).build();
            List<String> pieces = client.prompt().user("Go on.").stream().content().collectList().block(Duration.ofMinutes(1));
            assertEquals("Done.", String.join("", pieces));
            assertEquals("ünï 🫖\n", memory.read("/memories/a.md"));
            assertEquals(StreamedStandin.CREATED, standin.result(1).get("content").textValue());
            assertEquals(StreamedStandin.MISSING, standin.result(2).get("content").textValue());
            assertFalse(standin.result(2).has("is_error"));
            FINDINGS.record(Map.of("streaming", true));
        }
    }

    private static ChatClient withSixTools(ChatModel model, Memory memory) throws MemdirException {
        List<ToolCallback> tools = MemoryToolCallback.forEachCommand(memory, "memory_");
        ChatClient client = ChatClient.builder(model).defaultTools(tools).build();
        return client;
    }

    @Test
    void givesEachCommandAToolOfItsOwn() throws Exception {
        try (Memory memory = new Memory("memory:");
                StreamedStandin standin = new StreamedStandin("memory_", StreamedStandin.EACH_COMMAND)) {
            ChatClient client = withSixTools(model(standin.address), memory);
            client.prompt().user("Go on.").stream().content().collectList().block(Duration.ofMinutes(1));
            for (int at = 0; at < StreamedStandin.EACH_RESULT.size(); at++) {
                assertEquals(StreamedStandin.EACH_RESULT.get(at), standin.result(at + 1).get("content").textValue());
            }
            assertEquals("# Drinks\nünï 🫖\n", memory.read("/memories/b.md"));
            standin.assertDeclares(memory.toolDefinitions(null, "memory_"));
            // Input that is not an object reaches memdir unchanged.
            ToolCallback view = MemoryToolCallback.forEachCommand(memory, "").get(0);
            for (String wrong : List.of("[]", "{", "")) assertEquals(memory.execute(wrong).getContent(), view.call(wrong));
        }
    }

    @Test
    void logsABrokenStoreAndTellsTheModelLittle() throws Exception {
        Memory memory = new Memory("memory:");
        MemoryToolCallback tool = new MemoryToolCallback(memory);
        memory.close();
        String call = "{\"command\": \"view\", \"path\": \"/memories\"}";
        String cause = memory.execute(call).getCause();
        try (Log log = new Log()) {
            assertFalse(tool.call(call).contains(cause));
            assertEquals(cause, log.warnings.get(0));
        }
    }

    /** Spring AI has no flag for a tool's error: the model reads the same text without it. */
    private static void withoutFlags(ObjectNode script) {
        script.findParents("is_error").forEach(call -> ((ObjectNode) call).put("is_error", false));
    }
}
