/*
 * A memory as a tool of Spring AI, to be copied: see docs/integrations/frameworks-jvm.md. It is not part of the jar, which would then
 * depend on Spring AI.
 */
package dev.memdir.examples;

import dev.memdir.MemdirException;
import dev.memdir.Memory;
import dev.memdir.Reply;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Passes the input of a tool call to {@code memory.execute} unchanged. */
public final class MemoryToolCallback implements ToolCallback {
    private static final Logger LOG = System.getLogger("dev.memdir");

    private final Memory memory;
    private final ToolDefinition definition;
    /** The command, if the tool is for a single one. */
    private final String command;

    /** One tool named {@code memory}, whose field {@code command} selects the command. */
    public MemoryToolCallback(Memory memory) throws MemdirException {
        this(memory, memory.toolDefinition(), null);
    }

    private MemoryToolCallback(Memory memory, String definition, String command) {
        this.memory = memory;
        this.command = command;
        JsonNode tool = JsonMapper.shared().readTree(definition);
        this.definition =
                ToolDefinition.builder()
                        .name(tool.get("name").stringValue())
                        .description(tool.get("description").stringValue())
                        .inputSchema(tool.get("parameters").toString())
                        .build();
    }

    /** A tool for each command, named {@code prefix} and the command: some models use smaller tools better. */
    public static List<ToolCallback> forEachCommand(Memory memory, String prefix) throws MemdirException {
        List<ToolCallback> tools = new ArrayList<>();
        for (String definition : memory.toolDefinitions(null, prefix)) {
            String name = JsonMapper.shared().readTree(definition).get("name").stringValue();
            tools.add(new MemoryToolCallback(memory, definition, name.substring(prefix.length())));
        }
        return tools;
    }

    @Override
    public ToolDefinition getToolDefinition() {
        return definition;
    }

    @Override
    public String call(String input) {
        Reply reply = memory.execute(command == null ? input : named(input));
        // The model reads only that the memory is unavailable.
        if (reply.getCause() != null) LOG.log(Level.WARNING, reply.getCause());
        return reply.getContent();
    }

    /** The input with the command's name. Input that is not an object stays unchanged, and is refused. */
    private String named(String input) {
        try {
            JsonNode fields = JsonMapper.shared().readTree(input);
            return fields instanceof ObjectNode object ? object.put("command", command).toString() : input;
        } catch (JacksonException error) {
            return input;
        }
    }
}
