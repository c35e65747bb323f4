package io.github.openchronoscope.arm40;

import static io.github.openchronoscope.arm40.Rings.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmTransaction;

/** Several processes, their deaths, and the way into the store. */
class ProcessTest {
    private static final Arm ARM = new Arm("Front");

    /**
     * A message goes from this JVM to a program in C, from there to another JVM; all is collected
     * into a store, where it is one chain.
     */
    @Test
    void oneChainAcrossJavaAndC(@TempDir Path folder) throws Exception {
        Path peer = compile(folder);
        Path rings = Path.of(System.getenv("CHRONOSCOPE_DIR"));
        ArmTransaction root = ARM.newTransaction("front");
        root.start();
        String toC = HexFormat.of().formatHex(root.getCorrelator().getBytes());
        String toJava = Rings.run(List.of(peer.toString(), toC)).strip();
        Process java = Program.spawn(rings, List.of(), "child", toJava);
        assertTrue(Program.line(java).length() >= 8);
        assertEquals(0, java.waitFor());
        root.stop(ArmConstants.STATUS_GOOD);

        Path data = folder.resolve("data");
        Rings.run("serve", "--rings", rings.toString(), "--data", data.toString(), "--duration",
                "1s", "--quiet");
        JsonObject front = Rings.only("front");
        JsonElement chain = JsonParser.parseString(Rings.run(
                "chain", "--data", data.toString(), "--json", text(front, "chain")));
        List<JsonObject> all = transactionsIn(chain, new ArrayList<>());
        assertEquals(3, all.size(), chain.toString());
        JsonObject c = ofClass(all, "c peer");
        JsonObject child = ofClass(all, "peer child");
        assertEquals(text(front, "id"), text(c, "parent"));
        assertEquals(text(c, "id"), text(child, "parent"));
        assertEquals("Peer", text(child, "application"));
        assertEquals("C", text(c, "application"));
        assertEquals(2, child.get("level").getAsInt());
    }

    /** All objects of a document that have the fields of a transaction. */
    private static List<JsonObject> transactionsIn(JsonElement value, List<JsonObject> found) {
        if (value instanceof JsonArray) {
            value.getAsJsonArray().forEach(each -> transactionsIn(each, found));
        } else if (value instanceof JsonObject) {
            JsonObject object = value.getAsJsonObject();
            if (object.has("parent") && object.has("chain") && object.has("class")) {
                found.add(object);
            } else {
                object.entrySet().forEach(entry -> transactionsIn(entry.getValue(), found));
            }
        }
        return found;
    }

    private static JsonObject ofClass(List<JsonObject> all, String name) {
        return all.stream().filter(each -> name.equals(text(each, "class"))).findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not in " + all));
    }

    private static Path compile(Path folder) {
        Path home = Path.of(System.getProperty("arm4.home")).toAbsolutePath().normalize();
        Path program = folder.resolve("peer");
        String lib = home.resolve("lib").toString();
        Rings.run(List.of("cc", "-std=c11", "-Wall", "-Wextra", "-Werror",
                "-I" + home.resolve("include"), "src/test/c/peer.c", "-o", program.toString(),
                "-L" + lib, "-larm4", "-Wl,-rpath," + lib));
        return program;
    }

    @Test
    void aKilledJvmLeavesItsRing(@TempDir Path rings) throws Exception {
        Process java = Program.spawn(rings, List.of(), "hang");
        assertEquals("ready", Program.line(java));
        java.destroyForcibly(); // SIGKILL
        assertEquals(128 + 9, java.waitFor());
        assertEquals(Program.ENDED, Rings.in(rings, "ended").size());
        assertEquals(1, Rings.openIn(rings, "open").size());
    }

    @Test
    void withoutTheLibraryNothingHappens(@TempDir Path rings) throws Exception {
        Process java = Program.spawn(
                rings, List.of("-Dchronoscope.arm40.library=/nowhere/lib.so"), "not loaded");
        assertEquals(0, java.waitFor());
    }

    /** Definitions and transactions that are dropped leave no memory behind, in Java or in C. */
    @Test
    void droppedObjectsAreGone(@TempDir Path rings) throws Exception {
        List<String> fullHeap = List.of("-Xms64m", "-XX:+AlwaysPreTouch");
        Process java = Program.spawn(rings, fullHeap, "drop");
        long grown = Long.parseLong(Program.line(java));
        assertEquals(0, java.waitFor());
        // The heap has all its pages: 64 bytes kept for each of them would be twice as much.
        assertTrue(grown < 32L * Program.DROPPED, "grew by " + grown);
    }

    /** Each class loader has its copy of the binding; all have one recorder, which stays. */
    @Test
    void classLoadersComeAndGo(@TempDir Path folder) throws Exception {
        int tenants = 4;
        for (int i = 0; i < tenants; i++) {
            WeakReference<ClassLoader> gone = runTenant();
            for (int round = 0; round < 50 && gone.get() != null; round++) {
                System.gc();
                Thread.sleep(20);
            }
            assertNull(gone.get(), "the class loader is not collected");
        }
        assertEquals(tenants, Rings.own("tenant").size());
        theJvmKeepsItsSignals(folder);
    }

    private static WeakReference<ClassLoader> runTenant() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (Class<?> each : List.of(Transaction.class, Tenant.class)) {
            urls.add(each.getProtectionDomain().getCodeSource().getLocation());
        }
        ClassLoader platform = ClassLoader.getPlatformClassLoader();
        try (URLClassLoader own = new URLClassLoader(urls.toArray(new URL[0]), platform)) {
            Class<?> tenant = own.loadClass(Tenant.class.getName());
            assertNotSame(Tenant.class, tenant);
            ((Runnable) tenant.getDeclaredConstructor().newInstance()).run();
            return new WeakReference<>(own);
        }
    }

    /** The recorder has a handler for SIGBUS, and so has the JVM; each keeps its own. */
    @Test
    void theJvmKeepsItsSignals(@TempDir Path folder) throws IOException {
        ARM.newTransaction("signals").start();
        Path file = folder.resolve("mapped");
        Files.write(file, new byte[1 << 16]);
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            MappedByteBuffer mapped =
                    open.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, 1 << 16);
            open.setLength(0);
            assertThrows(InternalError.class, () -> {
                int sum = 0;
                for (int i = 0; i < 1 << 16; i += 4096) {
                    sum += mapped.get(i);
                }
                throw new AssertionError("read " + sum + " beyond the end");
            });
        }
        int[] none = null;
        assertThrows(NullPointerException.class, () -> none[0]++); // SIGSEGV, once compiled
    }
}
