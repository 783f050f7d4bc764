package frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.memdir.MemdirException;
import dev.memdir.Memory;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** The stand-in of examples/standin in its own process. It compares every request with the script, word for word. */
final class Standin implements AutoCloseable {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Path ROOT = Path.of(System.getProperty("memdir.root")).toAbsolutePath().normalize();

    /** The address it listens on. */
    final String address;

    private final Process process;
    private final Path errors;

    Standin(JsonNode script, Path place) throws IOException {
        errors = place.resolve("errors");
        ProcessBuilder builder =
                new ProcessBuilder(
                        "python3",
                        ROOT.resolve("examples/standin/standin.py").toString(),
                        Files.writeString(place.resolve("script.json"), script.toString()).toString());
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        process = builder.redirectError(errors.toFile()).start();
        BufferedReader out = process.inputReader();
        address = out.readLine();
        if (address == null) throw new IllegalStateException(Files.readString(errors));
    }

    /** One of examples/conversations. */
    static ObjectNode conversation(String name) throws IOException {
        return (ObjectNode) JSON.readTree(ROOT.resolve("examples/conversations/" + name + ".json").toFile());
    }

    /** A conversation of one session: the model's calls, one per turn, and the expected results. */
    static ObjectNode conversation(JsonNode... calls) {
        ObjectNode script = JSON.createObjectNode().put("about", "a test");
        ObjectNode session = script.putArray("sessions").addObject().put("user", "Go on.");
        for (JsonNode call : calls) session.withArray("turns").addObject().putArray("calls").add(call);
        session.withArray("turns").addObject().put("text", "Done.");
        return script;
    }

    /** The declaration of a custom tool, as a framework makes it from the memory's definition. */
    static ObjectNode customTool(Memory memory) throws IOException, MemdirException {
        JsonNode definition = JSON.readTree(memory.toolDefinition());
        ObjectNode tool = JSON.createObjectNode();
        tool.set("name", definition.get("name"));
        tool.set("description", definition.get("description"));
        ObjectNode schema = tool.putObject("input_schema").put("type", "object");
        schema.set("properties", definition.at("/parameters/properties"));
        schema.set("required", definition.at("/parameters/required"));
        return tool;
    }

    /** Asserts that the whole script was played, and that every request was as expected. */
    void finish() throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(address + "/standin/finish")).POST(HttpRequest.BodyPublishers.noBody()).build();
        String body = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
        JsonNode report = JSON.readTree(body);
        assertTrue(report.get("complete").booleanValue() && report.get("failures").isEmpty(), report.toPrettyString());
        assertEquals(report.get("tool_results"), report.get("tool_results_checked"));
        String turns = "end to end: %s turns, %s tool results%n";
        System.out.printf(turns, report.get("turns_played"), report.get("tool_results_checked"));
        assertTrue(process.waitFor(2, TimeUnit.MINUTES));
        assertEquals(0, process.exitValue(), Files.readString(errors));
    }

    /** Creates the files that exist before the conversation, and returns the directory of the store. */
    static Path layOut(JsonNode script, Path place) throws IOException {
        Path store = place.resolve("memory");
        for (Map.Entry<String, JsonNode> file : script.path("beside").properties()) {
            Path path = store.resolve(file.getKey());
            Files.createDirectories(path.getParent());
            Files.writeString(path, text(file.getValue()));
        }
        return store;
    }

    /** The model's last message in a session. */
    static String lastWord(JsonNode session) {
        return session.get("turns").get(session.get("turns").size() - 1).get("text").textValue();
    }

    /** Asserts that the final state of the memory, and the files beside it, are as in the script. */
    static void assertEnd(JsonNode script, Path store) throws IOException {
        for (Map.Entry<String, JsonNode> file : script.path("beside").properties()) {
            assertEquals(text(file.getValue()), Files.readString(store.resolve(file.getKey())));
        }
        Path memories = store.resolve("memories");
        Map<String, String> expected = new TreeMap<>();
        script.get("then").properties().forEach(file -> expected.put(file.getKey(), text(file.getValue())));
        Map<String, String> found = new TreeMap<>();
        try (var paths = Files.walk(memories)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                found.put("/memories/" + memories.relativize(path), Files.readString(path));
            }
        }
        assertEquals(expected, found);
    }

    private static String text(JsonNode value) {
        if (value.isTextual()) return value.textValue();
        StringBuilder text = new StringBuilder();
        value.get("$text").forEach(piece -> text.append(piece.textValue()));
        return text.toString();
    }

    @Override
    public void close() {
        process.destroy();
    }
}
