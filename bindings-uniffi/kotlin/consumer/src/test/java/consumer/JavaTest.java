package consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.memdir.UndoQuery;
import dev.memdir.HistoryQuery;
import dev.memdir.GrepQuery;
import dev.memdir.Change;
import dev.memdir.ChangeKind;
import dev.memdir.Command;
import dev.memdir.Dialect;
import dev.memdir.Edit;
import dev.memdir.EncryptionKey;
import dev.memdir.Entry;
import dev.memdir.Event;
import dev.memdir.Expired;
import dev.memdir.GrepMatch;
import dev.memdir.HistoryErrorKind;
import dev.memdir.HistoryOperation;
import dev.memdir.HookCall;
import dev.memdir.HookDecision;
import dev.memdir.HookException;
import dev.memdir.Memdir;
import dev.memdir.MemdirException;
import dev.memdir.MemdirHandler;
import dev.memdir.Memory;
import dev.memdir.MemoryHooks;
import dev.memdir.MemoryOptions;
import dev.memdir.Mount;
import dev.memdir.Reply;
import dev.memdir.Restored;
import dev.memdir.StaleGuard;
import dev.memdir.Store;
import dev.memdir.StoreException;
import dev.memdir.Subscription;
import dev.memdir.SyncAction;
import dev.memdir.SyncErrorKind;
import dev.memdir.SyncOptions;
import dev.memdir.Version;
import dev.memdir.Watch;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The package in Java: this file is compiled by javac against the jar. */
class JavaTest {
    @Test
    void aMemoryIsOpenedWithWhatIsGiven(@TempDir Path place) throws Exception {
        try (Memory memory = new Memory("memory:")) {
            assertEquals("File created successfully at: /memories/a", memory.create("/memories/a", "one\n"));
            memory.strReplace("/memories/a", "one");
            memory.strReplace("/memories/a", "\n", "two\n");
            assertTrue(memory.view("/memories/a").endsWith("1\ttwo"));
            assertTrue(memory.view("/memories/a", List.of(1L, -1L)).endsWith("1\ttwo"));
        }
        try (Memory memory = new Memory(place.resolve("memory"))) {
            memory.create("/memories/a", "one");
        }
        // A missing address does not select the default.
        assertThrows(MemdirException.Config.class, () -> new Memory((String) null));
        EncryptionKey kept = EncryptionKey.fromFile(place.resolve("memory.key"));
        assertEquals(kept, EncryptionKey.fromFile(place.resolve("memory.key")));
        assertEquals(
                EncryptionKey.fromKeyStore(place.resolve("keys.p12"), "a password".toCharArray()),
                EncryptionKey.fromKeyStore(place.resolve("keys.p12"), "a password".toCharArray(), "memory"));
        MemoryOptions options =
                MemoryOptions.builder()
                        .maxFiles(10)
                        .maxTotalBytes(1L << 20)
                        .maxViewChars(null)
                        .staleGuard(StaleGuard.ON)
                        .readOnlyPaths(List.of("/memories/handbook"))
                        .recordAccess(true)
                        .encryptionKey(new EncryptionKey(new byte[32]))
                        .build();
        assertEquals(10L, options.getMaxFiles());
        assertNull(options.getMaxViewChars());
        assertEquals(new MemoryOptions(), MemoryOptions.builder().build());
        try (Memory memory = new Memory(place.resolve("encrypted"), options)) {
            List<Expired> expired = memory.expire(Duration.ofDays(1));
            assertTrue(expired.isEmpty() && memory.expire(Duration.ZERO, true).isEmpty());
        }
    }

    @Test
    void twoMemoriesAreSynced() throws MemdirException {
        String path = "/memories/tea.md";
        try (Memory laptop = new Memory("memory:"); Memory server = new Memory("memory:")) {
            laptop.write(path, "green\n");
            SyncOptions options = new SyncOptions().names("laptop", "server").watch(progress -> true);
            assertEquals(SyncAction.CREATED, laptop.sync(server, options).getChanges().get(0).getAction());
            assertEquals(1L, laptop.sync(server).getEqual());
            try {
                laptop.sync(laptop);
                fail("both are the same memory");
            } catch (MemdirException.Sync error) {
                assertEquals(SyncErrorKind.OVERLAPPING, error.getKind());
            }
        }
    }

