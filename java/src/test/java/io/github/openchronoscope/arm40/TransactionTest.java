package io.github.openchronoscope.arm40;

import static io.github.openchronoscope.arm40.Rings.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmIdentityPropertiesTransaction;
import org.opengroup.arm40.transaction.ArmTransaction;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;
import org.opengroup.arm40.transaction.ArmUser;

/** What is measured arrives in the ring, as it was. */
class TransactionTest {
    private static final Arm ARM = new Arm("Orders");

    @Test
    void everyStatusArrives() {
        int[] statuses = {ArmConstants.STATUS_GOOD, ArmConstants.STATUS_ABORT,
            ArmConstants.STATUS_FAILED, ArmConstants.STATUS_UNKNOWN};
        ArmTransaction transaction = ARM.newTransaction("statuses");
        assertEquals(ArmConstants.STATUS_INVALID, transaction.getStatus());
        for (int status : statuses) {
            assertEquals(0, transaction.start());
            assertEquals(ArmConstants.STATUS_INVALID, transaction.getStatus());
            assertEquals(0, transaction.stop(status));
            assertEquals(status, transaction.getStatus());
        }
        List<String> names = new ArrayList<>();
        for (JsonObject each : Rings.own("statuses")) {
            names.add(text(each, "status"));
            assertEquals("Orders", text(each, "application"));
            assertNull(text(each, "parent"));
        }
        assertEquals(List.of("GOOD", "ABORTED", "FAILED", "UNKNOWN"), names);
    }

    @Test
    void correlatorsMakeOneChain() {
        ArmTransaction root = ARM.newTransaction("chain root");
        ArmTransaction byObject = ARM.newTransaction("chain by object");
        ArmTransaction byBytes = ARM.newTransaction("chain by bytes");
        assertNull(root.getCorrelator());
        root.start();
        ArmCorrelator sent = root.getCorrelator();
        assertEquals(0, byObject.start(sent));
        assertSame(sent, byObject.getParentCorrelator());
        byte[] message = new byte[7 + byObject.getCorrelator().getLength()];
        assertTrue(byObject.getCorrelator().copyBytes(message, 7));
        assertEquals(0, byBytes.start(message, 7));
        assertEquals(byObject.getCorrelator(), byBytes.getParentCorrelator());
        byBytes.stop(ArmConstants.STATUS_GOOD);
        byObject.stop(ArmConstants.STATUS_GOOD);
        root.stop(ArmConstants.STATUS_GOOD);
        assertSame(sent, root.getCorrelator());

        JsonObject first = Rings.only("chain root");
        JsonObject second = Rings.only("chain by object");
        JsonObject third = Rings.only("chain by bytes");
        assertEquals(text(first, "id"), text(second, "parent"));
        assertEquals(text(second, "id"), text(third, "parent"));
        assertEquals(text(first, "chain"), text(third, "chain"));
        assertEquals(2, third.get("level").getAsInt());
    }

    @Test
    void anotherStartIsAnotherTransaction() {
        ArmTransaction transaction = ARM.newTransaction("again");
        transaction.start();
        ArmCorrelator first = transaction.getCorrelator();
        transaction.stop(ArmConstants.STATUS_GOOD);
        transaction.start();
        assertNotEquals(first, transaction.getCorrelator());
        transaction.stop(ArmConstants.STATUS_GOOD);
        assertEquals(2, Rings.own("again").size());
    }

    @Test
    void resetLeavesNothing() {
        ArmTransaction transaction = ARM.newTransaction("reset");
        transaction.start();
        assertEquals(0, transaction.reset());
        assertNull(transaction.getCorrelator());
        assertEquals(ErrorCode.NOT_STARTED.code(), transaction.stop(ArmConstants.STATUS_GOOD));
        assertEquals(0, transaction.reset());
        assertEquals(0, Rings.own("reset").size());
    }

    @Test
    void contextAndUserArrive() {
        ArmIdentityPropertiesTransaction properties =
                ARM.transactions.newArmIdentityPropertiesTransaction(
                        new String[] {"tier"}, new String[] {"gold"},
                        new String[] {"flight", null, "größe"}, null);
        ArmTransactionDefinition definition = ARM.transactions.newArmTransactionDefinition(
                ARM.definition, "with context", properties, null);
        ArmTransaction transaction =
                ARM.transactions.newArmTransaction(ARM.application, definition);
        ArmUser user = ARM.transactions.newArmUser("Ada", null);
        assertEquals(0, transaction.setContextValue(0, "DLH4T"));
        assertEquals(ErrorCode.CONTEXT_NAME.code(), transaction.setContextValue(1, "no name"));
        assertEquals(0, transaction.setContextValue(2, "1 €\ud83d\ude00"));
        assertEquals(0, transaction.setContextURIValue("/plots?radar=7"));
        assertEquals(0, transaction.setUser(user));
        assertEquals(0, transaction.start());
        assertEquals(0, transaction.stop(ArmConstants.STATUS_FAILED, "no such radar"));
        assertEquals("DLH4T", transaction.getContextValue(0));
        assertEquals("/plots?radar=7", transaction.getContextURIValue());
        assertSame(user, transaction.getUser());

        JsonObject said = Rings.only("with context").getAsJsonObject("properties");
        assertEquals("DLH4T", text(said, "flight"));
        assertEquals("1 €\ud83d\ude00", text(said, "größe"));
        assertEquals("gold", text(said, "tier"));
        assertEquals("/plots?radar=7", text(said, "uri"));
        assertEquals("Ada", text(said, "user"));
        assertEquals("no such radar", text(said, "diag"));
    }

