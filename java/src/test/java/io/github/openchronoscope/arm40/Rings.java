package io.github.openchronoscope.arm40;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reads rings and stores with the program {@code chronoscope}, as an operator would. */
final class Rings {
    static final Path PROGRAM = Path.of(System.getProperty("chronoscope.program"));
    private static final int LAST = 4000;

    private Rings() {}

    /** Ended transactions of this process, of one class, oldest first. */
    static List<JsonObject> own(String className) {
        String pid = Long.toString(ProcessHandle.current().pid());
        return of(run("live", pid, "--last", Integer.toString(LAST), "--json"), "last", className);
    }

    /** The only ended transaction of this process of a class. */
    static JsonObject only(String className) {
        List<JsonObject> all = own(className);
        assertEquals(1, all.size(), () -> className + ": " + all);
        return all.get(0);
    }

    /** Ended transactions of all rings of a folder, of one class. */
    static List<JsonObject> in(Path folder, String className) {
        return of(run("live", "--rings", folder.toString(), "--last", Integer.toString(LAST),
                "--json"), "last", className);
    }

    /** Transactions of all rings of a folder that have not ended, of one class. */
    static List<JsonObject> openIn(Path folder, String className) {
        return of(run("live", "--rings", folder.toString(), "--open", "--json"), "open", className);
    }

    private static List<JsonObject> of(String json, String list, String className) {
        List<JsonObject> found = new ArrayList<>();
        JsonArray rings = JsonParser.parseString(json).getAsJsonObject().getAsJsonArray("rings");
        for (JsonElement ring : rings) {
            for (JsonElement each : ring.getAsJsonObject().getAsJsonArray(list)) {
                JsonObject transaction = each.getAsJsonObject();
                if (transaction.get("class").getAsString().equals(className)) {
                    found.add(transaction);
                }
            }
        }
        return found;
    }

    static String text(JsonObject object, String key) {
        JsonElement value = object.get(key);
        return value == null || value.isJsonNull() ? null : value.getAsString();
    }

    /** Runs the program to its end; what it prints. */
    static String run(String... arguments) {
        List<String> command = new ArrayList<>(List.of(PROGRAM.toString()));
        command.addAll(List.of(arguments));
        return run(command);
    }

    /** Runs a command to its end, which must be a good one; what it prints. */
    static String run(List<String> command) {
        try {
            Path out = Files.createTempFile("chronoscope-test", ".out");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
                if (!process.waitFor(60, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    fail(command + " does not end");
                }
                assertEquals(0, process.exitValue(), command.toString());
                return Files.readString(out);
            } finally {
                Files.delete(out);
            }
        } catch (IOException | InterruptedException error) {
            throw new AssertionError(command.toString(), error);
        }
    }
}