    @Test
    void yourOwnCodeReadsAndWrites() throws MemdirException {
        String path = "/memories/tea.md";
        try (Memory memory = new Memory("memory:")) {
            memory.write(path, "green tea\n");
            String text = memory.read(path);
            memory.write(path, text + "black tea\n", text);
            assertThrows(MemdirException.Refused.class, () -> memory.write(path, "", text));
            assertTrue(memory.exists(path));
            assertEquals(path, memory.list().get(0).getPath());
            assertEquals(path, memory.list("/memories").get(0).getPath());
            assertEquals(1, memory.list("/memories", null).size());
            assertEquals(List.of(new GrepMatch(path, 2L, "black tea")), memory.grep("black"));
            assertEquals(1, memory.grep(new GrepQuery("BLACK").ignoreCase(true)).size());
            assertEquals(0, memory.grep(new GrepQuery("black").path("/memories").limit(0)).size());
            assertEquals(List.of(), memory.findSensitive());
            assertEquals(List.of(), memory.findSensitive("/memories"));
            assertEquals(path, memory.stats().getLargest().getPath());
            assertEquals(path + "\t20B\tgreen tea\n", memory.index());
            assertEquals(memory.index(), memory.index(1000));
            assertEquals(3, memory.bootstrap("Tea.", List.of("a list")).size());
            assertTrue(memory.toolDefinition().contains("\"memory\""));
            assertTrue(memory.toolDefinition(Dialect.OPEN_AI).contains("\"strict\":true"));
            assertEquals(6, memory.toolDefinitions().size());
            assertEquals(6, memory.toolDefinitions(Dialect.GEMINI, "memory_").size());
            assertEquals(6, memory.toolDefinitions(Dialect.OPEN_AI_CHAT).size());
        }
    }

    @Test
    void changesByAnybodyAreTold() throws MemdirException, InterruptedException {
        try (Memory memory = new Memory("memory:"); Watch watch = memory.watch(); Watch other = memory.watch("/memories/b")) {
            memory.write("/memories/a", "one");
            Change written = new Change(ChangeKind.WRITTEN, "/memories/a");
            assertEquals(List.of(written), watch.changes(Duration.ofSeconds(60)));
            assertEquals(List.of(), other.changes(Duration.ZERO));
            watch.cancel();
            assertNull(watch.changes(Duration.ZERO));
        }
    }

