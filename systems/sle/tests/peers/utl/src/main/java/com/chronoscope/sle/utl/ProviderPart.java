package com.chronoscope.sle.utl;

import eu.dariolucia.ccsds.sle.utl.si.LockStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.ProductionStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.ReturnServiceInstanceProvider;
import eu.dariolucia.ccsds.sle.utl.si.ServiceInstance;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuProductionStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuServiceInstanceProvider;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuStartResult;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuThrowEventResult;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuTransferDataResult;
import eu.dariolucia.ccsds.sle.utl.si.cltu.CltuUplinkStatusEnum;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafServiceInstanceProvider;
import eu.dariolucia.ccsds.sle.utl.si.raf.RafStartResult;
import eu.dariolucia.ccsds.sle.utl.si.rcf.RcfServiceInstanceProvider;
import eu.dariolucia.ccsds.sle.utl.si.rcf.RcfStartResult;
import eu.dariolucia.ccsds.sle.utl.si.rocf.RocfServiceInstanceProvider;
import eu.dariolucia.ccsds.sle.utl.si.rocf.RocfStartResult;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Instant;
import java.util.Date;
import java.util.HexFormat;

/** The library as provider, for one association: what it does is ordered, nothing by itself. */
final class ProviderPart implements Session.Part {
    private static final int BUFFER = 1_000_000; // octets said to be free

    private final Settings settings;
    private final Session session;
    private final ServiceInstance instance;

    ProviderPart(Settings settings, Session session) throws IOException, InterruptedException {
        this.settings = settings;
        this.session = session;
        if (settings.text("file").isEmpty()) {
            try (ServerSocket free = new ServerSocket(0)) {
                // The library does not say which port it got.
                settings.set("port", Integer.toString(free.getLocalPort()));
            }
        } else {
            String address = settings.peers().getPortMappings().get(0).getAddress();
            settings.set("port", address.substring(address.lastIndexOf(':') + 1));
        }
        instance = switch (settings.service) {
            case "fcltu" -> fcltu();
            case "raf" -> raf();
            case "rcf" -> rcf();
            default -> rocf();
        };
        instance.register(session);
        instance.waitForBind(true, null);
        Provider.awaitListening(settings.number("port"));
        session.say("listening", "port", settings.number("port"));
    }

    @Override
    public ServiceInstance instance() {
        return instance;
    }

    private ServiceInstance fcltu() {
        CltuServiceInstanceProvider fcltu =
                new CltuServiceInstanceProvider(settings.peers(), settings.fcltu());
        fcltu.configure();
        fcltu.setStartOperationHandler(start -> CltuStartResult.noError());
        fcltu.setTransferDataOperationHandler(cltu -> {
            session.say("cltu", "id", cltu.getCltuIdentification().longValue(), "notify",
                    cltu.getSlduRadiationNotification().intValue() == 0, "octets",
                    HexFormat.of().formatHex(cltu.getCltuData().value));
            return CltuTransferDataResult.noError(BUFFER);
        });
        fcltu.setThrowEventOperationHandler(event -> {
            session.say("event", "id", event.getEventIdentifier().longValue(), "qualifier",
                    HexFormat.of().formatHex(event.getEventQualifier().value));
            return CltuThrowEventResult.noError();
        });
        fcltu.updateProductionStatus(CltuProductionStatusEnum.OPERATIONAL,
                CltuUplinkStatusEnum.NOMINAL, BUFFER);
        return fcltu;
    }

    private ServiceInstance raf() {
        RafServiceInstanceProvider raf =
                new RafServiceInstanceProvider(settings.peers(), settings.raf());
        raf.configure();
        raf.setStartOperationHandler(start -> RafStartResult.noError());
        return running(raf);
    }

    private ServiceInstance rcf() {
        RcfServiceInstanceProvider rcf =
                new RcfServiceInstanceProvider(settings.peers(), settings.rcf());
        rcf.configure();
        rcf.setStartOperationHandler(start -> {
            session.say("start", "text", start.toString());
            return RcfStartResult.noError();
        });
        return running(rcf);
    }

    private ServiceInstance rocf() {
        RocfServiceInstanceProvider rocf =
                new RocfServiceInstanceProvider(settings.peers(), settings.rocf());
        rocf.configure();
        rocf.setStartOperationHandler(start -> {
            session.say("start", "text", start.toString());
            return RocfStartResult.noError();
        });
        return running(rocf);
    }

    private static ServiceInstance running(ReturnServiceInstanceProvider<?, ?, ?> instance) {
        update(instance, LockStatusEnum.IN_LOCK, ProductionStatusEnum.RUNNING);
        return instance;
    }

    private static void update(ReturnServiceInstanceProvider<?, ?, ?> instance,
            LockStatusEnum frameSync, ProductionStatusEnum production) {
        instance.updateProductionStatus(Instant.now(), LockStatusEnum.IN_LOCK,
                LockStatusEnum.NOT_IN_USE, LockStatusEnum.IN_LOCK, frameSync, production);
    }

    @Override
    public void order(String[] words) {
        boolean isDone = instance instanceof CltuServiceInstanceProvider fcltu
                ? forward(fcltu, words)
                : returned((ReturnServiceInstanceProvider<?, ?, ?>) instance, words);
        if (!isDone) {
            throw new IllegalStateException("the library declined");
        }
    }

    private static boolean forward(CltuServiceInstanceProvider fcltu, String[] words) {
        switch (words[0]) {
            case "progress" -> {
                Date now = new Date();
                fcltu.cltuProgress(Long.parseLong(words[1]), CltuStatusEnum.valueOf(words[2]), now,
                        now, BUFFER);
            }
            case "production" -> fcltu.updateProductionStatus(
                    CltuProductionStatusEnum.valueOf(words[1]), CltuUplinkStatusEnum.NOMINAL,
                    BUFFER);
            case "empty" -> fcltu.bufferEmpty(BUFFER);
            case "event" -> fcltu.eventProgress(Long.parseLong(words[1]),
                    words[2].equals("condition-false"), words[2].equals("completed"));
            default -> throw new IllegalArgumentException("no order of a provider of FCLTU");
        }
        return true;
    }

    private static boolean returned(ReturnServiceInstanceProvider<?, ?, ?> instance,
            String[] words) {
        switch (words[0]) {
            case "frame":
                return instance.transferData(HexFormat.of().parseHex(words[1]),
                        ReturnServiceInstanceProvider.FRAME_QUALITY_GOOD, 0, Instant.now(), false,
                        "414E54", false, new byte[0]);
            case "production":
                update(instance, LockStatusEnum.IN_LOCK, ProductionStatusEnum.valueOf(words[1]));
                return true;
            case "lose-sync":
                update(instance, LockStatusEnum.OUT_OF_LOCK, ProductionStatusEnum.RUNNING);
                return true;
            case "end":
                return instance.endOfData();
            case "discarded":
                return instance.dataDiscarded();
            default:
                throw new IllegalArgumentException("no order of a provider of frames");
        }
    }
}
