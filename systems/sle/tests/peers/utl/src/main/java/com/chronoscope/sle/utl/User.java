package com.chronoscope.sle.utl;

import static eu.dariolucia.ccsds.sle.utl.si.ServiceInstanceBindingStateEnum.ACTIVE;
import static eu.dariolucia.ccsds.sle.utl.si.ServiceInstanceBindingStateEnum.READY;
import static eu.dariolucia.ccsds.sle.utl.si.ServiceInstanceBindingStateEnum.UNBOUND;
import static eu.dariolucia.ccsds.sle.utl.si.SleOperationNames.GET_PARAMETER_RETURN_NAME;
import static eu.dariolucia.ccsds.sle.utl.si.SleOperationNames.NOTIFY_NAME;
import static eu.dariolucia.ccsds.sle.utl.si.SleOperationNames.STATUS_REPORT_NAME;
import static eu.dariolucia.ccsds.sle.utl.si.SleOperationNames.THROW_EVENT_RETURN_NAME;
import static eu.dariolucia.ccsds.sle.utl.si.SleOperationNames.TRANSFER_DATA_NAME;
import static eu.dariolucia.ccsds.sle.utl.si.SleOperationNames.TRANSFER_DATA_RETURN_NAME;

import eu.dariolucia.ccsds.sle.generated.ccsds.sle.transfer.service.cltu.outgoing.pdus.CltuTransferDataReturn;
import eu.dariolucia.ccsds.sle.generated.ccsds.sle.transfer.service.raf.outgoing.pdus.RafTransferDataInvocation;
import eu.dariolucia.ccsds.sle.utl.si.PeerAbortReasonEnum;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.UnbindReasonEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuParameterEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafParameterEnum;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafRequestedFrameQualityEnum;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafServiceInstance;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One session as user: BIND, START, transfer, what else was asked for, STOP, UNBIND. */
final class User {
    private final Settings settings;
    private final Watch watch = new Watch(this::received);
    private final Semaphore window;
    private final AtomicLong units = new AtomicLong(); // returns, or frames
    private final AtomicLong octets = new AtomicLong();
    private final long warm;
    private final long all;
    private final long round;
    private volatile long startNs;
    private volatile long startCpuNs;
    private long roundNs; // of the library's thread, and before it starts
    private long roundCpuNs;
    private volatile long endNs;
    private volatile long endCpuNs;

    User(Settings settings) {
        this.settings = settings;
        window = new Semaphore(settings.number("window"));
        warm = settings.number("warm");
        all = warm + settings.number("count");
        round = settings.number("round");
    }

    void run() throws InterruptedException {
        int seconds = settings.number("wait");
        ServiceInstance instance = settings.isRaf
                ? new RafServiceInstance(settings.peers(), settings.raf())
                : new CltuServiceInstance(settings.peers(), settings.fcltu());
        instance.configure();
        instance.register(watch);
        try {
            instance.bind(settings.number("version"));
            watch.await(READY, seconds);
            Say.event("bound");
            if (warm == 0) {
                begin();
            }
            if (instance instanceof CltuServiceInstance fcltu) {
                fcltu.start(settings.number("first"));
                watch.await(ACTIVE, seconds);
                send(fcltu, seconds);
            } else if (instance instanceof RafServiceInstance raf) {
                raf.start(null, null, RafRequestedFrameQualityEnum.ALL_FRAMES);
                watch.await(ACTIVE, seconds);
                receive(raf, seconds);
            }
            result();
            if (settings.isSet("abort")) {
                instance.peerAbort(PeerAbortReasonEnum.OPERATIONAL_REQUIREMENTS);
            } else {
                stop(instance);
                watch.await(READY, seconds);
                Say.event("stopped");
                instance.unbind(UnbindReasonEnum.END);
            }
            watch.await(UNBOUND, seconds);
            Say.event("unbound");
        } finally {
            instance.dispose();
        }
    }

