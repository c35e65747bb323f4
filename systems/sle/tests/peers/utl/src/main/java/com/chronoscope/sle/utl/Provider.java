package com.chronoscope.sle.utl;

import eu.dariolucia.ccsds.sle.utl.si.LockStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.ProductionStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstanceBindingStateEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuProductionStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuServiceInstanceProvider;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuStartResult;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuThrowEventResult;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuTransferDataResult;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuUplinkStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafServiceInstanceProvider;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafStartResult;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** One service instance as provider, for one session: CLTUs are discarded, frames generated. */
final class Provider {
    private static final int BUFFER = 10_000_000; // octets said to be free

    private final Settings settings;
    private final Watch watch = new Watch((name, pdu) -> {});
    private long startCpuNs;

    Provider(Settings settings) {
        this.settings = settings;
    }

    void run() throws IOException, InterruptedException {
        if (settings.number("port") == 0) {
            // The library does not say which port it got.
            try (ServerSocket free = new ServerSocket(0)) {
                settings.set("port", Integer.toString(free.getLocalPort()));
            }
        }
        ServiceInstance instance = settings.isRaf ? raf() : fcltu();
        instance.register(watch);
        instance.waitForBind(true, null);
        awaitListening(settings.number("port"));
        Say.event("listening", "port", settings.number("port"));
        watch.await(ServiceInstanceBindingStateEnum.READY, settings.number("wait"));
        startCpuNs = Say.cpuNs();
        try {
            if (instance instanceof RafServiceInstanceProvider raf) {
                generate(raf);
            }
            watch.await(ServiceInstanceBindingStateEnum.UNBOUND, Integer.MAX_VALUE);
        } finally {
            Say.event("ended", "cpu_ns", Say.cpuNs() - startCpuNs);
            instance.dispose();
        }
    }

    private ServiceInstance fcltu() {
        CltuServiceInstanceProvider fcltu =
                new CltuServiceInstanceProvider(settings.peers(), settings.fcltu());
        fcltu.configure();
        fcltu.setStartOperationHandler(start -> CltuStartResult.noError());
        boolean isReported = settings.isSet("radiated");
        // Its queue is bounded and its own thread may not wait for room in it.
        ExecutorService radiation = Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "radiation");
            thread.setDaemon(true);
            return thread;
        });
        fcltu.setTransferDataOperationHandler(cltu -> {
            if (isReported) {
                Date now = new Date();
                long id = cltu.getCltuIdentification().longValue();
                radiation.execute(() -> fcltu.cltuProgress(
                        id, CltuStatusEnum.RADIATED, now, now, BUFFER));
            }
            return CltuTransferDataResult.noError(BUFFER);
        });
        fcltu.setThrowEventOperationHandler(event -> CltuThrowEventResult.noError());
        fcltu.updateProductionStatus(CltuProductionStatusEnum.OPERATIONAL,
                CltuUplinkStatusEnum.NOMINAL, BUFFER);
        return fcltu;
    }

    private ServiceInstance raf() {
        RafServiceInstanceProvider raf =
                new RafServiceInstanceProvider(settings.peers(), settings.raf());
        raf.configure();
        raf.setStartOperationHandler(start -> RafStartResult.noError());
        raf.updateProductionStatus(Instant.now(), LockStatusEnum.IN_LOCK, LockStatusEnum.IN_LOCK,
                LockStatusEnum.IN_LOCK, LockStatusEnum.IN_LOCK, ProductionStatusEnum.RUNNING);
        return raf;
    }

    /** Frames as fast as they are taken, from START until STOP. */
    private void generate(RafServiceInstanceProvider raf) throws InterruptedException {
        byte[] frame = new byte[settings.number("length")];
        long number = 0;
        while (watch.state() != ServiceInstanceBindingStateEnum.UNBOUND) {
            frame[frame.length - 1] = (byte) number;
            if (raf.transferData(frame, RafServiceInstanceProvider.FRAME_QUALITY_GOOD, 0,
                    Instant.now(), false, "414E54", false, new byte[0])) {
                number++;
            } else {
                Thread.sleep(1); // not started, or no longer
            }
        }
    }

    /** Until the kernel's table has the port: a connection to see would be taken for a user's. */
    static void awaitListening(int port) throws IOException, InterruptedException {
        String wanted = String.format(":%04X ", port);
        for (int tries = 0; tries < 60_000; tries++) {
            for (String table : new String[] {"/proc/net/tcp6", "/proc/net/tcp"}) {
                Path path = Path.of(table);
                if (Files.exists(path) && Files.readAllLines(path).stream().anyMatch(
                        line -> line.contains(wanted) && line.contains(" 0A "))) {
                    return;
                }
            }
            Thread.sleep(1);
        }
        throw new IOException("nobody listens at port " + port);
    }
}