    /** What is said before start() counts for it; what is taken back does not. */
    @Test
    void contextIsOfTheInstance() {
        ArmIdentityPropertiesTransaction properties =
                ARM.transactions.newArmIdentityPropertiesTransaction(
                        null, null, new String[] {"round"}, null);
        ArmTransactionDefinition definition = ARM.transactions.newArmTransactionDefinition(
                ARM.definition, "rounds", properties, null);
        ArmTransaction transaction =
                ARM.transactions.newArmTransaction(ARM.application, definition);
        for (String round : new String[] {"1", "2", null}) {
            transaction.setContextValue(0, round);
            transaction.start();
            transaction.stop(ArmConstants.STATUS_GOOD);
        }
        List<String> rounds = new ArrayList<>();
        for (JsonObject each : Rings.own("rounds")) {
            rounds.add(text(each.getAsJsonObject("properties"), "round"));
        }
        List<String> expected = new ArrayList<>(List.of("1", "2"));
        expected.add(null);
        assertEquals(expected, rounds);
    }

    @Test
    void arrivalTimeIsTheStart() throws InterruptedException {
        ArmTransaction transaction = ARM.newTransaction("arrived");
        assertEquals(0, transaction.setArrivalTime());
        Thread.sleep(200);
        transaction.start();
        transaction.stop(ArmConstants.STATUS_GOOD);
        transaction.start(); // an arrival counts once
        transaction.stop(ArmConstants.STATUS_GOOD);
        List<JsonObject> both = Rings.own("arrived");
        assertTrue(both.get(0).get("elapsed_ns").getAsLong() >= 200_000_000, both.toString());
        long firstEnd = both.get(0).get("start_ns").getAsLong()
                + both.get(0).get("elapsed_ns").getAsLong();
        assertTrue(both.get(1).get("start_ns").getAsLong() >= firstEnd - 20_000_000);
        assertTrue(both.get(1).get("elapsed_ns").getAsLong()
                < both.get(0).get("elapsed_ns").getAsLong());
    }

    @Test
    void blockingBindingAndUpdating() throws InterruptedException {
        ArmTransaction transaction = ARM.newTransaction("blocked");
        transaction.start();
        assertEquals(0, transaction.bindThread());
        long first = transaction.blocked();
        long second = transaction.blocked();
        assertNotEquals(first, second);
        assertEquals(0, transaction.getErrorCode());
        assertEquals(0, transaction.unblocked(first));
        assertTrue(transaction.unblocked(first) < 0, "twice");
        assertEquals(0, transaction.update());
        assertEquals(0, transaction.unbindThread());
        assertTrue(transaction.unbindThread() < 0, "twice");
        assertEquals(0, transaction.stop(ArmConstants.STATUS_GOOD)); // unblocks the other
        Rings.only("blocked");
    }

    @Test
    void flagsOfCorrelators() {
        ArmTransaction transaction = ARM.newTransaction("flags");
        assertEquals(0, transaction.setTraceRequested(true));
        assertTrue(transaction.isTraceRequested());
        transaction.start();
        ArmCorrelator sent = transaction.getCorrelator();
        assertTrue(sent.isApplicationTrace());
        assertEquals(false, sent.isAsynchronous() || sent.isIndependentTran());
        assertEquals(0, sent.setAsynchronous(true));
        assertEquals(0, sent.setIndependentTran(true));
        assertTrue(sent.isAsynchronous() && sent.isIndependentTran());
        ArmTransaction child = ARM.newTransaction("flags child");
        child.start(sent);
        child.stop(ArmConstants.STATUS_GOOD);
        assertEquals(0, sent.setAsynchronous(false));
        assertTrue(!sent.isAsynchronous() && sent.isIndependentTran());
        transaction.stop(ArmConstants.STATUS_GOOD);
        int flags = Rings.only("flags child").get("flags").getAsInt();
        int plain = Rings.only("flags").get("flags").getAsInt();
        assertEquals(2, Integer.bitCount(flags & ~plain), () -> "" + flags);
    }