    private void send(CltuServiceInstance fcltu, int seconds) throws InterruptedException {
        byte[] cltu = new byte[settings.number("length")];
        for (int i = 0; i < cltu.length; i++) {
            cltu[i] = (byte) i;
        }
        boolean isReported = settings.isSet("radiated");
        long id = settings.number("first");
        for (long sent = 0; sent < all; sent++, id++) {
            while (!window.tryAcquire(1, TimeUnit.SECONDS)) {
                watch.require();
                if (--seconds < 0) {
                    throw new IllegalStateException("no return after " + units.get());
                }
            }
            fcltu.transferData(id, null, null, 0, isReported, cltu);
        }
        watch.awaitPdu(TRANSFER_DATA_RETURN_NAME, all, seconds);
        if (isReported) {
            watch.awaitPdu(NOTIFY_NAME, all, seconds);
        }
        if (settings.isSet("event")) {
            fcltu.throwEvent(0, 1, new byte[] {1, 2, 3});
            watch.awaitPdu(THROW_EVENT_RETURN_NAME, 1, seconds);
        }
        if (settings.isSet("parameter")) {
            fcltu.getParameter(CltuParameterEnum.MAXIMUM_SLDU_LENGTH);
            watch.awaitPdu(GET_PARAMETER_RETURN_NAME, 1, seconds);
        }
        if (settings.isSet("report")) {
            fcltu.scheduleStatusReport(false, null);
            watch.awaitPdu(STATUS_REPORT_NAME, 1, seconds);
        }
    }

    private void receive(RafServiceInstance raf, int seconds) throws InterruptedException {
        watch.awaitPdu(TRANSFER_DATA_NAME, all, seconds);
        if (settings.isSet("parameter")) {
            raf.getParameter(RafParameterEnum.BUFFER_SIZE);
            watch.awaitPdu(GET_PARAMETER_RETURN_NAME, 1, seconds);
        }
        if (settings.isSet("report")) {
            raf.scheduleStatusReport(false, null);
            watch.awaitPdu(STATUS_REPORT_NAME, 1, seconds);
        }
    }

    private static void stop(ServiceInstance instance) {
        if (instance instanceof CltuServiceInstance fcltu) {
            fcltu.stop();
        } else if (instance instanceof RafServiceInstance raf) {
            raf.stop();
        }
    }

    /** In the library's thread. */
    private void received(String name, Object pdu) {
        if (name.equals(TRANSFER_DATA_RETURN_NAME) && pdu instanceof CltuTransferDataReturn back) {
            if (back.getResult().getPositiveResult() == null) {
                Say.event("refused", "cltu", back.getCltuIdentification().longValue());
            }
            counted(settings.number("length"));
            window.release();
        } else if (pdu instanceof RafTransferDataInvocation frame) {
            counted(frame.getData().value.length);
        }
    }

    private void counted(int length) {
        long now = units.incrementAndGet();
        if (now > warm && now <= all) {
            octets.addAndGet(length);
        }
        if (now == warm) {
            begin();
        } else if (now == all) {
            endNs = System.nanoTime();
            endCpuNs = Say.cpuNs();
        }
        if (round > 0 && now > warm && now <= all && (now - warm) % round == 0) {
            long ns = System.nanoTime();
            long cpuNs = Say.cpuNs();
            Say.event("round", "units", round, "octets", round * length, "elapsed_ns",
                    ns - roundNs, "cpu_ns", cpuNs - roundCpuNs);
            roundNs = ns;
            roundCpuNs = cpuNs;
        }
    }

    private void begin() {
        startNs = System.nanoTime();
        startCpuNs = Say.cpuNs();
        roundNs = startNs;
        roundCpuNs = startCpuNs;
        Say.event("begin");
    }

    private void result() {
        StringBuilder counts = new StringBuilder("{");
        watch.counts().forEach((name, count) -> counts.append(counts.length() > 1 ? "," : "")
                .append('"').append(name).append("\":").append(count));
        Say.event("done", "count", all - warm, "octets", octets.get(), "elapsed_ns",
                endNs - startNs, "cpu_ns", endCpuNs - startCpuNs, "pdus", counts.append('}'));
    }
}