    @Test
    void changesAreSeenAndTakenBack(@TempDir Path place) throws MemdirException {
        String path = "/memories/tea.md";
        MemoryOptions options = MemoryOptions.builder().history(true).historyMaxVersions(100).actor("program").build();
        assertEquals(Duration.ofDays(30), options.getHistoryMaxAge());
        assertNull(MemoryOptions.builder().historyMaxAge(null).build().getHistoryMaxAge());
        List<String> told = new ArrayList<>();
        MemoryHooks hooks =
                new MemoryHooks() {
                    @Override
                    public void after(Event event) {
                        told.add(event.getChange());
                    }
                };
        try (Memory memory = new Memory(place, options, hooks);
                Memory session = memory.actingAs("session 1")) {
            Instant begun = Instant.now();
            session.create(path, "green\n");
            session.strReplace(path, "green", "black");
            List<Version> versions = memory.history();
            assertEquals(List.of(), memory.grepHistory("nothing like it"));
            assertEquals(List.of(), memory.grepHistory(new GrepQuery("NOTHING LIKE IT").ignoreCase(true)));
            assertEquals(versions, memory.history(path));
            Version newest = versions.get(0);
            Version oldest = versions.get(1);
            assertEquals(HistoryOperation.MODIFIED, newest.getOperation());
            assertEquals("session 1", newest.getActor());
            assertEquals(List.of(oldest.getChange(), newest.getChange()), told);
            assertTrue(newest.isCurrent() && !oldest.isCurrent());
            assertTrue(!oldest.getTime().isBefore(begun.minusMillis(1)));
            assertEquals(List.of(newest), memory.history(new HistoryQuery().path(path).limit(1)));
            assertEquals(List.of(oldest), memory.history(new HistoryQuery().limit(1).before(newest.getId())));
            assertEquals(List.of(), memory.history(new HistoryQuery().actor("program").since(begun)));
            assertEquals("green\n", new String(memory.readVersion(oldest.getId()), StandardCharsets.UTF_8));
            assertTrue(memory.diff(newest.getId()).endsWith("-green\n+black\n"));
            assertEquals("", memory.diff(newest.getId(), newest.getId()));
            assertNull(memory.undo(new UndoQuery().change(newest.getChange()).dryRun(true)).getChange());
            Restored undone = memory.undo(newest.getChange());
            assertEquals(path, undone.getFiles().get(0).getPath());
            assertEquals("green\n", memory.read(path));
            assertEquals("program", memory.history(new HistoryQuery().path(path).limit(1)).get(0).getActor());
            MemdirException.History conflict =
                    assertThrows(MemdirException.History.class, () -> memory.restore(newest.getId()));
            assertEquals(HistoryErrorKind.CONFLICT, conflict.getKind());
            assertEquals(List.of(path), conflict.getPaths());
            memory.restore(newest.getId(), true);
            assertEquals("black\n", memory.read(path));
            assertTrue(memory.undo(begun.plusSeconds(60)).getFiles().isEmpty());
            assertTrue(memory.undo(new UndoQuery().since(begun.plusSeconds(60)).actor("session 1")).getFiles().isEmpty());
            assertTrue(memory.undo(new UndoQuery().since(begun.plusSeconds(60)).dryRun(true)).getFiles().isEmpty());
            assertTrue(memory.restoreAll(Instant.now().plusSeconds(60)).getFiles().isEmpty());
            assertTrue(memory.restoreAll(Instant.now().plusSeconds(60), true).getFiles().isEmpty());
            assertTrue(!memory.redact(oldest.getId(), "a test").isEmpty());
            assertEquals(0, memory.trimHistory());
        }
    }

    @Test
    void whatCanFailIsDeclaredAndCaught() {
        try {
            new Memory("nothing://here").close();
        } catch (MemdirException.Config wrong) {
            assertNull(wrong.getOption());
        } catch (MemdirException other) {
            throw new AssertionError(other);
        }
        try (Memory memory = new Memory("memory:")) {
            memory.view("/memories/none");
        } catch (MemdirException.Refused refused) {
            assertTrue(refused.getReason().contains("does not exist"));
        } catch (MemdirException other) {
            throw new AssertionError(other);
        }
    }

    /** A custom store in Java: six methods. */
    static class BrokenStore implements Store {
        final Exception cause = new IOException("no disk");

        @Override
        public byte[] read(String path) throws StoreException {
            StoreException failed = new StoreException.Failed(cause.getMessage());
            failed.initCause(cause);
            throw failed;
        }

        @Override
        public List<Entry> list(String path) throws StoreException {
            if (!path.equals("/memories")) throw new StoreException.NotFound();
            return List.of(new Entry("/memories/a", 3L));
        }

        @Override
        public void write(String path, byte[] content, boolean overwrite) {
            throw new IllegalStateException("the table is gone");
        }