    @Test
    void traceparentThereAndBack() {
        String header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        ArmCorrelator received = Traceparent.toCorrelator(header);
        assertEquals(0, received.getErrorCode());
        ArmTransaction transaction = ARM.newTransaction("under a traceparent");
        transaction.start(received);
        String sent = Traceparent.of(transaction.getCorrelator());
        transaction.stop(ArmConstants.STATUS_GOOD);
        JsonObject stored = Rings.only("under a traceparent");
        assertEquals("4bf92f3577b34da6a3ce929d0e0e4736", text(stored, "chain"));
        assertEquals("00f067aa0ba902b7", text(stored, "parent"));
        assertEquals("00-" + text(stored, "chain") + "-" + text(stored, "id"),
                sent.substring(0, 52));
        assertTrue(Traceparent.toCorrelator("00-4bf9").getErrorCode() < 0);
        assertTrue(Traceparent.toCorrelator(null).getErrorCode() < 0);
        assertNull(Traceparent.of(null));
    }

    /** Children in many threads, each under its own parent: none is lost, none is mixed up. */
    @Test
    void manyThreads() throws InterruptedException {
        int threadCount = 12;
        int rounds = 100;
        ArmTransactionDefinition outer = ARM.define("thread root");
        ArmTransactionDefinition inner = ARM.define("thread child");
        Set<String> pairs = Collections.synchronizedSet(new HashSet<>());
        ExecutorService threads = Executors.newFixedThreadPool(threadCount);
        for (int i = 0; i < threadCount; i++) {
            threads.execute(() -> {
                ArmTransaction root = ARM.transactions.newArmTransaction(ARM.application, outer);
                ArmTransaction child = ARM.transactions.newArmTransaction(ARM.application, inner);
                for (int round = 0; round < rounds; round++) {
                    root.start();
                    child.start(root.getCorrelator().getBytes());
                    pairs.add(Traceparent.of(root.getCorrelator()).substring(3, 52));
                    child.stop(ArmConstants.STATUS_GOOD);
                    root.stop(ArmConstants.STATUS_GOOD);
                }
            });
        }
        threads.shutdown();
        assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
        Set<String> arrived = new HashSet<>();
        for (JsonObject child : Rings.own("thread child")) {
            arrived.add(text(child, "chain") + "-" + text(child, "parent"));
        }
        assertEquals(threadCount * rounds, pairs.size());
        assertEquals(pairs, arrived);
        assertEquals(threadCount * rounds, Rings.own("thread root").size());
    }

    /** Started by one thread, stopped by another. */
    @Test
    void changesThreads() throws InterruptedException {
        ArmTransaction transaction = ARM.newTransaction("handed over");
        transaction.start();
        Thread other = new Thread(() -> transaction.stop(ArmConstants.STATUS_GOOD));
        other.start();
        other.join();
        assertEquals(0, transaction.getErrorCode());
        assertNotNull(Rings.only("handed over"));
    }

    /** A class that an operator switches off: nothing is recorded, the chain holds together. */
    @Test
    void switchedOffFromOutside() {
        ArmTransaction root = ARM.newTransaction("above the switched");
        ArmTransaction middle = ARM.newTransaction("switched");
        ArmTransaction child = ARM.newTransaction("below the switched");
        assertEquals(0, middle.start());
        assertEquals(0, middle.stop(ArmConstants.STATUS_GOOD)); // the ring knows it now
        String pid = Long.toString(ProcessHandle.current().pid());
        Rings.run("live", pid, "--disable", "switched");
        root.start();
        assertEquals(0, middle.start(root.getCorrelator()));
        assertEquals(0, child.start(middle.getCorrelator()));
        assertEquals(0, child.stop(ArmConstants.STATUS_GOOD));
        assertEquals(0, middle.update());
        assertEquals(0, middle.stop(ArmConstants.STATUS_GOOD));
        assertEquals(0, middle.start());
        assertNotNull(middle.getCorrelator());
        assertEquals(0, middle.stop(ArmConstants.STATUS_GOOD));
        root.stop(ArmConstants.STATUS_GOOD);
        assertEquals(1, Rings.own("switched").size());
        assertEquals(text(Rings.only("above the switched"), "id"),
                text(Rings.only("below the switched"), "parent"));
    }

    /** end() discards what is executing, and nothing works afterwards. */
    @Test
    void endOfAnApplication() {
        Arm own = new Arm("Ending");
        ArmTransaction open = own.newTransaction("open at the end");
        ArmTransaction late = own.newTransaction("late");
        open.start();
        assertEquals(0, own.application.end());
        assertEquals(ErrorCode.ENDED.code(), open.stop(ArmConstants.STATUS_GOOD));
        assertEquals(ErrorCode.ENDED.code(), late.start());
        assertEquals(ErrorCode.ENDED.code(), own.application.end());
        own.definition.destroy();
        assertEquals(0, own.definition.getErrorCode());
        assertEquals(ErrorCode.INVALID_OBJECT.code(), late.start());
        assertEquals(0, Rings.own("open at the end").size());
        assertEquals(0, Rings.own("late").size());
    }
}
