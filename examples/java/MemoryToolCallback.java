/*
 * A memory as a tool of Spring AI, to be copied: see docs/frameworks-jvm.md. It is no part of the jar, which would then depend
 * on Spring AI.
 */
package dev.memdir.examples;

import dev.memdir.Memory;
import dev.memdir.Reply;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Gives {@code memory.execute} the input of a tool call as the model sent it. */
public final class MemoryToolCallback implements ToolCallback {
    private static final Logger LOG = System.getLogger("dev.memdir");

    private final Memory memory;
    private final ToolDefinition definition;

    public MemoryToolCallback(Memory memory) {
        this.memory = memory;
        JsonNode tool = JsonMapper.shared().readTree(memory.toolDefinition());
        definition =
                ToolDefinition.builder()
                        .name(tool.get("name").stringValue())
                        .description(tool.get("description").stringValue())
                        .inputSchema(tool.get("parameters").toString())
                        .build();
    }

    @Override
    public ToolDefinition getToolDefinition() {
        return definition;
    }

    @Override
    public String call(String input) {
        Reply reply = memory.execute(input);
        // The model reads only that the memory is out of reach.
        if (reply.getCause() != null) LOG.log(Level.WARNING, reply.getCause());
        return reply.getContent();
    }
}
