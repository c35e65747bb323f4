package com.chronoscope.sle.utl;

import eu.dariolucia.ccsds.sle.utl.si.IServiceInstanceListener;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstanceBindingStateEnum;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstanceState;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** Follows a service instance: its state, what came, what went wrong. */
final class Watch implements IServiceInstanceListener {
    private final BiConsumer<String, Object> received;
    private final Map<String, Long> counts = new TreeMap<>();
    private ServiceInstanceBindingStateEnum state = ServiceInstanceBindingStateEnum.UNBOUND;
    private String fault;

    /** @param received is told of every PDU and its name, in the library's thread */
    Watch(BiConsumer<String, Object> received) {
        this.received = received;
    }

    /** Waits until the instance is in a state; an error of the library ends the wait. */
    synchronized void await(ServiceInstanceBindingStateEnum wanted, int seconds)
            throws InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (state != wanted) {
            require();
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new IllegalStateException("is " + state + ", not " + wanted);
            }
            wait(left);
        }
    }

    /** Waits until a PDU came so many times. */
    synchronized void awaitPdu(String name, long times, int seconds) throws InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (count(name) < times) {
            require();
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new IllegalStateException(name + " came " + count(name) + " times");
            }
            wait(left);
        }
    }

    /** Throws what went wrong, if anything did. */
    synchronized void require() {
        if (fault != null) {
            throw new IllegalStateException(fault);
        }
    }

    synchronized ServiceInstanceBindingStateEnum state() {
        return state;
    }

    synchronized long count(String name) {
        return counts.getOrDefault(name, 0L);
    }

    synchronized Map<String, Long> counts() {
        return new TreeMap<>(counts);
    }

    private synchronized void fail(String what) {
        if (fault == null) {
            fault = what;
        }
        notifyAll();
    }

    @Override
    public synchronized void onStateUpdated(ServiceInstance instance, ServiceInstanceState now) {
        state = now.getState();
        if (now.getLastError() != null) {
            fail(now.getLastError());
        }
        notifyAll();
    }

    @Override
    public void onPduReceived(ServiceInstance instance, Object pdu, String name, byte[] octets) {
        received.accept(name, pdu); // first: who waits for the count wants what it made of it
        synchronized (this) {
            counts.merge(name, 1L, Long::sum);
            notifyAll();
        }
    }

    @Override
    public void onPduSent(ServiceInstance instance, Object pdu, String name, byte[] octets) {
        // What was sent is known.
    }

    @Override
    public void onPduSentError(ServiceInstance instance, Object pdu, String name, byte[] octets,
            String error, Exception exception) {
        fail("sending " + name + ": " + error);
    }

    @Override
    public void onPduDecodingError(ServiceInstance instance, byte[] octets) {
        fail("could not decode " + java.util.HexFormat.of().formatHex(octets));
    }

    @Override
    public void onPduHandlingError(ServiceInstance instance, Object pdu, byte[] octets) {
        fail("could not handle " + pdu);
    }
}
