package com.chronoscope.sle.utl;

import java.lang.management.ManagementFactory;

/** Lines of JSON on standard output, one an event. */
final class Say {
    private Say() {}

    /** Prints {@code {"event": event, name: value...}}; strings are quoted, the rest is not. */
    static synchronized void event(String event, Object... pairs) {
        StringBuilder line = new StringBuilder("{\"event\":").append(quoted(event));
        for (int i = 0; i < pairs.length; i += 2) {
            Object value = pairs[i + 1];
            line.append(',').append(quoted(pairs[i].toString())).append(':')
                    .append(value instanceof String ? quoted((String) value) : value);
        }
        System.out.println(line.append('}'));
        System.out.flush();
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                default -> out.append(c < ' ' ? ' ' : c);
            }
        }
        return out.append('"').toString();
    }

    /** CPU time of this process, in nanoseconds. */
    static long cpuNs() {
        return ((com.sun.management.OperatingSystemMXBean)
                ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
