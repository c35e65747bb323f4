package io.github.openchronoscope.arm40;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Loads the native library, once.
 *
 * <p>System property {@code chronoscope.arm40.library}: the absolute path of
 * {@code libchronoscope_arm40.so}. Else the one in the jar is unpacked, with {@code libarm4.so},
 * into a folder under {@code java.io.tmpdir} that only this user may read, and removed once it is
 * loaded. Else {@code java.library.path} is searched. The linker takes a {@code libarm4.so} that
 * the process has loaded already, or that {@code LD_LIBRARY_PATH} names, before the one beside: a
 * program whose C parts measure too has one ring.
 */
final class NativeLibrary {
    private static final String NAME = "chronoscope_arm40";
    private static final String PROPERTY = "chronoscope.arm40.library";
    private static final String[] FILES = {"libarm4.so", "lib" + NAME + ".so"};

    private NativeLibrary() {}

    /** Loads the library. A failure is logged once; the application continues. */
    static boolean load() {
        try {
            String path = System.getProperty(PROPERTY);
            if (path != null) {
                System.load(path);
            } else if (NativeLibrary.class.getResource(resource(FILES[1])) != null) {
                loadUnpacked();
            } else {
                System.loadLibrary(NAME);
            }
            return true;
        } catch (IOException | RuntimeException | LinkageError error) {
            System.getLogger("io.github.openchronoscope.arm40").log(Level.WARNING,
                    "no ARM measurements: the native library cannot be loaded (" + PROPERTY
                    + " may name it; java.io.tmpdir must allow execution): " + error);
            return false;
        }
    }

    private static String resource(String file) {
        return "native/" + System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT) + "-"
                + System.getProperty("os.arch") + "/" + file;
    }

    private static void loadUnpacked() throws IOException {
        Path folder = Files.createTempDirectory("chronoscope-arm40-");
        try {
            for (String file : FILES) {
                try (InputStream in = NativeLibrary.class.getResourceAsStream(resource(file))) {
                    if (in == null) {
                        throw new IOException("the jar lacks " + resource(file));
                    }
                    Files.copy(in, folder.resolve(file));
                }
            }
            System.load(folder.resolve(FILES[1]).toString());
        } finally {
            for (String file : FILES) {
                Files.deleteIfExists(folder.resolve(file));
            }
            Files.deleteIfExists(folder);
        }
    }
}
