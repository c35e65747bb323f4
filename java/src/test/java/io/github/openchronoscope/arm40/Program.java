package io.github.openchronoscope.arm40;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmTransaction;

/** A measured program of its own, for tests that need a second process. */
final class Program {
    static final int ENDED = 1000;
    /** Objects that {@code drop} drops, after as many to get warm. */
    static final int DROPPED = 300_000;

    private Program() {}

    /** Starts this class in a JVM of its own, with its ring in a folder. */
    static Process spawn(Path rings, List<String> options, String... arguments)
            throws IOException {
        List<String> command = new java.util.ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m"));
        command.addAll(options);
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), Program.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("CHRONOSCOPE_DIR", rings.toString());
        return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** The next line that a process prints. */
    static String line(Process process) throws IOException {
        return reader(process).readLine();
    }

    private static BufferedReader reader(Process process) {
        return process.inputReader();
    }

    /**
     * Runs one program.
     *
     * @param arguments {@code child HEX}: one transaction under a correlator, prints its own;
     *     {@code hang}: some that end, one that does not, prints {@code ready} and waits for input;
     *     {@code drop}: makes and drops many objects, prints by how many bytes the process grew;
     *     {@code not loaded}: expects that nothing works and nothing breaks
     */
    public static void main(String[] arguments) throws IOException {
        Arm arm = new Arm("Peer");
        switch (arguments[0]) {
            case "child":
                ArmTransaction child = arm.newTransaction("peer child");
                int result = child.start(HexFormat.of().parseHex(arguments[1]));
                System.out.println(HexFormat.of().formatHex(child.getCorrelator().getBytes()));
                System.exit(result == 0 && child.stop(ArmConstants.STATUS_GOOD) == 0 ? 0 : 1);
                break;
            case "hang":
                ArmTransaction ended = arm.newTransaction("ended");
                for (int i = 0; i < ENDED; i++) {
                    ended.start();
                    ended.stop(ArmConstants.STATUS_GOOD);
                }
                arm.newTransaction("open").start();
                System.out.println("ready");
                new BufferedReader(new InputStreamReader(System.in)).readLine();
                break;
            case "drop":
                drop(arm);
                long before = residentBytes();
                drop(arm);
                System.out.println(residentBytes() - before);
                break;
            case "not loaded":
                ArmTransaction nothing = arm.newTransaction("nothing");
                boolean isHarmless = nothing.start() == ErrorCode.NOT_LOADED.code()
                        && nothing.setArrivalTime() < 0
                        && nothing.stop(ArmConstants.STATUS_GOOD) < 0
                        && nothing.getCorrelator() == null
                        && nothing.getErrorMessage(nothing.getErrorCode()) != null
                        && Traceparent.toCorrelator("00").getErrorCode() < 0;
                System.exit(isHarmless ? 0 : 1);
                break;
            default:
                System.exit(2);
        }
    }

    private static void drop(Arm arm) {
        for (int i = 0; i < DROPPED; i++) {
            ArmTransaction dropped = arm.newTransaction("dropped");
            dropped.start();
            dropped.stop(ArmConstants.STATUS_GOOD, "detail");
        }
    }

    private static long residentBytes() throws IOException {
        String pages = Files.readString(Path.of("/proc/self/statm")).split(" ")[1];
        return Long.parseLong(pages) * 4096;
    }
}
