/*
 * A memory as a tool of LangChain4j, to be copied: see docs/integrations/frameworks-jvm.md. It is not part of the jar, which would then
 * depend on LangChain4j.
 */
package dev.memdir.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.service.tool.ToolExecutionResult;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.memdir.MemdirException;
import dev.memdir.Memory;
import dev.memdir.Reply;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Passes the input of a tool call to {@code memory.execute} unchanged. The result may have an image. */
public final class MemoryToolExecutor implements ToolExecutor {
    private static final Logger LOG = System.getLogger("dev.memdir");

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Memory memory;
    /** The command, if the tool is for a single one. */
    private final String command;

    /** For one tool named {@code memory}, whose field {@code command} selects the command. */
    public MemoryToolExecutor(Memory memory) {
        this(memory, null);
    }

    private MemoryToolExecutor(Memory memory, String command) {
        this.memory = memory;
        this.command = command;
    }

    /** A tool for each command, named {@code prefix} and the command: some models use smaller tools better. */
    public static Map<ToolSpecification, ToolExecutor> forEachCommand(Memory memory, String prefix) throws MemdirException {
        Map<ToolSpecification, ToolExecutor> tools = new LinkedHashMap<>();
        for (String definition : memory.toolDefinitions(null, prefix)) {
            ToolSpecification tool = ToolSpecification.fromJson(definition);
            tools.put(tool, new MemoryToolExecutor(memory, tool.name().substring(prefix.length())));
        }
        return tools;
    }

    @Override
    public ToolExecutionResult executeWithContext(ToolExecutionRequest request, InvocationContext context) {
        Reply reply = run(request);
        ToolExecutionResult.Builder result = ToolExecutionResult.builder().isError(reply.isError());
        if (reply.getImage() == null) return result.resultText(reply.getContent()).build();
        String base64 = Base64.getEncoder().encodeToString(reply.getImage().getBytes());
        return result.resultContents(List.of(ImageContent.from(base64, reply.getImage().getMediaType()))).build();
    }

    /** For callers that accept only text. */
    @Override
    public String execute(ToolExecutionRequest request, Object memoryId) {
        return run(request).getContent();
    }

    /** The request without the definition of the memory's tool, for a model that declares Anthropic's own tool. */
    public static ChatRequest undeclared(ChatRequest request) {
        var others = request.toolSpecifications().stream().filter(tool -> !tool.name().equals("memory")).toList();
        var parameters = ChatRequestParameters.builder().overrideWith(request.parameters()).toolSpecifications(others).build();
        return ChatRequest.builder().messages(request.messages()).parameters(parameters).build();
    }

    private Reply run(ToolExecutionRequest request) {
        Reply reply = memory.execute(command == null ? request.arguments() : named(request.arguments()));
        // The model reads only that the memory is unavailable.
        if (reply.getCause() != null) LOG.log(Level.WARNING, reply.getCause());
        return reply;
    }

    /** The input with the command's name. Input that is not an object stays unchanged, and is refused. */
    private String named(String input) {
        try {
            JsonNode fields = JSON.readTree(input);
            return fields instanceof ObjectNode object ? object.put("command", command).toString() : input;
        } catch (JsonProcessingException error) {
            return input;
        }
    }
}
