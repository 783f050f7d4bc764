package frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Streams messages of the model, which the stand-in of examples/standin cannot do: one tool call each, then a text. */
final class StreamedStandin implements AutoCloseable {
    /** A call that works, and one that fails. */
    static final String[] CALLS = {
        "{\"command\": \"create\", \"path\": \"/memories/a.md\", \"file_text\": \"ünï 🫖\\n\"}",
        "{\"command\": \"view\", \"path\": \"/memories/b.md\"}",
    };
    static final String CREATED = "File created successfully at: /memories/a.md";
    /** One call of each command. The last two are invalid. */
    static final List<String> EACH_COMMAND =
            List.of(
                    CALLS[0],
                    "{\"command\": \"view\", \"path\": \"/memories/a.md\"}",
                    "{\"command\": \"insert\", \"path\": \"/memories/a.md\", \"insert_line\": 0, \"insert_text\": \"# Tea\"}",
                    "{\"command\": \"str_replace\", \"path\": \"/memories/a.md\", \"old_str\": \"Tea\", \"new_str\": \"Drinks\"}",
                    "{\"command\": \"rename\", \"old_path\": \"/memories/a.md\", \"new_path\": \"/memories/b.md\"}",
                    "{\"command\": \"delete\", \"path\": \"/memories/a.md\"}",
                    "{\"command\": \"create\", \"path\": \"/memories/c.md\"}");
    /** The expected results. */
    static final List<String> EACH_RESULT =
            List.of(
                    "File created successfully at: /memories/a.md",
                    "Here's the content of /memories/a.md with line numbers:\n     1\tünï 🫖",
                    "The file /memories/a.md has been edited.",
                    "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
                            + "     1\t# Drinks\n     2\tünï 🫖",
                    "Successfully renamed /memories/a.md to /memories/b.md",
                    "Error: The path /memories/a.md does not exist",
                    "Error: Missing `file_text` parameter for the `create` command: expected a string");
    static final String MISSING = "The path /memories/b.md does not exist. Please provide a valid path.";

    /** The recorded requests. */
    final List<JsonNode> requests = Collections.synchronizedList(new ArrayList<>());

    final String address;
    private final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    private final List<String> inputs;
    /** The prefix of the commands' names if each command is a tool; otherwise null. */
    private final String prefix;

    StreamedStandin(String... inputs) throws IOException {
        this(null, List.of(inputs));
    }

    StreamedStandin(String prefix, List<String> inputs) throws IOException {
        this.prefix = prefix;
        this.inputs = inputs;
        server.createContext("/v1/messages", this::answer);
        server.start();
        address = "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** The tool result in a request. The first request has none. */
    JsonNode result(int request) {
        JsonNode messages = requests.get(request).get("messages");
        return messages.get(messages.size() - 1).get("content").get(0);
    }

    /** Asserts that every request declares these tools: their names, descriptions and fields. */
    void assertDeclares(List<String> definitions) throws IOException {
        for (JsonNode request : requests) {
            JsonNode tools = request.get("tools");
            assertEquals(definitions.size(), tools.size());
            for (int at = 0; at < tools.size(); at++) {
                JsonNode wanted = Standin.JSON.readTree(definitions.get(at));
                assertEquals(wanted.get("name"), tools.get(at).get("name"));
                assertEquals(wanted.get("description"), tools.get(at).get("description"));
                JsonNode schema = tools.get(at).get("input_schema");
                assertEquals(wanted.at("/parameters/properties"), schema.get("properties"));
                assertEquals(wanted.at("/parameters/required"), schema.get("required"));
            }
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        requests.add(Standin.JSON.readTree(exchange.getRequestBody().readAllBytes()));
        int turn = requests.size();
        boolean calls = turn <= inputs.size();
        StringBuilder events = new StringBuilder();
        event(events, "message_start", """
                {"message": {"id": "m%d", "type": "message", "role": "assistant", "model": "m", "content": [],
                 "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}}}""".formatted(turn));
        String name = "memory";
        String said = calls ? inputs.get(turn - 1) : "Done.";
        if (calls && prefix != null) {
            ObjectNode input = (ObjectNode) Standin.JSON.readTree(said);
            name = prefix + input.remove("command").textValue();
            said = input.toString();
        }
        String block = calls ? """
                {"type": "tool_use", "id": "toolu_%d", "name": "%s", "input": {}}""".formatted(turn, name) : """
                {"type": "text", "text": ""}""";
        event(events, "content_block_start", "{\"index\": 0, \"content_block\": " + block + "}");
        // In two parts, because the API may split anywhere.
        for (String piece : List.of(said.substring(0, said.length() / 2), said.substring(said.length() / 2))) {
            ObjectNode delta = Standin.JSON.createObjectNode().put("type", calls ? "input_json_delta" : "text_delta");
            delta.put(calls ? "partial_json" : "text", piece);
            event(events, "content_block_delta", "{\"index\": 0, \"delta\": " + delta + "}");
        }
        event(events, "content_block_stop", "{\"index\": 0}");
        event(events, "message_delta", """
                {"delta": {"stop_reason": "%s", "stop_sequence": null}, "usage": {"output_tokens": 1}}"""
                .formatted(calls ? "tool_use" : "end_turn"));
        event(events, "message_stop", "{}");
        byte[] body = events.toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("content-type", "text/event-stream");
        exchange.sendResponseHeaders(200, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private static void event(StringBuilder events, String type, String data) throws IOException {
        JsonNode event = ((ObjectNode) Standin.JSON.readTree(data)).put("type", type);
        events.append("event: ").append(type).append("\ndata: ").append(event).append("\n\n");
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
