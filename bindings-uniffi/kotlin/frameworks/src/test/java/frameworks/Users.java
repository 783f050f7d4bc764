package frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.memdir.Memory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/** One memory per user, set up as docs/integrations/frameworks-jvm.md recommends. */
final class Users {
    /** User names. No user may see the files of another. */
    private static final List<String> NAMES = List.of("ann", "Ann", "../ann", "");

    private Users() {}

    static Path memoryOf(Path memories, String user) throws Exception {
        // A digest is a safe name of a directory, whatever the user is called.
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(user.getBytes(StandardCharsets.UTF_8));
        return memories.resolve(HexFormat.of().formatHex(digest));
    }

    /** Sends a user's question to the model at an address. */
    interface Asking {
        String ask(String address, String user) throws Exception;
    }

    /** Each user's model creates the same file, in the user's own memory. */
    static void check(Path place, Path memories, Asking asking) throws Exception {
        for (String user : NAMES) {
            ObjectNode call = Standin.JSON.createObjectNode().put("is_error", false).put("result", StreamedStandin.CREATED);
            call.putObject("input").put("command", "create").put("path", "/memories/a.md").put("file_text", "of " + user);
            ObjectNode script = Standin.conversation(call);
            try (Memory declared = new Memory("memory:")) {
                script.set("tool", Standin.customTool(declared));
            }
            try (Standin standin = new Standin(script, place)) {
                assertEquals("Done.", asking.ask(standin.address, user));
                standin.finish();
            }
        }
        for (String user : NAMES) {
            try (Memory memory = new Memory(memoryOf(memories, user))) {
                assertEquals("of " + user, memory.read("/memories/a.md"));
            }
        }
        assertEquals(NAMES.size(), memories.toFile().list().length);
    }
}
