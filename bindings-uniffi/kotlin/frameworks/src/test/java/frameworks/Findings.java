package frameworks;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;

/**
 * The tests write their findings about a framework to target/frameworks. tests/frameworks/table makes docs/integrations/index.md
 * from them.
 */
final class Findings {
    private final String title;
    private final String artifact;

    Findings(String title, String artifact) {
        this.title = title;
        this.artifact = artifact;
    }

    /** Writes the abilities of the framework. A field is absent if no test has determined it. */
    void record(Map<String, Object> found) throws IOException {
        Path file = Standin.ROOT.resolve("target/frameworks/jvm/" + artifact + ".json");
        Files.createDirectories(file.getParent());
        ObjectNode known =
                Files.exists(file) ? (ObjectNode) Standin.JSON.readTree(file.toFile()) : Standin.JSON.createObjectNode();
        known.put("title", title).put("package", artifact);
        known.put("version", System.getProperty(artifact + ".version")).put("on", LocalDate.now(ZoneOffset.UTC).toString());
        known.setAll((ObjectNode) Standin.JSON.valueToTree(found));
        Files.writeString(file, known.toPrettyString() + "\n");
    }
}
