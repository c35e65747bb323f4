package com.chronoscope.sle.utl;

import eu.dariolucia.ccsds.sle.generated.ccsds.sle.transfer.service.raf.outgoing.pdus.RafTransferDataInvocation;
import eu.dariolucia.ccsds.sle.generated.ccsds.sle.transfer.service.rcf.outgoing.pdus.RcfTransferDataInvocation;
import eu.dariolucia.ccsds.sle.generated.ccsds.sle.transfer.service.rocf.outgoing.pdus.RocfTransferDataInvocation;
import eu.dariolucia.ccsds.sle.utl.si.IServiceInstanceListener;
import eu.dariolucia.ccsds.sle.utl.si.PeerAbortReasonEnum;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstanceBindingStateEnum;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstanceState;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** One session of {@link Orders}: its orders one after the other, in a thread of its own. */
final class Session implements IServiceInstanceListener {
    private final String name;
    private final ExecutorService orders;
    private Part part;
    private ServiceInstanceBindingStateEnum state = ServiceInstanceBindingStateEnum.UNBOUND;

    /** What a service instance is told to do; throws where it is not of its service or role. */
    interface Part {
        ServiceInstance instance();

        void order(String[] words) throws Exception;
    }

    Session(String name) {
        this.name = name;
        orders = Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    void order(String[] words) {
        orders.execute(() -> {
            try {
                obey(words);
                say("done", "order", words[0]);
            } catch (Exception e) {
                say("failed", "order", words[0], "why", String.valueOf(e.getMessage()));
            }
        });
    }

    private void obey(String[] words) throws Exception {
        switch (words[0]) {
            case "user" -> part = new UserPart(new Settings(words), this);
            case "provider" -> part = new ProviderPart(new Settings(words), this);
            case "abort" -> part.instance().peerAbort(PeerAbortReasonEnum.valueOf(words[1]));
            case "save" -> new Settings(Arrays.copyOfRange(words, 2, words.length))
                    .save(Path.of(words[1]));
            case "forget" -> {
                if (part != null) {
                    part.instance().dispose();
                }
                orders.shutdown();
            }
            default -> part.order(words);
        }
    }

    /** Says what happened in this session. */
    void say(String event, Object... pairs) {
        Object[] all = Arrays.copyOf(new Object[] {"session", name}, pairs.length + 2);
        System.arraycopy(pairs, 0, all, 2, pairs.length);
        Say.event(event, all);
    }

    @Override
    public synchronized void onStateUpdated(ServiceInstance instance, ServiceInstanceState now) {
        if (now.getLastError() != null) {
            say("error", "why", now.getLastError());
        }
        if (state != now.getState()) {
            state = now.getState();
            say("state", "state", state.toString());
        }
    }

    @Override
    public void onPduReceived(ServiceInstance instance, Object pdu, String operation,
            byte[] octets) {
        if (pdu instanceof RafTransferDataInvocation frame) {
            frame(frame.getData().value, frame.getDeliveredFrameQuality().intValue());
        } else if (pdu instanceof RcfTransferDataInvocation frame) {
            frame(frame.getData().value, -1);
        } else if (pdu instanceof RocfTransferDataInvocation field) {
            frame(field.getData().value, -1);
        } else {
            say("pdu", "name", operation, "text", pdu.toString());
        }
    }

    private void frame(byte[] octets, int quality) {
        say("frame", "quality", quality, "octets", HexFormat.of().formatHex(octets));
    }

    @Override
    public void onPduSent(ServiceInstance instance, Object pdu, String operation, byte[] octets) {
        // What was sent was ordered.
    }

    @Override
    public void onPduSentError(ServiceInstance instance, Object pdu, String operation,
            byte[] octets, String error, Exception exception) {
        say("error", "why", "sending " + operation + ": " + error);
    }

    @Override
    public void onPduDecodingError(ServiceInstance instance, byte[] octets) {
        say("error", "why", "could not decode " + HexFormat.of().formatHex(octets));
    }

    @Override
    public void onPduHandlingError(ServiceInstance instance, Object pdu, byte[] octets) {
        say("error", "why", "could not handle " + pdu);
    }
}
