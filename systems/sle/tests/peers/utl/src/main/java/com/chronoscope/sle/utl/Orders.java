package com.chronoscope.sle.utl;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Many sessions, one after the other or at a time, by orders on standard input:
 * {@code SESSION ORDER ARGUMENT...}. The first order of a session makes it ({@code user} or
 * {@code provider}, service, settings), {@code forget} ends it. {@code save FILE} and what would
 * make a session write it as a configuration file of the library instead. Each order is answered by
 * {@code done} or {@code failed}; what happens meanwhile is said as it happens. Ends with its input.
 */
final class Orders {
    private final Map<String, Session> sessions = new HashMap<>();

    void run() throws IOException {
        BufferedReader lines = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.trim().split(" +");
            if (words.length < 2) {
                System.err.println("utl: no order: " + line);
                continue;
            }
            String[] order = Arrays.copyOfRange(words, 1, words.length);
            sessions.computeIfAbsent(words[0], Session::new).order(order);
            if (order[0].equals("forget")) {
                sessions.remove(words[0]);
            }
        }
    }
}
