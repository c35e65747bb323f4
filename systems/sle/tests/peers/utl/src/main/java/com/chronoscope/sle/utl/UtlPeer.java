package com.chronoscope.sle.utl;

import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/**
 * The SLE User Test Library as a program: {@code user|provider fcltu|raf NAME=VALUE...}, or
 * {@code orders}, for as many sessions of all its services as are asked for ({@link Orders}).
 *
 * <p>Says what happens in lines of JSON ({@code listening}, {@code bound}, {@code refused},
 * {@code done}, {@code stopped}, {@code unbound}, {@code ended}, {@code failed}). Exit code 0 after
 * a session that went as it should, 1 after one that did not, 2 for wrong arguments.
 */
public final class UtlPeer {
    private UtlPeer() {}

    /**
     * Runs one session.
     *
     * @param arguments role, service, settings
     */
    public static void main(String[] arguments) {
        LogManager.getLogManager().reset();
        Logger.getLogger("eu.dariolucia").setLevel(Level.OFF);
        if (arguments.length == 1 && arguments[0].equals("orders")) {
            try {
                new Orders().run();
                System.exit(0);
            } catch (java.io.IOException e) {
                System.err.println("utl: " + e.getMessage());
                System.exit(1);
            }
        }
        Settings settings;
        try {
            settings = new Settings(arguments);
            if (!settings.isRaf && !settings.service.equals("fcltu")) {
                throw new IllegalArgumentException(settings.service + " is for orders only");
            }
        } catch (IllegalArgumentException e) {
            System.err.println("utl: " + e.getMessage());
            System.exit(2);
            return;
        }
        try {
            if (settings.isUser) {
                new User(settings).run();
            } else {
                new Provider(settings).run();
            }
            System.exit(0);
        } catch (Exception e) {
            Say.event("failed", "why", String.valueOf(e.getMessage()));
            System.exit(1);
        }
    }
}