        @Override
        public void update(String path, Edit edit) throws StoreException {
            edit.apply("one".getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void delete(String path) {}

        @Override
        public void rename(String source, String destination) {}
    }

    @Test
    void theCauseOfAnExceptionIsWhatTheStoreThrew() throws MemdirException {
        BrokenStore store = new BrokenStore();
        try (Memory memory = new Memory(store)) {
            MemdirException.Store error =
                    assertThrows(MemdirException.Store.class, () -> memory.create("/memories/b", "x"));
            assertEquals("the table is gone", error.getCause().getMessage());
            assertTrue(error.getCause() instanceof IllegalStateException);
            error = assertThrows(MemdirException.Store.class, () -> memory.view("/memories/a"));
            assertTrue(error.getCause() instanceof StoreException.Failed);
            assertSame(store.cause, error.getCause().getCause());
            // Another failure does not have this cause.
            memory.close();
            assertNull(assertThrows(MemdirException.Store.class, () -> memory.view("/memories/a")).getCause());
        }
    }

    @Test
    void lambdasAreEnough(@TempDir Path place) throws MemdirException, StoreException {
        Store store = Memdir.openStore(place.resolve("memory"));
        store.write("/memories/a", new byte[] {'a'}, false);
        store.update("/memories/a", content -> "two".getBytes(StandardCharsets.UTF_8));
        Store copy = Memdir.openStore("memory:");
        assertEquals(1, Memdir.copy(store, copy, false, false, progress -> true).getFiles());
        assertEquals(1, Memdir.copy(store, copy).getEqual());
        assertNull(Memdir.checkContract(JavaTest::open));
        Store mounted =
                Memdir.openMounts(List.of(new Mount("/memories", "memory:"), new Mount("/memories/a", store, true)));
        List<MemdirException> broken = new ArrayList<>();
        List<Change> changes = new ArrayList<>();
        try (Memory memory = new Memory(mounted, new MemoryOptions());
                Subscription subscription = memory.observe(changes::add)) {
            MemdirHandler handler = new MemdirHandler(memory, broken::add);
            assertEquals("File created successfully at: /memories/b", handler.create("/memories/b", "one"));
            subscription.cancel();
            assertTrue(handler.view("/memories/b", Optional.empty()).endsWith("1\tone"));
        }
        assertEquals(List.of(new Change(ChangeKind.WRITTEN, "/memories/b", null)), changes);
        assertTrue(broken.isEmpty());
    }

    private static Store open() throws StoreException {
        try {
            return Memdir.openStore("memory:");
        } catch (MemdirException error) {
            throw new StoreException.Failed(error.reply().getContent());
        }
    }

    @Test
    void hooksAndExecute() throws MemdirException {
        List<String> told = new ArrayList<>();
        MemoryHooks hooks =
                new MemoryHooks() {
                    @Override
                    public HookDecision before(Command command, HookCall call) throws HookException {
                        if (command instanceof Command.Delete) return new HookDecision.Deny("Not here.");
                        return HookDecision.Allow.INSTANCE;
                    }

                    @Override
                    public void after(Event event) {
                        told.add(event.getCommand());
                    }
                };
        try (Memory memory = new Memory("memory:", new MemoryOptions(), hooks)) {
            Reply reply = memory.execute("{\"command\": \"delete\", \"path\": \"/memories/a\"}");
            assertTrue(reply.isError() && reply.getContent().equals("Not here."));
        }
        assertEquals(List.of("delete"), told);
        // Java has one type of hooks, so null is not ambiguous.
        try (Memory memory = new Memory("memory:", new MemoryOptions(), null)) {
            assertTrue(memory.execute("{\"command\": \"delete\", \"path\": \"/memories/a\"}").isError());
        }
    }

    /** Compiles only if the exception is declared. */
    @Test
    void whatAClosedMemoryThrowsIsDeclared() throws MemdirException {
        Memory memory = new Memory("memory:");
        memory.close();
        try {
            memory.toolDefinition();
            fail();
        } catch (MemdirException.Store closed) {
            assertEquals(closed.getAnswer(), memory.execute("{}").getContent());
            assertEquals(closed.getAnswer(), memory.executeSearch("{}").getContent());
        }
        assertThrows(MemdirException.Store.class, () -> memory.toolDefinition(Dialect.OPEN_AI));
        assertThrows(MemdirException.Store.class, memory::forgetViews);
        assertThrows(MemdirException.Store.class, () -> memory.observe(change -> {}));
        List<String> neverThrow = List.of("close", "execute", "executeSearch", "executeView");
        for (Method method : Memory.class.getDeclaredMethods()) {
            int modifiers = method.getModifiers();
            boolean shown = Modifier.isPublic(modifiers) && !Modifier.isStatic(modifiers) && !method.getName().contains("$");
            if (shown && !neverThrow.contains(method.getName())) {
                assertEquals(List.of(MemdirException.class), List.of(method.getExceptionTypes()), method.toString());
            }
        }
    }

    /** The members that code completion shows. */
    @Test
    void plumbingIsNotShown() {
        List<String> shown =
                Arrays.stream(Memory.class.getMethods())
                        .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                        .map(Method::getName)
                        .filter(name -> name.toLowerCase().contains("uniffi") && !name.contains("$"))
                        .toList();
        assertEquals(List.of(), shown);
    }
}
